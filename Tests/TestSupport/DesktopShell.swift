import Foundation

/// Runs shell scripts with the real `kcbackup` and GNOME Keyring, with a session bus and a home folder of its own.
///
/// Scripts can use `$KCBACKUP`, `$DESKTOP` (a program that fills and reads a keyring using only libsecret) and these
/// functions: `keyring` starts the daemon, unlocked, and waits for it; `end` ends it; `lock NAME` locks a collection;
/// `bus` calls a method of the Secret Service. The bus and the daemon end with the script.
package struct DesktopShell: Sendable {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    private static let functions = """
        keyring() {
          printf 'pw' | gnome-keyring-daemon --unlock --components=secrets --foreground >"$HOME/daemon.log" 2>&1 &
          daemon=$!
          gdbus wait --session --timeout 60 org.freedesktop.secrets
        }
        end() { [ -z "$daemon" ] || { kill "$1" "$daemon"; wait "$daemon" || true; } 2>/dev/null; daemon=; }
        bus() {
          local method=$1; shift
          gdbus call --session -d org.freedesktop.secrets -o "${path:-/org/freedesktop/secrets}" -m "$method" "$@"
        }
        lock() {
          bus org.freedesktop.Secret.Service.Lock "['/org/freedesktop/secrets/collection/$1']" >/dev/null
        }
        trap 'end -TERM' EXIT
        daemon=

        """

    /// Makes an empty home folder.
    ///
    /// - Parameter desktop: the path of the program compiled from `Desktop/desktop.c`.
    package init(desktop: String) throws {
        folder = try TemporaryFolder(inMemory: true)
        try FileManager.default.createDirectory(
            atPath: folder.path("run"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        environment = [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path("run"), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "KCBACKUP": try ExternalProgram.built("kcbackup"), "DESKTOP": desktop, "SWIFT_BACKTRACE": "enable=no",
            "LC_ALL": "C.UTF-8",
        ]
    }

    /// The path of a file in the home folder.
    package func path(_ name: String) -> String { folder.path(name) }

    /// Runs a bash script on a private bus, for at most five minutes, so that a script that hangs fails.
    package func callAsFunction(_ script: String) throws -> ExternalProgram.Outcome {
        try ExternalProgram.run(
            "timeout", ["300", "dbus-run-session", "--", "bash", "-c", Self.functions + script],
            environment: environment, in: folder.path)
    }
}
