internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Items, one JSON object per line, as written by `item find --reveal --json` or by hand (docs/json.md, "Import").
package struct ItemLinesFormat: ForeignFormat {
    package let name = "kcbackup-items"
    package let title = "file of items, one JSON object a line"

    package init() {}

    /// True if the first line is such an object or resembles one.
    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { Self.recognises($0) }
    }

    /// True if `bytes` can be the beginning of such a file.
    package static func recognises(_ bytes: borrowing Span<UInt8>) -> Bool {
        let mark = bytes.starts(with: byteOrderMark) ? byteOrderMark.utf8.count : 0
        let start = (mark..<bytes.count).first { ![0x20, 0x09, 0x0d, 0x0a].contains(bytes[$0]) }
        // A file of white space is more likely the output of a failed command.
        guard let start else { return false }
        guard bytes[start] == UInt8(ascii: "{") else { return false }
        let end = (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "\n") } ?? bytes.count
        let line = bytes.extracting(start..<min(end, start + 4_096))
        // Items of the Credential Exchange Format may contain such objects.
        return ["\"class\"", "\"attributes\""].contains { line.holds($0) } && !line.holds("\"credentials\"")
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        return Self.contents(try ItemLines(ForeignFileSource(file: file), date: file.modified).collected())
    }

    /// The contents of a file that holds these items.
    package static func contents(_ items: CollectedItems) -> ForeignContents {
        ForeignContents(items: items, kind: "item", isPlaintext: true)
    }
}
