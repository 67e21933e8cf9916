internal import KCByteStreams

/// How a remote is configured, as far as that decides how it is used.
///
/// Its other options, such as passwords, stay where they were read: rclone only obscures them.
struct RemoteOptions {
    private static let names: [ExactText] = ["type", "known_hosts_file", "ssh", "remote", "upstreams"]

    private var values: [ExactText: String] = [:]

    /// - Parameters:
    ///   - text: what `rclone config show` prints: lines `name = value`.
    ///   - environment: as in `RCLONE_CONFIG_NAS_TYPE=sftp`; these come first.
    init(_ text: borrowing SecretBytes, of remote: String, _ environment: [String: String]) {
        for name in Self.names {
            values[name] = text.withBytes { Self.value(of: name.string, in: $0) }
        }
        let prefix = "rclone_config_\(remote.exact.replacing("-", with: "_").lowercased())_"
        for (name, value) in environment {
            guard let option = name.lowercased().exact.removingPrefix(prefix) else { continue }
            if Self.names.contains(option.exact) { values[option.exact] = value }
        }
        if let hosts = environment["RCLONE_SFTP_KNOWN_HOSTS_FILE"] { values["known_hosts_file"] = hosts }
    }

    /// The value in the line `name = value`; nil if there is none.
    private static func value(of name: String, in text: borrowing Span<UInt8>) -> String? {
        let start = Array("\(name) = ".utf8)
        var line = 0
        for index in 0...text.count where index == text.count || text[index] == UInt8(ascii: "\n") {
            let end = index
            if end - line >= start.count, start.indices.allSatisfy({ text[line + $0] == start[$0] }) {
                return String(decoding: (line + start.count..<end).map { text[$0] }, as: UTF8.self)
            }
            line = end + 1
        }
        return nil
    }

    /// The kind of remote, such as "s3"; nil if there is no such remote.
    var kind: String? { values["type"] }

    /// How a file is written that must not replace another one, the safest first.
    enum Writing: Int {
        /// Under its name, on the condition that this is free, which the server decides.
        case conditional
        /// Under its name, where it appears only when it is complete.
        case whole
        /// Under another name first.
        case parts
    }

    /// How files are written; nil if that depends only on the remote to which this one passes everything on.
    var writing: Writing? {
        let kinds: (ExactText) -> Bool = { kind?.exact == $0 }
        if ["alias", "crypt"].contains(where: kinds), inner.count == 1 { return nil }
        if kinds("s3") { return .conditional }
        return ["b2", "azureblob", "google cloud storage", "swift"].contains(where: kinds) ? .whole : .parts
    }

    /// True if rclone, or the ssh that it runs, checks that the host is the one that is known.
    var isPinned: Bool {
        if kind?.exact == "sftp" { return values["known_hosts_file"] != nil || values["ssh"] != nil }
        // A remote that is defined where it is used: `:sftp,host=example.org:backups`.
        return passedOn.allSatisfy { !$0.exact.hasPrefix(":sftp") || $0.exact.contains("known_hosts_file=") }
    }

    /// The remotes that this one passes everything on to.
    var inner: [RemoteLocation] { passedOn.compactMap { RemoteLocation($0) } }

    private var passedOn: [String] {
        let several = values["upstreams"]?.exact.split(separator: " ") ?? []
        // In `combine`, a folder and an equals sign come first.
        return [values["remote"]].compactMap { $0 }
            + several.map { text in
                let parts = text.exact.split(separator: "=", maxSplits: 1)
                return parts.count == 2 && !parts[0].exact.contains(":") ? parts[1] : text
            }
    }
}
