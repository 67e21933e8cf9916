internal import KCByteStreams
internal import KCItemSources

/// Reads the records of a JSON document into items.
protocol JSONRecords {
    var json: ForeignJSON { get }
    /// Where the items go.
    var collector: RecordCollector { get }
}

extension JSONRecords {
    /// The text of a string that is not a secret; nil for null and for a missing value.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value of another kind.
    func text(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> String? { try json.optionalText(value) }

    /// The texts of a list.
    ///
    /// - Throws: as `text`.
    func texts(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> [String] {
        var texts: [String] = []
        for value in try json.list(value) { if let text = try text(value) { texts.append(text) } }
        return texts
    }

    /// The text of a string; nil for null and for a missing value.
    ///
    /// - Throws: as `text`.
    func secret(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> SecretBytes? { try json.optionalSecret(value) }

    /// The text of a string; nil if it is empty too.
    ///
    /// - Throws: as `text`.
    func filled(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> SecretBytes? {
        guard let secret = try secret(value), !secret.isEmpty else { return nil }
        return secret
    }

    /// Reads a part of a record: one that is damaged is refused by name, and the record keeps its others.
    ///
    /// - Parameter name: the name of the part; foreign text.
    /// - Throws: what `body` throws, unless it says that the part is damaged.
    func part(
        _ value: ForeignJSON.Value, _ name: String, of record: RecordWriter,
        _ body: () throws(ForeignFailure) -> Void
    ) throws(ForeignFailure) {
        // The rest of it would become fields.
        if try !collector.part(name, of: record.title, body) { json.skip(value) }
    }

    /// Counts a value that has no place in a keychain, unless it is missing or empty.
    func leaveOut(_ kind: String, _ value: ForeignJSON.Value?) {
        guard let value else { return }
        if !json.isEmpty(value) { collector.leaveOut(kind) }
        json.skip(value)
    }

    /// Counts the values of a list that have no place in a keychain.
    ///
    /// - Throws: `ForeignFailure.damaged` for anything but a list.
    func leaveOut(_ kind: String, each list: ForeignJSON.Value?) throws(ForeignFailure) {
        collector.leaveOut(kind, try json.list(list).count)
        json.skip(list)
    }
}
