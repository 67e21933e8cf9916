import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Each shell runs in a terminal of its own; a line is typed, Tab is pressed, and the resulting line is shown.
@Suite("Shell completion", .waitsForPrograms)
struct CompletionTests {
    enum Shell: String, CaseIterable {
        case bash, zsh, fish

        var command: [String] {
            switch self {
            case .bash: ["bash", "--norc", "-i"]
            case .zsh: ["zsh", "-f", "-i"]
            case .fish: ["fish", "--no-config", "-i"]
            }
        }

        /// The command that makes the shell load the scripts.
        func setup() throws -> String {
            let folder = try CompletionTests.scripts.get()
            return switch self {
            case .bash:
                ". \(folder)/bash-completion/completions/kcbackup; . \(folder)/bash-completion/completions/security"
            case .zsh: "fpath=(\(folder)/zsh/site-functions $fpath); autoload -Uz compinit; compinit -D"
            case .fish: "for name in kcbackup security; source \(folder)/fish/vendor_completions.d/$name.fish; end"
            }
        }

        static let areAvailable =
            TmuxTerminal.isAvailable && allCases.allSatisfy { ExternalProgram.locate($0.rawValue) != nil }
    }

    private static let lines = [
        ("kcbackup res", "kcbackup restore"),
        ("kcbackup item fi", "kcbackup item find"),
        ("kcbackup create --unen", "kcbackup create --unencrypted"),
        ("kcbackup create --keychain wo", "kcbackup create --keychain work"),
        ("kcbackup keychain unlock wo", "kcbackup keychain unlock work"),
        ("kcbackup run ni", "kcbackup run nightly"),
        ("kcbackup schedule show ni", "kcbackup schedule show nightly"),
        ("kcbackup schedule install ni", "kcbackup schedule install nightly"),
        ("kcbackup schedule remove ni", "kcbackup schedule remove nightly"),
        ("kcbackup create --passphrase fi", "kcbackup create --passphrase file:"),
        ("kcbackup create --passphrase tt", "kcbackup create --passphrase tty"),
        ("kcbackup create --passphrase file:pa", "kcbackup create --passphrase file:pass.txt"),
        ("kcbackup create --passphrase file:my", "kcbackup create --passphrase file:my folder"),
        ("kcbackup create --keychain file:pa", "kcbackup create --keychain file:pass.txt"),
        ("kcbackup item find --keychain fi", "kcbackup item find --keychain file:"),
        ("kcbackup import a.kdbx --password file:pa", "kcbackup import a.kdbx --password file:pass.txt"),
        (
            "kcbackup item find a --identity-passphrase file:pa",
            "kcbackup item find a --identity-passphrase file:pass.txt"
        ),
        ("kcbackup create --keychain ./pa", "kcbackup create --keychain ./pass.txt"),
        ("kcbackup create --keychain ho", "kcbackup create --keychain home:"),
        ("kcbackup create --keychain sy", "kcbackup create --keychain systemd-creds:"),
        ("kcbackup item list --keychain se", "kcbackup item list --keychain secret-service:"),
        ("kcbackup undo --keychain ho", "kcbackup undo --keychain home:"),
        ("kcbackup restore laptop.kcb --keychain ho", "kcbackup restore laptop.kcb --keychain home:"),
        ("kcbackup diff laptop.kcb --keychain ho", "kcbackup diff laptop.kcb --keychain home:"),
        ("kcbackup import pass.txt --into se", "kcbackup import pass.txt --into secret-service:"),
        ("kcbackup keychain default se", "kcbackup keychain default secret-service:"),
        ("kcbackup inspect lap", "kcbackup inspect laptop.kcb"),
        (
            "kcbackup inspect laptop.kcb --for-device KC-AB",
            "kcbackup inspect laptop.kcb --for-device KC-ABCD-EFGH-IJKL-MNOP-QRST"
        ),
        ("kcbackup device untrust KC", "kcbackup device untrust KC-ABCD-EFGH-IJKL-MNOP-QRST"),
        ("security find-g", "security find-generic-password"),
        ("security unlock-keychain wo", "security unlock-keychain work"),
        ("security import pa", "security import pass.txt"),
        ("security import pass.txt -k wo", "security import pass.txt -k work"),
        ("security list-keychains -d us", "security list-keychains -d user"),
        ("security help find-id", "security help find-identity"),
    ]

    @Test(
        "Names of keychains, other stores and jobs, device IDs, and files after 'file:' are completed",
        .enabled(if: Shell.areAvailable, "tmux, bash, zsh and fish are needed: .ci/install-packages test"),
        arguments: Shell.allCases)
    func completes(shell: Shell) throws {
        let folder = try TemporaryFolder()
        let environment = try prepare(folder)
        let terminal = try TmuxTerminal(
            columns: 120, rows: 50, shell.command, environment: environment, in: folder.path)
        try terminal.type(.text(shell.setup() + "; clear; echo rea\"\"dy"), .key("Enter"))
        try terminal.wait(for: { $0 == "ready" })
        // All of them in one shell: the others get the same answers from the program.
        let step = shell == .bash ? 1 : 4
        for (number, (begun, whole)) in Self.lines.enumerated() where number.isMultiple(of: step) {
            try terminal.type(
                .text(begun), .key("Tab"), .key("C-a"), .text("clear; echo \"\(number)["), .key("C-e"), .text("]\""),
                .key("Enter"))
            let screen = try terminal.wait(for: { $0.hasPrefix("\(number)[") && $0.hasSuffix("]") })
            // The shell adds the end of a word or folder, and a backslash before a blank.
            let line = try #require(screen.components(separatedBy: "\n").first { $0.hasPrefix("\(number)[") })
            let found = line.dropFirst("\(number)[".count).dropLast().replacing("\\", with: "")
            #expect(found.trimmingCharacters(in: [" ", "/"]) == whole)
        }
    }

    @Test(
        "Names with shell syntax are neither completed nor executed by any shell",
        .enabled(if: Shell.areAvailable, "tmux, bash, zsh and fish are needed: .ci/install-packages test"),
        arguments: Shell.allCases)
    func hostileNames(shell: Shell) throws {
        let folder = try TemporaryFolder()
        let environment = try prepare(folder)
        for name in ["zz$(touch hacked)", "zz`touch hacked`", "zz;touch hacked"] {
            try folder.write("data/kcbackup/keychains/\(name).keychain", [])
        }
        let terminal = try TmuxTerminal(
            columns: 120, rows: 50, shell.command, environment: environment, in: folder.path)
        try terminal.type(.text(shell.setup() + "; clear; echo rea\"\"dy"), .key("Enter"))
        try terminal.wait(for: { $0 == "ready" })
        for (number, line) in ["kcbackup create --keychain z", "security unlock-keychain z"].enumerated() {
            try terminal.type(
                .text(line), .key("Tab"), .key("Tab"), .key("C-c"), .text("clear; echo \"\(number)\"\"end\""),
                .key("Enter"))
            try terminal.wait(for: { $0 == "\(number)end" })
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("hacked")))
    }

    /// The folder of the scripts, which `make` writes there as for `make install`, once.
    private static let scripts = Result { () throws -> String in
        let folder = try TemporaryFolder.untilExit()
        let script = """
            set -eu
            mkdir -p stage/bin
            cp "$program" stage/bin/kcbackup
            touch -d 2100-01-01 stage/bin/kcbackup
            make --silent -C "$project" STAGE="$PWD/stage" \\
                $(make --silent -C "$project" list STAGE="$PWD/stage" \\
                    --eval='list:; @printf "%s\\n" $(addprefix $(STAGE)/,$(COMPLETIONS))')
            """
        let environment = [
            "PATH": "/usr/bin:/bin", "program": try ExternalProgram.built("kcbackup"), "project": Project.folder.path,
        ]
        let outcome = try ExternalProgram.run("bash", ["-c", script], environment: environment, in: folder.path)
        try #require(outcome.status == 0, "\(outcome.errorText)")
        return folder.path("stage/share")
    }

    /// Makes a home with two keychains, a job and a trusted device.
    private func prepare(_ folder: TemporaryFolder) throws -> [String: String] {
        let program = try ExternalProgram.built("kcbackup")
        let environment = [
            "HOME": folder.path, "XDG_DATA_HOME": folder.path("data"), "TERM": "screen", "PS1": "> ",
            "LC_ALL": "C.UTF-8",
            "PATH": URL(filePath: program).deletingLastPathComponent().path + ":/usr/bin:/bin",
        ]
        let script = """
            set -eu
            umask 077
            mkdir -p data "my folder"
            touch pass.txt laptop.kcb "my folder/pass"
            for name in login work; do kcbackup keychain create $name --no-passcode 2>/dev/null; done
            kcbackup schedule add nightly --unencrypted --to backups --quiet
            kcbackup device trust KC-ABCD-EFGH-IJKL-MNOP-QRST
            """
        let outcome = try ExternalProgram.run("bash", ["-c", script], environment: environment, in: folder.path)
        try #require(outcome.status == 0, "\(outcome.errorText)")
        return environment
    }
}
