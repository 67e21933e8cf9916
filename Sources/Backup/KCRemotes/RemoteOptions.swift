internal import KCByteStreams

/// The options of a remote, some of which are secret: nothing of them is shown.
struct RemoteOptions {
    private var values: [ExactText: String] = [:]

    /// - Parameters:
    ///   - text: what `rclone config show` prints: lines `name = value`.
    ///   - environment: as in `RCLONE_CONFIG_NAS_TYPE=sftp`; these come first.
    init(_ text: [UInt8], of remote: String, _ environment: [String: String]) {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let mark = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            values[Self.trimmed(line[..<mark]).exact] = Self.trimmed(line[(mark + 1)...])
        }
        let prefix = "rclone_config_\(remote.exact.replacing("-", with: "_").lowercased())_"
        for (name, value) in environment {
            if let option = name.lowercased().exact.removingPrefix(prefix) { values[option.exact] = value }
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        let space = UInt8(ascii: " ")
        let text = bytes.drop { $0 == space }
        return String(decoding: text[..<((text.lastIndex { $0 != space } ?? text.startIndex - 1) + 1)], as: UTF8.self)
    }

    /// The kind of remote, such as "s3"; nil if there is no such remote.
    var kind: String? { values["type"] }

    /// True if files appear under their names only when they are complete.
    var isAtomic: Bool {
        ["s3", "b2", "azureblob", "google cloud storage", "swift"].contains { kind?.exact == ExactText($0) }
    }

    /// True if rclone, or the ssh that it runs, checks that the host is the one that is known.
    var isPinned: Bool { kind?.exact != "sftp" || values["known_hosts_file"] != nil || values["ssh"] != nil }

    /// The remotes that this one passes everything on to.
    var inner: [RemoteLocation] {
        let several = values["upstreams"]?.exact.split(separator: " ") ?? []
        return ([values["remote"]].compactMap { $0 } + several).compactMap { text in
            // In `combine`, a folder and an equals sign come first.
            RemoteLocation(text.exact.split(separator: "=").last ?? text)
        }
    }
}
