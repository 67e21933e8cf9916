internal import KCByteStreams
internal import KCItemSources

/// The groups and values of a connection of NetworkManager, as GLib's GKeyFile reads them.
///
/// Groups with one name are one group, and of values with one name the last one counts. Source: GLib, `gkeyfile.c`.
struct ConnectionFile {
    /// The groups, in the order of their first appearance.
    private(set) var groups: [Group] = []

    struct Group {
        let header: ExactText
        /// In the order of their first appearance.
        fileprivate(set) var values: [KeyFile.Value] = []

        subscript(key: String) -> KeyFile.Value? { values.first { $0.key == key.exact } }
    }

    // NetworkManager itself refuses a file of more than 1 MiB; a line has two bytes at least.
    static let sizeLimit = 1 << 20

    /// Reads all groups.
    ///
    /// - Throws: `ForeignFailure.damagedLine` for a line that GKeyFile refuses, with which it reads nothing of the file.
    init(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var lines = Lines(bytes.count)
        var current: Int?
        while let (range, number) = lines.next(in: bytes) {
            let line = KeyFile.trimmed(range, in: bytes)
            if line.isEmpty || bytes[line.lowerBound] == UInt8(ascii: "#") { continue }
            if bytes[line.lowerBound] == UInt8(ascii: "[") {
                guard let header = Self.header(line, in: bytes) else {
                    throw .damagedLine(number, "the name of a group is incomplete")
                }
                current = groups.firstIndex { $0.header == header } ?? groups.count
                if current == groups.count { groups.append(Group(header: header)) }
                continue
            }
            guard let current else { throw .damagedLine(number, "it precedes the first group") }
            guard let equals = line.first(where: { bytes[$0] == UInt8(ascii: "=") }),
                let key = Self.key(line.lowerBound..<equals, in: bytes)
            else { throw .damagedLine(number, "it is neither a group nor a value") }
            let value = KeyFile.Value(
                key: key, range: equals + 1..<line.upperBound, line: number, hasSeveralLines: false)
            if let place = groups[current].values.firstIndex(where: { $0.key == key }) {
                groups[current].values[place] = value
            } else {
                groups[current].values.append(value)
            }
        }
    }

    /// The group with any of these names; the file may use the name of a setting or its short form.
    subscript(headers: ExactText...) -> Group? { groups.first { headers.contains($0.header) } }

    private static func header(_ line: Range<Int>, in bytes: borrowing Span<UInt8>) -> ExactText? {
        let start = line.lowerBound + 1
        guard let end = (start..<line.upperBound).first(where: { "[]".utf8.contains(bytes[$0]) }), end > start,
            bytes[end] == UInt8(ascii: "]"),
            (end + 1..<line.upperBound).allSatisfy({ [0x20, 0x09].contains(bytes[$0]) })
        else { return nil }
        return bytes.text(start..<end)?.exact
    }

    private static func key(_ range: Range<Int>, in bytes: borrowing Span<UInt8>) -> ExactText? {
        var end = range.upperBound
        while end > range.lowerBound, [0x20, 0x09].contains(bytes[end - 1]) { end -= 1 }
        return end > range.lowerBound ? bytes.text(range.lowerBound..<end)?.exact : nil
    }
}
