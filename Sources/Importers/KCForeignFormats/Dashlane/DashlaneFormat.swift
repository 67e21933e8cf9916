internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Dashlane's export: a zip file of CSV tables.
package struct DashlaneFormat: ForeignFormat {
    package let name = "dashlane"
    package let title = "Dashlane export"

    package init() {}

    /// Tables whose rows are kept as a whole, with the kind of their records.
    private static let objects = [
        "ids.csv": "identity document", "payments.csv": "card", "personalInfo.csv": "identity",
    ]

    /// The tables of logins and notes.
    private static let records: Set = ["credentials.csv", "securenotes.csv"]

    package func recognises(_ input: ForeignInput) throws -> Bool {
        try ForeignZip.names(in: input)?.contains("credentials.csv".exact) == true
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let zip = try ForeignZip(file) { $0.exact.hasSuffix(".csv") }
        let collector = RecordCollector(format: name, date: file.modified)
        for (name, format) in [
            ("credentials.csv", CSVFormat()),
            ("securenotes.csv", CSVFormat(columns: [.title: "title", .notes: "note"])),
        ] {
            guard let table = zip.take(name) else { continue }
            try read(table) { bytes throws(ForeignFailure) in
                _ = try format.read(bytes, of: name, into: collector)
            }
        }
        for (table, kind) in Self.objects.sorted(by: { $0.key < $1.key }) {
            guard let member = zip.take(table) else { continue }
            try read(member) { bytes throws(ForeignFailure) in
                try addObjects(bytes, table, kind, to: collector)
            }
        }
        // Rows of unknown tables are kept in full.
        for table in zip.rest {
            guard let member = zip.take(table) else { continue }
            try read(member) { bytes throws(ForeignFailure) in
                try addObjects(bytes, table, "row of a table that is not known", to: collector)
            }
        }
        zip.countRest(in: collector)
        return try collector.finish(details: "", isPlaintext: true)
    }

    /// Reads a table, and names it in failures; the names of unknown ones are foreign text.
    private func read(
        _ table: ForeignAttachment, _ body: (borrowing Span<UInt8>) throws(ForeignFailure) -> Void
    ) throws(ForeignFailure) {
        let isKnown = Self.objects[table.name] != nil || Self.records.contains(table.name)
        let name = isKnown ? "'\(table.name)'" : "a table"
        do throws(ForeignFailure) {
            try table.bytes.withBytes(body)
        } catch {
            switch error {
            case .damagedLine(let line, let rule): throw .damaged("line \(line) of \(name) in it: \(rule)")
            case .notUTF8(let line): throw .damaged("line \(line) of \(name) in it is not UTF-8")
            default: throw error
            }
        }
    }

    /// Adds each row as a JSON object of its cells.
    private func addObjects(
        _ bytes: borrowing Span<UInt8>, _ table: String, _ kind: String, to collector: RecordCollector
    ) throws(ForeignFailure) {
        var reader = CSVReader(bytes)
        guard let header = try reader.next(in: bytes) else { return }
        let names = header.cells.map { $0.text(in: bytes) }
        guard Set(names).count == names.count else { throw .damagedLine(header.line, "two columns have the same name") }
        while let reading = try reader.nextOrDamaged(in: bytes) {
            try collector.record("\(table), line \(reading.line)") { () throws(ForeignFailure) in
                let row = try reading.row()
                guard row.cells.count == names.count else {
                    throw .damagedLine(
                        row.line, "it has \(row.cells.count) cells, where the first line has \(names.count)")
                }
                var object = SecretJSON()
                for (name, cell) in zip(names, row.cells) where !cell.isEmpty {
                    object.add(name, text: cell.secret(in: bytes))
                }
                // Titles that people choose. Numbers and the like are secrets, and are not used as titles.
                let title = ["account_name", "item_name", "title", "name", "type"].lazy.compactMap { wanted in
                    names.firstIndex(of: wanted).map { row.cells[$0] }
                }.first { !$0.isEmpty }?.text(in: bytes)
                let identity = RecordWriter.identity(of: [table, title ?? kind])
                try RecordWriter(
                    collector, identity: identity, ordinal: collector.ordinal(of: identity), title: title ?? kind
                )
                .addObject(kind, object.finish())
            }
        }
    }
}
