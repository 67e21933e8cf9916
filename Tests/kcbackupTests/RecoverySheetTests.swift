import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The files with the sheet of a recovery kit", .waitsForPrograms)
struct RecoverySheetTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
    }

    @Test(
        "A page, a PDF and a text are private, replace nothing, and are told apart by their names",
        arguments: [("kit.html", "<!DOCTYPE html>"), ("kit.pdf", "%PDF-1.4"), ("kit.txt", "RECOVERY KIT")])
    func forms(name: String, beginning: String) throws {
        try home.write("taken-\(name)", "mine")
        #expect(home.run("recovery make -o taken-\(name)").status == .exists)
        #expect(String(decoding: try home.folder.read("work/taken-\(name)"), as: UTF8.self) == "mine")
        #expect(home.run("recovery list").text == "")
        let outcome = home.run("recovery make -o \(name)")
        #expect(outcome.status == .ok && !outcome.messages.contains("warning"), "\(outcome.messages)")
        #expect(String(decoding: try home.folder.read("work/\(name)"), as: UTF8.self).hasPrefix(beginning))
        let attributes = try FileManager.default.attributesOfItem(atPath: home.path(name))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("No sheet is written to a file that has the name of another kind of document, and no kit is made")
    func otherKind() throws {
        let refused = home.run("recovery make -o kit.docx")
        #expect(refused.status == .usage && refused.messages.contains("a PDF ('.pdf')"), "\(refused.messages)")
        #expect(try !home.folder.list().contains { $0.hasSuffix("kit.docx") })
        #expect(home.run("recovery list").text.isEmpty)
    }

    @Test("A folder is refused as the file of a sheet", arguments: ["./", "/", "nowhere/"])
    func folder(path: String) {
        let outcome = home.run("recovery make -o \(path)")
        #expect(outcome.status == .usage)
        #expect(outcome.messages.hasPrefix("kcbackup: error: the value of '--output' is not the path of a new file\n"))
        #expect(home.run("recovery list").text == "")
    }

    @Test("A sheet may be made in a folder that all users share, such as /dev/shm")
    func sharedFolder() throws {
        try FileManager.default.createDirectory(
            atPath: home.path("shared"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o1777])
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: home.path("shared"))
        let outcome = home.run("recovery make -o shared/kit.pdf")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        let attributes = try FileManager.default.attributesOfItem(atPath: home.path("shared/kit.pdf"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(home.run("recovery make -o shared/kit.pdf").status == .exists)
    }

    @Test("A scanner reads the PDF, and what it reads is the kit")
    func scanned() throws {
        #expect(home.run("recovery make -o kit.pdf").status == .ok)
        let script = """
            pdftoppm -r 150 -png kit.pdf page &&
                zbarimg --quiet --raw -Sdisable -Sqrcode.enable page*.png > key
            """
        let outcome = try ExternalProgram.run("/bin/sh", ["-c", script], in: home.workingFolder)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: home.path("key"))
        #expect(home.run("recovery check -i key").status == .ok)
    }

    @Test("The sheet says where the jobs put their backups, each place once")
    func places() throws {
        #expect(home.run("keygen -o key").status == .ok)
        let recipient = String(try #require(home.run("keygen").text.firstMatch(of: /age1\w+/)).0)
        for job in ["nightly", "weekly"] {
            #expect(home.run("schedule add \(job) -r \(recipient) --to backups").status == .ok)
        }
        #expect(home.run("recovery make -o kit.txt").status == .ok)
        let sheet = String(decoding: try home.folder.read("work/kit.txt"), as: UTF8.self)
        #expect(sheet.components(separatedBy: "/backups").count == 2, "\(sheet)")
    }

    @Test("On a terminal, the code has its own colors; in a pipe it has none")
    func colors() throws {
        let piped = home.run("recovery make --qr")
        #expect(piped.text.contains("█▀▀▀▀▀█") && !piped.text.contains("\u{1b}"))
        let terminal = ScriptedTerminal(showsOutput: true)
        let shown = home.run(["recovery", "make", "--qr"], terminal: terminal)
        #expect(shown.text.contains("\u{1b}[38;5;16;48;5;231m") && shown.text.contains("█▀▀▀▀▀█\u{20}\u{20}"))
        #expect(!home.run("recovery make").text.contains("█"))
    }

    @Test("Without libqrencode a page has no code, with a warning; with '--qr' nothing is made")
    func withoutLibrary() throws {
        let shell = try ProgramShell()
        let outcome = try shell(
            """
            mkdir empty && : > empty/libqrencode.so.4
            export LD_LIBRARY_PATH=$PWD/empty
            "$KCBACKUP" keychain create --no-passcode
            "$KCBACKUP" recovery make -o kit.html 2>&1 | grep warning
            grep -c '<svg' kit.html
            "$KCBACKUP" recovery make --qr -o other.html 2>&1
            echo $?
            ls other.html 2>/dev/null
            "$KCBACKUP" recovery list | wc -l
            """)
        #expect(
            outcome.text == """
                kcbackup: warning: the sheet has no QR code: libqrencode, which makes QR codes, cannot be loaded: \
                'libqrencode.so.4' is missing
                0
                kcbackup: error: libqrencode, which makes QR codes, cannot be loaded: 'libqrencode.so.4' is missing
                kcbackup: hint: 'apt install libqrencode4' installs it; without '--qr', the sheet has no code
                14
                2

                """, "\(outcome.errorText)")
    }

    @Test("In all system calls, the key is in the file of the sheet alone", .traced, arguments: ["html", "pdf", "txt"])
    func inNoOtherCall(ending: String) throws {
        let shell = try ProgramShell()
        let outcome = try shell(
            """
            umask 077
            "$KCBACKUP" keychain create --no-passcode && mkdir sheets
            $STRACE -f -v -y -s 1000000 -o trace "$KCBACKUP" recovery make -o sheets/kit.\(ending) 2>/dev/null || exit
            # The groups of the first line, as they are printed.
            line=$(grep -aoE '1   [A-Z0-9]{4}( [A-Z0-9]{4}){3}' sheets/kit.\(ending) | head -1)
            groups=${line#1   }
            test ${#groups} = 19 || exit
            # With and without blanks; both halves alone, too.
            for part in "$groups" "${groups// /}" "${groups:0:9}" "${groups:10}"; do
              grep -F "$part" trace | grep -vcE '^[0-9]+ +(write|pread64)\\([0-9]+</[^>]*/sheets/[^>]*>'
              grep -cF "$part" trace
            done | paste -sd' '
            grep -rlF "$groups" . | sort | paste -sd' '
            """)
        // Written once, and read back once.
        #expect(
            outcome.text == """
                0 2 0 0 0 2 0 2
                ./sheets/kit.\(ending) ./trace

                """, "\(outcome.text) \(outcome.errorText)")
    }
}
