package import ByteStreams
package import KeychainModel

/// An item that an export of ours put into another program's file, found there again.
///
/// What the record says wins over what the exporter wrote beside it, so that a change that the other program made is not
/// undone.
package struct ReturnedItem {
    /// The item as it was, with the record's date.
    package let draft: ItemDraft
    /// Where the exporter put its secret.
    package let kind: ExportedRecord.Kind

    /// Reads the line that the exporter wrote; nil if it is none, or the record is not the one that it was written for: it
    /// has another ID, title, account or address.
    ///
    /// - Parameter ignoringAccount: true for a record that has no place for it.
    package init?(
        line: borrowing SecretBytes, id: ItemUUID?, title: String, account: String?, addresses: [String],
        modified: Timestamp?, ignoringAccount: Bool = false
    ) {
        guard let parsed = Self.parse(line) else { return nil }
        var draft = parsed
        guard let id, draft.uuid == id, let item = Self.item(draft) else { return nil }
        let record = ExportedRecord(item)
        let isSameAccount = ignoringAccount || record.account ?? "" == account ?? ""
        guard record.title == title, isSameAccount, record.addresses == addresses else { return nil }
        if let modified, modified.seconds != item.modified.seconds { draft.attributes[.mdat] = .date(modified) }
        self.draft = draft
        kind = record.kind
    }

    private static func parse(_ line: borrowing SecretBytes) -> ItemDraft? {
        line.withBytes { bytes in
            do throws(ImportLine.Problem) {
                return try ImportLine(bytes).draft
            } catch {
                // Something else has this name: an ordinary record.
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
