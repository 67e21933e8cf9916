package import KCByteStreams
package import KCKeychainModel

extension ExportedRecord {
    /// A part of a record, and where a file has its secret.
    package struct Written {
        package let part: ExportedPart
        /// The place that an import of the file finds it in.
        package let place: RecordPlace
        /// True if the secret is in base64 there.
        package let isBase64: Bool

        /// States where a part is.
        package init(_ part: ExportedPart, as place: RecordPlace? = nil, isBase64: Bool = false) {
            self.part = part
            self.place = place ?? part.place
            self.isBase64 = isBase64
        }
    }

    /// Writes what an import needs to restore the items exactly: a JSON object with their attributes.
    ///
    /// - Parameters:
    ///   - written: the parts that are in the file.
    ///   - id: that of the record in the file, which a copy of the record does not have.
    ///   - secret: returns the part if the file has its secret only in another form.
    package func writeItems(
        _ written: [Written], id: String, into text: inout SecretBytes,
        secret: (Written) -> ExportedPart? = { _ in nil }
    ) {
        CanonicalJSON.literal("{\"name\":\"\(ExportName.item)\",\"record\":", into: &text)
        CanonicalJSON.string(id, into: &text)
        CanonicalJSON.literal(",\"names\":[", into: &text)
        for (index, name) in ([title, account ?? ""] + addresses).enumerated() {
            if index > 0 { CanonicalJSON.literal(",", into: &text) }
            CanonicalJSON.string(name, into: &text)
        }
        CanonicalJSON.literal("],\"marks\":[", into: &text)
        for (index, mark) in [folder, tags, free("expires")].enumerated() {
            if index > 0 { CanonicalJSON.literal(",", into: &text) }
            CanonicalJSON.string(mark ?? "", into: &text)
        }
        CanonicalJSON.literal("],\"modified\":\"\(modified)\",\"items\":[", into: &text)
        for (index, entry) in written.enumerated() {
            CanonicalJSON.literal(index == 0 ? "{\"part\":" : ",{\"part\":", into: &text)
            CanonicalJSON.string(entry.place.part, into: &text)
            if entry.isBase64 { CanonicalJSON.literal(",\"base64\":true", into: &text) }
            if !entry.part.hasSecret { CanonicalJSON.literal(",\"none\":true", into: &text) }
            if let own = secret(entry) {
                CanonicalJSON.literal(",\"secret\":", into: &text)
                own.secret.withBytes { CanonicalJSON.string($0, into: &text) }
            }
            CanonicalJSON.literal(",\"item\":", into: &text)
            entry.part.item.writeImportLine(into: &text)
            CanonicalJSON.literal("}", into: &text)
        }
        CanonicalJSON.literal("]}", into: &text)
    }

    /// The attributes of unique keys that an import of the file does not restore, if it has no place for those of the items.
    ///
    /// The importers' own code determines what an import makes of the record.
    ///
    /// - Parameters:
    ///   - written: the parts that are in the file.
    ///   - addresses: those that are in the file.
    ///   - account: the user name that is in the file.
    package func lost(
        _ written: [Written], account: String?, addresses: [String]
    ) -> [(part: ExportedPart, codes: [AttributeCode])] {
        let made = returned(written, account: account, addresses: addresses)
        return written.compactMap { entry in
            let codes = Self.lost(of: entry.part.item, in: made[entry.place.part.exact])
            return codes.isEmpty ? nil : (entry.part, codes)
        }
    }

    private static func lost(of item: Item, in made: Item?) -> [AttributeCode] {
        let codes = item.itemClass.uniqueKey.filter { !isEverywhere($0) }
        guard let made, made.itemClass == item.itemClass else {
            // An internet password, which the addresses make of a generic one, has the account all the same.
            return codes.filter { code in
                guard let value = item.attributes[code], !value.isNothing else { return false }
                return made?.attributes[code] != value
            }
        }
        return codes.filter { code in
            let (before, after) = (item.attributes[code], made.attributes[code])
            return before != after && !((before?.isNothing ?? true) && (after?.isNothing ?? true))
        }
    }

    /// True for attributes of a unique key that users never see and that formats of other programs do not have.
    private static func isEverywhere(_ code: AttributeCode) -> Bool { [.agrp, .sync, .musr].contains(code) }

    /// The items that an import makes of the record, by their parts; none if it refuses the record.
    private func returned(_ written: [Written], account: String?, addresses: [String]) -> [ExactText: Item] {
        let collector = RecordCollector(format: "", date: .reference)
        let record = RecordWriter(collector, identity: "", title: title)
        record.addresses = addresses
        var finder = ItemFinder()
        do {
            let order = written.filter { $0.place == .login } + written.filter { $0.place != .login }
            for entry in order { try record.add(entry.place, user: account, isWhole: written.count == 1) }
            try collector.finish(details: "", isPlaintext: true).items.visitItems(&finder)
        } catch {
            // An item that cannot be imported does not come back.
            return [:]
        }
        return Dictionary(finder.items.map { (($0.free("source.part") ?? "").exact, $0) }) { first, _ in first }
    }
}

extension RecordWriter {
    /// Adds a part with a secret that does not matter.
    fileprivate func add(_ place: RecordPlace, user: String?, isWhole: Bool) throws(ForeignFailure) {
        let secret = SecretBytes(copying: [UInt8(ascii: "x")])
        switch place {
        case .login, .token: try addLogin(user: user, password: secret)
        case .oneTimePassword: try addOneTimePassword(SecretBytes(copying: "otpauth://totp/?secret=AAAAAAAA".utf8))
        case .note: try addNote(secret, isWhole: isWhole)
        case .field(let name): try addField(name, secret)
        case .object(let kind): try addObject(kind, secret)
        case .passkey(let host): try addPasskey(host: host, user: nil, secret)
        case .privateKey: try addPrivateKey(secret)
        case .network(let name): try addNetwork(name, secret)
        case .attachment(let name): try addAttachment(name, secret)
        }
    }
}

private struct ItemFinder: ItemVisitor {
    var items: [Item] = []

    mutating func wants(_ item: Item) -> Bool {
        items.append(item)
        return false
    }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    mutating func skip(damaged item: Item?) {}
}

extension AttributeValue {
    /// True for a value that an importer cannot distinguish from a missing attribute.
    fileprivate var isNothing: Bool {
        switch self {
        // The default authentication type.
        case .text(let text): text.isEmpty || text == "dflt"
        case .data(let bytes): bytes.isEmpty
        case .number(let number): number == 0
        case .date: false
        }
    }
}
