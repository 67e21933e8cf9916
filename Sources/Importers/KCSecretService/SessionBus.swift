internal import Glibc
internal import KCByteStreams

/// The location of a user's session bus.
package struct SessionBus: Hashable, Sendable {
    /// The address in the syntax of D-Bus.
    package let address: String
    /// The folders for settings of desktop programs, the user's first; nil if the environment does not name them.
    let settingsFolders: [String]?

    /// The environment variable for the address.
    package static let variable = "DBUS_SESSION_BUS_ADDRESS"

    /// Finds the bus that the environment names or, if there is none, as under cron, the bus where systemd puts it.
    ///
    /// A socket must belong to this user: any other owner could receive the secrets of a restore.
    ///
    /// - Parameter runtimeFolder: the user's folder in `/run/user`, in case the environment does not name it.
    package init(environment: [String: String], runtimeFolder: String) throws(SecretServiceFailure) {
        settingsFolders = Self.settingsFolders(environment)
        if let given = environment[Self.variable], !given.isEmpty {
            for part in given.exact.split(separator: ";") {
                // Only at a socket the kernel says who listens; `autolaunch:` leads to one.
                guard part.exact.hasPrefix("unix:") || part.exact.hasPrefix("autolaunch:") else {
                    throw .busElsewhere(address: given)
                }
                guard let path = Self.path(in: part), !Self.isMissing(path) else { continue }
                try Self.requireOwn(path)
            }
            address = given
            return
        }
        var looked: [String] = []
        let folders = [environment["XDG_RUNTIME_DIR"], runtimeFolder]
        for folder in folders {
            guard let folder, folder.exact.hasPrefix("/") else { continue }
            let path = "\(folder)/bus"
            if looked.contains(path) { continue }
            looked.append(path)
            if Self.isMissing(path) { continue }
            try Self.requireOwn(path)
            address = "unix:path=\(Self.escaped(path))"
            return
        }
        throw .noBus(lookedAt: looked)
    }

    private static func settingsFolders(_ environment: [String: String]) -> [String]? {
        func given(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let own = given("XDG_CONFIG_HOME") ?? given("HOME").map({ $0 + "/.config" }) else { return nil }
        return [own] + (given("XDG_CONFIG_DIRS") ?? "/etc/xdg").exact.split(separator: ":")
    }

    /// The path in `unix:path=…`; nil for another kind of address.
    private static func path(in address: String) -> String? {
        let pairs = address.exact.removingPrefix("unix:")?.exact.split(separator: ",")
        return pairs?.lazy.compactMap { $0.exact.removingPrefix("path=") }.first.map { unescaped($0[...]) }
    }

    private static func isMissing(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    private static func requireOwn(_ path: String) throws(SecretServiceFailure) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw .busRefuses(address: path, reason: unsafe String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        guard status.st_uid == geteuid() else { throw .foreignBus(path: path, owner: status.st_uid) }
    }

    /// The folder of the effective user in `/run/user`.
    package static var runtimeFolder: String { "/run/user/\(geteuid())" }

    private static func escaped(_ path: String) -> String {
        path.utf8.map { byte in
            isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + hexadecimal(byte >> 4) + hexadecimal(byte & 15)
        }.joined()
    }

    private static func hexadecimal(_ digit: UInt8) -> String { String(digit, radix: 16) }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
            UInt8(ascii: "."), UInt8(ascii: "\\"), UInt8(ascii: "*"):
            true
        default: false
        }
    }

    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
