import Foundation
import KCTestSupport
import Testing

/// A home folder with a gnome-keyring-daemon, which runs for as long as a session.
struct LivingKeyring {
    private let folder: TemporaryFolder
    let keyrings: String

    init() throws {
        folder = try TemporaryFolder()
        keyrings = folder.path("home/.local/share/keyrings")
        try FileManager.default.createDirectory(atPath: keyrings, withIntermediateDirectories: true)
    }

    /// Creates an empty keyring without a password, and makes it the default.
    func makePlainDefault(_ name: String) throws {
        let text = "[keyring]\ndisplay-name=\(name)\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
        try folder.write("home/.local/share/keyrings/\(name).keyring", Array(text.utf8))
        try folder.write("home/.local/share/keyrings/default", Array(name.utf8))
    }

    func file(_ name: String) throws -> [UInt8] { try folder.read("home/.local/share/keyrings/\(name)") }

    /// Runs commands on a private bus, with a daemon that is unlocked with `password`, and returns their output.
    ///
    /// The daemon ends when its bus does.
    func session(_ password: String, _ commands: [String]) throws -> ExternalProgram.Outcome {
        let runtime = try TemporaryFolder()
        let start = "printf %s '\(password)' | gnome-keyring-daemon --unlock --components=secrets >/dev/null"
        let script = try runtime.write("script", Array(([start] + commands).joined(separator: "\n").utf8))
        let path = try #require(ProcessInfo.processInfo.environment["PATH"])
        return try ExternalProgram.run(
            "dbus-run-session", ["--", "sh", script],
            environment: [
                "PATH": path, "HOME": folder.path("home"), "XDG_RUNTIME_DIR": runtime.path, "LC_ALL": "C.UTF-8",
            ],
            seconds: 120)
    }

    /// The command that waits until the default keyring is open.
    ///
    /// Until then, programs store in the collection that ends with the session.
    static let opening = """
        until gdbus call --session -d org.freedesktop.secrets -o /org/freedesktop/secrets \\
          -m org.freedesktop.Secret.Service.ReadAlias default | grep -q /collection/; do :; done
        """

    /// The command that stores an item.
    static func store(_ item: WrittenItem) -> String {
        let bytes = item.secret.map { "\\" + String($0, radix: 8).leftPadded(to: 3) }.joined()
        let words = item.attributes.flatMap { [quoted($0.name), quoted($0.value)] }.joined(separator: " ")
        return "printf '\(bytes)' | secret-tool store --label=\(quoted(item.label)) \(words) || exit 9"
    }

    /// The command that prints a secret in hexadecimal digits, with a line feed after it.
    static func lookUp(_ item: WrittenItem) -> String {
        let words = item.attributes.flatMap { [quoted($0.name), quoted($0.value)] }.joined(separator: " ")
        return "secret-tool lookup \(words) | od -An -v -tx1 | tr -d ' \\n'; echo"
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - self.count)) + self
    }
}
