internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// All that a reader says of a file besides its items; the last frame that it sends.
struct ReaderReport {
    var details = ""
    var parts: [(kind: String, count: Int)] = []
    var leftOut: [(kind: String, count: Int)] = []
    var refused: [ForeignContents.Refused] = []
    var staying: [(name: String, reason: Passage.Reason)] = []
    var duplicates = 0
    var remarks: [String] = []
    var isPlaintext = false
    var records: SeparableRecords?

    /// A report of nothing.
    init() {}

    init(_ contents: ForeignContents, _ records: SeparableRecords?) {
        details = contents.details
        parts = contents.parts
        leftOut = contents.leftOut
        refused = contents.refused
        staying = contents.staying
        duplicates = contents.duplicates
        remarks = contents.remarks
        isPlaintext = contents.isPlaintext
        self.records = records
    }

    init(_ bytes: borrowing Span<UInt8>) throws(FieldReader.Breach) {
        var fields = FieldReader()
        details = try fields.text(in: bytes)
        parts = try Self.counts(&fields, in: bytes)
        leftOut = try Self.counts(&fields, in: bytes)
        refused = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            let name = try fields.text(in: bytes)
            let kind = displayed(try fields.text(in: bytes), limit: 100)
            guard let problem = try Tagged(&fields, in: bytes).refusal else {
                throw FieldReader.Breach("an item is refused for an unknown reason")
            }
            return ForeignContents.Refused(name: name, kind: kind, problem: problem)
        }
        staying = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            let name = try fields.text(in: bytes)
            let reason = try fields.text(in: bytes)
            guard let reason = Passage.Reason.allCases.first(where: { $0.name.exact == reason.exact }) else {
                throw FieldReader.Breach("an item stays behind for an unknown reason")
            }
            return (name, reason)
        }
        duplicates = try fields.count(in: bytes)
        remarks = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            try fields.text(in: bytes)
        }
        isPlaintext = try fields.flag(in: bytes)
        records = try fields.flag(in: bytes) ? try Self.records(&fields, in: bytes) : nil
        try fields.end(in: bytes)
    }

    private static func counts(
        _ fields: inout FieldReader, in bytes: borrowing Span<UInt8>
    ) throws(FieldReader.Breach) -> [(kind: String, count: Int)] {
        let counts = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            (displayed(try fields.text(in: bytes), limit: 100), try fields.count(in: bytes))
        }
        guard counts.count <= kindLimit else { throw FieldReader.Breach("there are too many kinds") }
        return counts
    }

    // Most formats have a dozen; a file of Kubernetes has one for each kind of object.
    private static let kindLimit = 10_000

    private static func records(
        _ fields: inout FieldReader, in bytes: borrowing Span<UInt8>
    ) throws(FieldReader.Breach) -> SeparableRecords {
        let pieces = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            let start = try fields.count(in: bytes)
            let end = try fields.count(in: bytes)
            guard start < end else { throw FieldReader.Breach("a record ends before it begins") }
            return start..<end
        }
        return SeparableRecords(pieces, staying: try fields.count(in: bytes))
    }

    var fields: SecretBytes {
        var fields = FieldWriter()
        fields.add(details)
        for counts in [parts, leftOut] {
            fields.add(counts) { fields, entry in
                fields.add(entry.kind)
                fields.add(entry.count)
            }
        }
        fields.add(refused) { fields, item in
            fields.add(item.name)
            fields.add(item.kind)
            Tagged(item.problem).write(to: &fields)
        }
        fields.add(staying) { fields, item in
            fields.add(item.name)
            fields.add(item.reason.name)
        }
        fields.add(duplicates)
        fields.add(remarks) { $0.add($1) }
        fields.add(isPlaintext)
        fields.add(records != nil)
        if let records {
            fields.add(records.pieces) { fields, piece in
                fields.add(piece.lowerBound)
                fields.add(piece.upperBound)
            }
            fields.add(records.staying)
        }
        return fields.bytes.copy()
    }
}

extension ForeignContents {
    /// The contents that a report and the items before it describe.
    init(_ report: ReaderReport, items: CollectedItems, marked: [Item]) {
        self.init(
            items: items, details: report.details, parts: report.parts, leftOut: report.leftOut,
            refused: report.refused, staying: report.staying, duplicates: report.duplicates, marked: marked,
            remarks: report.remarks, isPlaintext: report.isPlaintext)
    }
}
