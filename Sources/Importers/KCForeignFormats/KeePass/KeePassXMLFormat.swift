internal import KCByteStreams
package import KCItemSources

/// Exports of KeePass databases in XML, as KeePass 2 and KeePassXC write them, in the clear.
package struct KeePassXMLFormat: ForeignFormat {
    package let kind = ForeignKind.keePassXML

    // The number of bytes in which the first element begins, behind the declaration and comments.
    private static let headSize = 1_024

    package init() {}

    package func recognises(_ input: ForeignInput) -> Bool {
        guard let file = input.file else { return false }
        let mark = Array("<KeePassFile".utf8)
        return file.bytes.withBytes { bytes in
            let start = bytes.matches([0xef, 0xbb, 0xbf]) ? 3 : 0
            guard start < bytes.count, bytes[start] == UInt8(ascii: "<") else { return false }
            return bytes.indices.prefix(Self.headSize).contains { bytes.matches(mark, at: $0) }
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        // Its entries are those of the database, so that both become the same items.
        let collector = RecordCollector(format: KeePassFormat().name, date: file.modified)
        return try KeePassRecords(KDBXDatabase(export: file), collector).read(.xml)
    }
}
