internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel

extension CXFRecords {
    /// The items of which kcbackup's export made this record; nil for an ordinary record.
    ///
    /// - Parameter user: nil for a record that has no place for a user name.
    func returned(
        _ value: ForeignJSON.Value, _ id: String, _ title: String, _ user: String?, _ record: RecordWriter
    ) -> ReturnedRecord? {
        guard let returned = ReturnedRecord(value, in: json) else { return nil }
        // A copy of the record has an ID of its own.
        guard id.exact == returned.id.exact else { return nil }
        let tags = record.extra.first { $0.name == "tags" }?.value
        returned.compare(
            title: title, account: user, addresses: record.addresses, modified: record.modified,
            marks: [record.folder ?? "", tags ?? "", nil])
        return returned
    }
}
