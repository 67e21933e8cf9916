package import KCByteStreams
package import KCKeychainModel

/// The items of a record that kcbackup exported to another program's file, read back from that file.
///
/// The record takes precedence over what the exporter wrote beside it, so that changes by the other program are kept.
package final class ReturnedRecord {
    /// An item whose secret is a part of the record.
    struct Part {
        var draft: ItemDraft
        /// The secret, if the file has it in another form too.
        var secret: ExportedText?
        /// True if the part is in base64.
        let isBase64: Bool
        /// True if the item has no secret, which a file may hold as an empty one.
        let hasNone: Bool
    }

    /// The items by their parts, in the order of writing.
    private var parts: [ExactText: [Part]] = [:]
    /// The ID that the record had in the file.
    package let id: String
    /// The folder, the tags and the expiry date, as they were written; empty for none.
    private let marks: [String]
    /// The title, the user name and the addresses, as they were written.
    private let names: [String]
    private let lastChange: Timestamp
    /// The attributes that say where the record came from.
    let origin: [ExtraAttribute]
    /// True if the other program changed neither title nor user nor addresses.
    private var keepsNames = false
    /// True for each of the marks that the other program changed.
    private var changesMark = [false, false, false]
    /// When the other program changed the record; nil if it did not.
    private var modified: Timestamp?

    /// Reads what `ExportedRecord.writeItems` wrote; nil for anything else.
    package init?(_ value: ForeignJSON.Value, in json: ForeignJSON) {
        var items: [Item] = []
        for entry in value["items"]?.values ?? [] {
            guard let name = json.text(entry["part"]), let line = entry["item"],
                let draft = Self.parse(json.source(line)),
                let item = Self.item(draft)
            else { return nil }
            let secret = json.secret(entry["secret"])
            let own: ExportedText? =
                switch consume secret {
                case .some(let secret): ExportedText(secret)
                case .none: nil
                }
            let part = Part(
                draft: draft, secret: own, isBase64: json.flag(entry["base64"]) ?? false,
                hasNone: json.flag(entry["none"]) ?? false)
            parts[name.exact, default: []].append(part)
            items.append(item)
        }
        let names = value["names"]?.values.compactMap { json.text($0) } ?? []
        let marks = value["marks"]?.values.compactMap { json.text($0) } ?? []
        guard let first = items.first, names.count > 1, let id = json.text(value["record"]), marks.count == 3,
            let date = json.text(value["modified"]).flatMap({ Timestamp($0) })
        else { return nil }
        (self.names, self.marks, self.id, lastChange) = (names, marks, id, date)
        origin = first.extra.filter { ["source.format", "source.id", RecordKey.attribute].contains($0.name) }
    }

    /// Compares the record with what was written.
    ///
    /// - Parameters:
    ///   - account: the user name in the record; nil if the record has no place for one.
    ///   - marks: folder, tags and expiry date; nil for one that the format has no place for.
    package func compare(
        title: String, account: String?, addresses: [String], modified: Timestamp?, marks: [String?]
    ) {
        changesMark = zip(self.marks, marks).map { old, new in new.map { $0.exact != old.exact } ?? false }
        keepsNames = names.map(\.exact) == ([title, account ?? names[1]] + addresses).map(\.exact)
        // CXF has no dates before 1970, so the exporter wrote that for an earlier one.
        let isEarlier = modified?.seconds == 0 && lastChange.seconds < 0
        self.modified = modified?.seconds == lastChange.seconds || isEarlier ? nil : modified
    }

    /// True if an item is to be restored from this part.
    package func has(_ place: RecordPlace) -> Bool { parts[place.part.exact]?.isEmpty == false }

    /// The secret that the exporter wrote beside this part.
    package func secret(of place: RecordPlace) -> ExportedText? { parts[place.part.exact]?.first?.secret }

    /// States the secret that the exporter wrote beside this part.
    package func setSecret(of place: RecordPlace, _ secret: consuming SecretBytes) {
        guard has(place) else { return }
        parts[place.part.exact]?[0].secret = ExportedText(secret)
    }

    /// Restores the item of a part, if there is one.
    func restore(_ part: String, _ draft: inout ItemDraft, _ secret: inout SecretBytes?) {
        guard var found = parts[part.exact], !found.isEmpty else { return }
        let first = found.removeFirst()
        parts[part.exact] = found
        draft = item(first, for: draft)
        guard let given = secret.take() else { return }
        if first.hasNone, given.isEmpty { return }
        secret = first.isBase64 ? Self.decoded(given) : given
    }

    /// Decodes base64; other text stays as it is.
    private static func decoded(_ text: consuming SecretBytes) -> SecretBytes {
        var bytes = SecretBytes(capacity: text.count)
        return text.withBytes({ Base64.decode($0, into: &bytes) }) ? bytes : text
    }

    private func item(_ part: Part, for draft: ItemDraft) -> ItemDraft {
        var own = part.draft
        if !keepsNames {
            // An item cannot change its class.
            guard own.itemClass == draft.itemClass else { return draft }
            for code in Self.names { own.attributes[code] = draft.attributes[code] }
            own.extra.removeAll { $0.name.exact.hasPrefix("url.") }
            own.extra += draft.extra.filter { $0.name.exact.hasPrefix("url.") }
        }
        for (name, isChanged) in zip(Self.marks, changesMark) where isChanged {
            own.extra.removeAll { $0.name.exact == name.exact }
            own.extra += draft.extra.filter { $0.name.exact == name.exact }
        }
        if let modified { own.attributes[.mdat] = .date(modified) }
        return own
    }

    /// The attributes that an import makes of title, user and addresses.
    private static let names: [AttributeCode] = [.labl, .svce, .acct, .srvr, .ptcl, .port, .path]

    /// The attributes that hold the marks.
    private static let marks = [ExportName.folder, "tags", "expires"]

    private static func parse(_ line: borrowing SecretBytes) -> ItemDraft? {
        line.withBytes { bytes in
            do throws(ImportLine.Problem) {
                return try ImportLine(bytes).draft
            } catch {
                // The field only has the exporter's name; the record is an ordinary one.
                return nil
            }
        }
    }

    private static func item(_ draft: ItemDraft) -> Item? {
        do throws(ItemProblem) {
            return try draft.completed(now: .reference, secretSize: nil)
        } catch {
            return nil
        }
    }
}
