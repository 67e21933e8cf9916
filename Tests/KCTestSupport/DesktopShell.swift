import Foundation
package import Testing

/// Runs shell scripts with the real `kcbackup` and GNOME Keyring, with a session bus and a home folder of its own.
///
/// Scripts can use `$KCBACKUP`, `$DESKTOP` (a program that fills and reads a keyring using only libsecret) and these
/// functions: `keyring` starts the daemon, unlocked, and waits for it; `end` ends it; `lock NAME` locks a collection;
/// `bus` calls a method of the Secret Service; `keys` makes `key.txt`, `$key` and the passphrase file `pw`;
/// `slowly COMMAND` starts a program that stops after every 20 messages on the bus, and waits for the first stop, `step`
/// for the next one; `finish` lets it run to its end, and returns its status. The bus and the daemon end with the script.
package struct DesktopShell: Sendable {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    private static let functions = """
        keyring() {
          printf 'pw' | gnome-keyring-daemon --unlock --components=secrets --foreground >"$HOME/daemon.log" 2>&1 &
          daemon=$!
          gdbus wait --session --timeout 60 org.freedesktop.secrets
          # Until the keyring is open, programs store in the collection that ends with the session.
          until gdbus call --session -d org.freedesktop.secrets -o /org/freedesktop/secrets \\
            -m org.freedesktop.Secret.Service.ReadAlias default | grep -q /collection/; do kill -0 $daemon; done
        }
        slowly() {
          : >steps
          $STRACE -qq -f -o steps -e trace=sendmsg -e inject=sendmsg:signal=STOP:when=20+20 "$@" & tracer=$!
          steps=1
          stopped
        }
        stopped() {
          # Each thread stops, the one that got the signal last.
          until awk '/ --- SIGSTOP {/ { thread = $1 } /stopped by SIGSTOP/ && $1 == thread { count++ }
            END { exit count < '$steps' }' steps; do kill -0 $tracer; done
        }
        step() { pkill -CONT -P $tracer; steps=$((steps + 1)); stopped; }
        finish() { while pkill -CONT -P $tracer; do :; done; wait $tracer; }
        end() { [ -z "$daemon" ] || { kill "$1" "$daemon"; wait "$daemon" || true; } 2>/dev/null; daemon=; }
        bus() {
          local method=$1; shift
          gdbus call --session -d org.freedesktop.secrets -o "${path:-/org/freedesktop/secrets}" -m "$method" "$@"
        }
        lock() {
          bus org.freedesktop.Secret.Service.Lock "['/org/freedesktop/secrets/collection/$1']" >/dev/null
        }
        keys() {
          $KCBACKUP keygen -o key.txt >/dev/null
          key=$(grep -o 'age1[a-z0-9]*' key.txt)
          printf pw >pw; chmod 600 pw
        }
        trap 'end -TERM' EXIT
        daemon=

        """

    private let preparation: String

    /// Makes an empty home folder.
    ///
    /// - Parameters:
    ///   - desktop: the path of the program compiled from `Desktop/desktop.c`.
    ///   - preparation: commands that come before each script.
    package init(desktop: String, preparation: String = "") throws {
        self.preparation = preparation + "\n"
        folder = try TemporaryFolder(inMemory: true)
        try FileManager.default.createDirectory(
            atPath: folder.path("run"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        environment = [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path("run"), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "KCBACKUP": try ExternalProgram.built("kcbackup"), "DESKTOP": desktop, "SWIFT_BACKTRACE": "enable=no",
            "LC_ALL": "C.UTF-8", "TZ": "UTC", "STRACE": Strace.command.joined(separator: " "),
        ]
    }

    /// The path of a file in the home folder.
    package func path(_ name: String) -> String { folder.path(name) }

    /// Runs a bash script on a private bus, for at most five minutes, so that a script that hangs fails.
    package func callAsFunction(_ script: String) throws -> ExternalProgram.Outcome {
        try execute(preparation + script)
    }

    private func execute(_ commands: String) throws -> ExternalProgram.Outcome {
        try ExternalProgram.run(
            "timeout", ["300", "dbus-run-session", "--", "bash", "-c", Self.functions + commands],
            environment: environment, in: folder.path)
    }

    /// Runs a script of which every command succeeds, and returns what it prints.
    package func run(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let outcome = try execute("set -e\n" + preparation + script)
        #expect(outcome.status == 0, "\(outcome.text)\n\(outcome.errorText)", sourceLocation: sourceLocation)
        return outcome.text
    }
}
