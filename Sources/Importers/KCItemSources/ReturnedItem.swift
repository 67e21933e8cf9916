package import KCByteStreams
package import KCKeychainModel

/// An item that kcbackup exported to another program's file, read back from that file.
///
/// The record takes precedence over what the exporter wrote beside it, so that changes by the other program are kept.
package struct ReturnedItem {
    /// The original item, with the record's date.
    package let draft: ItemDraft
    /// The kind of record, which determines where the exporter put the secret.
    package let kind: ExportedRecord.Kind

    /// Reads the line that the exporter wrote for a record.
    ///
    /// Returns nil if the line is not the exporter's, or was written for a record with another ID, title, account or
    /// address.
    ///
    /// - Parameter ignoringAccount: true for a record that has no place for an account.
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
        // CXF has no dates before 1970, so the exporter wrote that for an earlier one.
        let isEarlier = modified?.seconds == 0 && item.modified.seconds < 0
        if let modified, modified.seconds != item.modified.seconds, !isEarlier {
            draft.attributes[.mdat] = .date(modified)
        }
        self.draft = draft
        kind = record.kind
    }

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
