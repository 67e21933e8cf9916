internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The XML that KWalletManager exports: the contents of a wallet in the clear.
///
/// Source: kwalletmanager, `src/manager/kwalleteditor.cpp`.
package struct KWalletXMLFormat: ForeignFormat {
    package let kind = ForeignKind.kwalletXML

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { $0.hasRoot("wallet") }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let document = try XMLDocument.reading(file)
        var wallet = WalletReader(file)
        let data = try WalletData(document, wallet.collector)
        try data.bytes.withBytes { bytes throws(ForeignFailure) in
            try wallet.add(bytes, entryLimit: KWalletFormat.entryLimit)
        }
        let name = document.root.attributes["name"] ?? ""
        return try wallet.finish(details: name.isEmpty ? "" : "wallet '\(name)'", isPlaintext: true)
    }
}

/// The contents of an export in the form that they have within a wallet, so that both become the same items.
private struct WalletData: ~Copyable {
    private(set) var bytes = SecretBytes(capacity: 4_096)

    /// The types of entries, by the names of their elements.
    private static let types: [(name: String, type: UInt32)] = [("password", 1), ("stream", 2), ("map", 3)]

    init(_ document: XMLDocument, _ collector: RecordCollector) throws(ForeignFailure) {
        for folder in document.children(of: document.root) {
            guard folder.name == "folder" else {
                collector.leaveOut(unknown: [folder.name])
                continue
            }
            var entries: [(XMLDocument.Element, UInt32)] = []
            for entry in document.children(of: folder) {
                if let type = Self.types.first(where: { $0.name.exact == entry.name.exact })?.type {
                    entries.append((entry, type))
                } else {
                    collector.leaveOut(unknown: [entry.name])
                }
            }
            append(try Self.name(of: folder))
            append(UInt32(entries.count))
            for (entry, type) in entries {
                append(try Self.name(of: entry))
                append(type)
                append(try Self.value(of: entry, type, document))
            }
        }
    }

    private static func name(of element: XMLDocument.Element) throws(ForeignFailure) -> SecretBytes {
        guard let name = element.attributes["name"] else { throw .damaged("a '\(element.name)' has no name") }
        return utf16(name.utf8.span)
    }

    private static func value(
        of entry: XMLDocument.Element, _ type: UInt32, _ document: XMLDocument
    ) throws(ForeignFailure) -> SecretBytes {
        var value = WalletData()
        if type != 3, document.hasChildren(entry) { throw .damaged("a password or a stream has elements in it") }
        switch type {
        case 1:
            value.append(document.withText(of: entry) { utf16($0) })
            return value.bytes.copy()
        case 2:
            var bytes = SecretBytes(capacity: 0)
            let text = document.withText(of: entry) { SecretBytes(withoutSpace: $0) }
            guard text.withBytes({ Base64.decode($0, into: &bytes) }) else { throw .damaged("a stream is not base64") }
            return bytes
        default:
            let fields = document.children(of: entry)
            value.append(UInt32(fields.count))
            for field in fields {
                guard field.name == "mapentry", !document.hasChildren(field) else {
                    throw .damaged("a map has other elements than its entries")
                }
                value.append(try name(of: field))
                value.append(document.withText(of: field) { utf16($0) })
            }
            return value.bytes.copy()
        }
    }

    private init() {}

    private mutating func append(_ number: UInt32) {
        for shift in stride(from: 24, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Appends a length and that many bytes.
    private mutating func append(_ piece: consuming SecretBytes) {
        append(UInt32(piece.count))
        piece.withBytes { bytes.append($0) }
    }

    /// Valid UTF-8 as big-endian UTF-16.
    private static func utf16(_ text: borrowing Span<UInt8>) -> SecretBytes {
        var units = SecretBytes(capacity: text.count * 2)
        var position = 0
        while position < text.count {
            let lead = UInt32(text[position])
            let count = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
            var scalar = count == 1 ? lead : lead & (0x7f >> UInt32(count))
            for index in position + 1..<position + count { scalar = scalar << 6 | UInt32(text[index]) & 0x3f }
            position += count
            let pair: [UInt32] =
                scalar < 0x1_0000
                ? [scalar] : [0xd800 + (scalar - 0x1_0000) >> 10, 0xdc00 + (scalar - 0x1_0000) & 0x3ff]
            for unit in pair {
                units.append(UInt8(truncatingIfNeeded: unit >> 8))
                units.append(UInt8(truncatingIfNeeded: unit))
            }
        }
        return units
    }
}
