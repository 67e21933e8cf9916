internal import KCByteStreams

/// A file or folder where copies are: `REMOTE:PATH`, which rclone reaches, `sftp:HOST:PATH`, for OpenSSH's sftp, or a folder
/// of this machine, as of a disk that is not always there.
///
/// `REMOTE` is the name of a remote in rclone's configuration. Connection strings (`:sftp,ssh=…:`), which can run a
/// command, are not names. `HOST` is one that ssh knows, as `nas`, `ada@nas` or `[::1]`.
///
/// ```swift
/// let folder = RemoteLocation("nas:backups/laptop")
/// print(folder?.appending("login.kcb").text)  // "nas:backups/laptop/login.kcb"
/// ```
package struct RemoteLocation: Hashable, Sendable {
    /// The name of the remote; "sftp" for a host, and empty for this machine.
    package let remote: String
    /// The host that sftp reaches; nil for a remote of rclone.
    package let host: String?
    /// The path on the remote, without a slash at its end; empty for all of it.
    ///
    /// A slash at its start has a meaning on some remotes: without one, the path begins at the home folder.
    package let path: String

    // In bytes, as for other paths.
    private static let limit = 4_096

    private init(remote: String, host: String?, path: String) {
        self.remote = remote
        self.host = host
        self.path = path
    }

    /// Parses what copies are written to: `REMOTE:PATH`, `sftp:HOST:PATH`, or the absolute path of a folder of this machine.
    package init?(destination text: String) {
        guard text.exact.hasPrefix("/") else {
            self.init(text)
            return
        }
        guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        let parts = text.exact.split(separator: "/")
        guard !parts.contains(where: { [".", ".."].contains($0.exact) }) else { return nil }
        self.init(remote: "", host: nil, path: "/" + parts.joined(separator: "/"))
    }

    /// True for a folder of this machine.
    package var isHere: Bool { remote.isEmpty }

    /// Parses `REMOTE:PATH` or `sftp:HOST:PATH`; nil for anything else, such as the path of a local file.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.limit, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let first = bytes.first, Self.isWord(first), bytes[..<colon].allSatisfy({ Self.isOfName($0) }),
            // A name that ends with a space could not be told from one without.
            bytes[colon - 1] != UInt8(ascii: " "),
            bytes[(colon + 1)...].allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { return nil }
        remote = String(decoding: bytes[..<colon], as: UTF8.self)
        var rest = bytes[(colon + 1)...]
        var host: String?
        if remote.exact == "sftp", let end = Self.endOfHost(rest) {
            host = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
        }
        self.host = host
        let parts = rest.split(separator: UInt8(ascii: "/"))
        // rclone would resolve such parts, and a name would have several spellings.
        guard !parts.contains(where: { $0.allSatisfy { $0 == UInt8(ascii: ".") } && $0.count <= 2 }) else { return nil }
        let start = rest.first == UInt8(ascii: "/") ? "/" : ""
        path = start + String(decoding: Array(parts.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
    }

    /// The index of the colon after a host: letters, digits, `.`, `-` and `_`, or an address in brackets, and before it
    /// perhaps a user and `@`; nil if there is none.
    private static func endOfHost(_ bytes: ArraySlice<UInt8>) -> Int? {
        let isOfWord = { (byte: UInt8) in isWord(byte) || ".-".utf8.contains(byte) }
        var rest = bytes
        // A dash would begin an option.
        guard let first = rest.first, first != UInt8(ascii: "-") else { return nil }
        if let at = rest.firstIndex(where: { !isOfWord($0) && $0 != UInt8(ascii: "+") }),
            at > rest.startIndex, rest[at] == UInt8(ascii: "@")
        {
            rest = rest[(at + 1)...]
        }
        if rest.first == UInt8(ascii: "["), let bracket = rest.firstIndex(of: UInt8(ascii: "]")) {
            let address = rest[(rest.startIndex + 1)..<bracket]
            guard !address.isEmpty, address.allSatisfy({ isOfWord($0) || ":%".utf8.contains($0) }),
                rest[(bracket + 1)...].first == UInt8(ascii: ":")
            else { return nil }
            return bracket + 1
        }
        guard let colon = rest.firstIndex(where: { !isOfWord($0) }), colon > rest.startIndex,
            rest[colon] == UInt8(ascii: ":"), rest.first != UInt8(ascii: "-")
        else { return nil }
        return colon
    }

    /// As `REMOTE:PATH`, `sftp:HOST:PATH` or a path.
    package var text: String {
        isHere ? path : host.map { "\(remote):\($0):\(path)" } ?? "\(remote):\(path)"
    }

    /// The same with a slash at its end, for rclone: without it, rclone looks for a file of this name first, and some
    /// versions look into the folder that it is in.
    var folderText: String { path.isEmpty || path.exact.hasSuffix("/") ? text : text + "/" }

    /// The last part of the path; empty for all of a remote.
    package var name: String { parts.last ?? "" }

    /// The folder that it is in; nil for all of a remote.
    package var folder: RemoteLocation? {
        if parts.isEmpty { return nil }
        let start = path.exact.hasPrefix("/") ? "/" : ""
        return RemoteLocation(remote: remote, host: host, path: start + parts.dropLast().joined(separator: "/"))
    }

    private var parts: [String] { path.exact.split(separator: "/").map { String($0) } }

    /// A file or folder in it.
    package func appending(_ name: String) -> RemoteLocation {
        RemoteLocation(
            remote: remote, host: host,
            path: path.isEmpty || path.exact.hasSuffix("/") ? path + name : "\(path)/\(name)")
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool { isWord(byte) || " .+@-".utf8.contains(byte) }
}
