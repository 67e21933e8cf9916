internal import KCByteStreams

/// Where a secret comes from; never the command line itself or the environment.
package enum SecretSource: Hashable, Sendable {
    /// The terminal, without echo.
    case terminal
    /// The first line of a file that only its owner can read.
    case file(String)
    /// The first line of an inherited descriptor.
    case descriptor(Int32)
    /// The first line of a shell command's output.
    case command(String)
    /// A systemd credential (systemd.exec(5), `LoadCredential=`).
    case credential(String)

    /// The syntax of SOURCE, for help and messages.
    package static let forms = "tty, file:PATH, fd:N, cmd:COMMAND or cred:NAME"

    /// Parses `tty` or a prefix with its value; nil for anything else, which may be the secret itself.
    package init?(_ text: String) {
        if text.exact == "tty" {
            self = .terminal
            return
        }
        let parts = text.exact.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, case let value = parts[1], !value.isEmpty else { return nil }
        switch parts[0] {
        case "file": self = .file(value)
        case "fd":
            guard let number = Int32(value), number >= 0 else { return nil }
            self = .descriptor(number)
        case "cmd": self = .command(value)
        case "cred":
            guard Self.isCredentialName(value) else { return nil }
            self = .credential(value)
        default: return nil
        }
    }

    /// The text that `init` parses.
    package var text: String {
        switch self {
        case .terminal: "tty"
        case .file(let path): "file:" + path
        case .descriptor(let number): "fd:\(number)"
        case .command(let command): "cmd:" + command
        case .credential(let name): "cred:" + name
        }
    }

    /// systemd's own rule, a file name in ASCII, without what has a meaning in the line of a unit that loads it.
    private static func isCredentialName(_ name: String) -> Bool {
        name != "." && name != ".." && name.exact.isASCIILettersAndDigits(or: "._-+@=,#~")
    }
}
