internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Items, one JSON object per line, as written by `item find --reveal --json` or by hand (docs/json.md, "Import").
package struct ItemLinesFormat: ForeignFormat {
    package let kind = ForeignKind.items

    package init() {}

    /// True if the first line is such an object or resembles one.
    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { ItemLines.begin($0) }
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
