internal import ByteStreams

/// What stands on a line of a file of keys.
enum KeyLine {
    case blank
    case comment
    case key

    /// Looks at a line without its line feed.
    static func kind(_ line: borrowing Span<UInt8>) -> KeyLine {
        if line.isEmpty { return .blank }
        return line[0] == UInt8(ascii: "#") ? .comment : .key
    }

    /// Without the carriage return that some editors leave.
    static func withoutReturn(_ line: borrowing Span<UInt8>) -> Int {
        guard !line.isEmpty, line[line.count - 1] == UInt8(ascii: "\r") else { return line.count }
        return line.count - 1
    }

    /// The name of a kind of key that is not supported; nil for what is no key at all.
    static func unsupportedKind(_ line: borrowing Span<UInt8>) -> String? {
        let starts = [
            ("AGE-SECRET-KEY-PQ-1", "post-quantum"), ("age1pq1", "post-quantum"), ("age1tagpq1", "tag"),
            ("age1tag1", "tag"), ("AGE-PLUGIN-", "plugin"), ("ssh-", "ssh"), ("ecdsa-", "ssh"), ("sk-", "ssh"),
            ("-----BEGIN OPENSSH PRIVATE KEY", "ssh"), ("-----BEGIN RSA PRIVATE KEY", "ssh"),
        ]
        for (start, kind) in starts where line.starts(with: start) { return kind }
        // A recipient of a plugin has the plugin's name between two separators.
        let separators = line.indices.count { line[$0] == UInt8(ascii: "1") }
        return line.starts(with: "age1") && separators > 1 ? "plugin" : nil
    }
}
