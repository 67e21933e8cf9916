internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The output of `security dump-keychain -d` on macOS: the items of a keychain as text.
///
/// Source: the output of macOS's `security`, and Security/SecurityTool, `keychain_utilities.c`.
package struct KeychainDumpFormat: ForeignFormat {
    package let kind = ForeignKind.keychainDump

    /// The number of bytes that show whether a file is a dump.
    private static let headSize = 4_096

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file, file.starts(with: DumpReader.beginning.utf8) else { return false }
        return file.bytes.withBytes { bytes in
            let head = bytes.extracting(0..<min(bytes.count, Self.headSize))
            return head.holds("\nclass: ") && head.holds("\nattributes:")
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let collector = RecordCollector(format: name, date: file.modified)
        var reader = DumpReader(collector: collector)
        try file.bytes.withBytes { bytes throws(ForeignFailure) in try reader.read(bytes) }
        return try collector.finish(details: "", isPlaintext: true)
    }
}
