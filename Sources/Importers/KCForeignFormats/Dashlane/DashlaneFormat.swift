internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Dashlane's export: a zip file of CSV tables, or one of them.
package struct DashlaneFormat: ForeignFormat {
    package let kind = ForeignKind.dashlane

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        if let names = try ForeignZip.names(in: input) {
            return names.contains(DashlaneTable.credentials.rawValue.exact)
        }
        return file.bytes.withBytes { DashlaneTable.of($0) } != nil
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let collector = RecordCollector(format: name, date: file.modified)
        guard try ForeignZip.names(in: input) != nil else {
            guard let table = file.bytes.withBytes({ DashlaneTable.of($0) }) else {
                throw ForeignFailure.notOfFormat(title: title)
            }
            try file.bytes.withBytes { bytes throws(ForeignFailure) in try add(bytes, table, named: nil, to: collector)
            }
            return try collector.finish(details: "'\(table.rawValue)' of it", isPlaintext: true)
        }
        let zip = try ForeignZip(file) { $0.exact.hasSuffix(".csv") }
        for table in DashlaneTable.allCases {
            guard let member = zip.take(table.rawValue) else { continue }
            try read(member, "'\(table.rawValue)'") { bytes throws(ForeignFailure) in
                try add(bytes, table, named: table.rawValue, to: collector)
            }
        }
        // Rows of unknown tables are kept in full.
        for name in zip.rest {
            guard let member = zip.take(name) else { continue }
            try read(member, "a table") { bytes throws(ForeignFailure) in
                try addObjects(bytes, name, name, "row of a table that is not known", to: collector)
            }
        }
        zip.countRest(in: collector)
        return try collector.finish(details: "", isPlaintext: true)
    }

    /// Reads a table, and names it in failures; the names of unknown ones are foreign text.
    private func read(
        _ table: ForeignAttachment, _ name: String,
        _ body: (borrowing Span<UInt8>) throws(ForeignFailure) -> Void
    ) throws(ForeignFailure) {
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

    /// Adds the records of a table.
    ///
    /// - Parameter file: the name that rows have before their lines; nil for a table that came alone.
    private func add(
        _ bytes: borrowing Span<UInt8>, _ table: DashlaneTable, named file: String?, to collector: RecordCollector
    ) throws(ForeignFailure) {
        switch table {
        case .credentials: _ = try CSVFormat().read(bytes, of: file, into: collector)
        case .secureNotes:
            var columns: [ChosenColumn: String] = [.title: "title", .notes: "note"]
            if try names(bytes).contains(where: { $0.exact == "category".exact }) { columns[.folder] = "category" }
            _ = try CSVFormat(columns: columns).read(bytes, of: file, into: collector)
        case .networks: try addNetworks(bytes, file, to: collector)
        case .ids, .payments, .personal:
            try addObjects(bytes, table.rawValue, file, table.kind ?? "", to: collector)
        }
    }

    /// The names of the columns.
    private func names(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [String] {
        var reader = CSVReader(bytes)
        return try reader.next(in: bytes)?.cells.map { $0.text(in: bytes) } ?? []
    }

    /// Calls `body` with each row.
    ///
    /// - Parameter file: as for `add`.
    private func forEachRow(
        _ bytes: borrowing Span<UInt8>, _ file: String?, _ collector: RecordCollector,
        _ body: (CSVReader.Row, _ names: [String], borrowing Span<UInt8>) throws(ForeignFailure) -> Void
    ) throws(ForeignFailure) {
        var reader = CSVReader(bytes)
        guard let header = try reader.next(in: bytes) else { return }
        let names = header.cells.map { $0.text(in: bytes) }
        guard Set(names.map(\.exact)).count == names.count else {
            throw .damagedLine(header.line, "two columns have the same name")
        }
        let place = file.map { "\($0), line" } ?? "line"
        while let reading = try reader.nextOrDamaged(in: bytes) {
            try collector.record("\(place) \(reading.line)") { () throws(ForeignFailure) in
                let row = try reading.row()
                guard row.cells.count == names.count else {
                    throw .damagedLine(
                        row.line, "it has \(row.cells.count) cells, where the first line has \(names.count)")
                }
                try body(row, names, bytes)
            }
        }
    }

    /// Adds each row as a JSON object of its cells.
    ///
    /// - Parameters:
    ///   - table: identifies the table among others.
    ///   - file: as for `add`.
    private func addObjects(
        _ bytes: borrowing Span<UInt8>, _ table: String, _ file: String?, _ kind: String,
        to collector: RecordCollector
    ) throws(ForeignFailure) {
        try forEachRow(bytes, file, collector) { row, names, bytes throws(ForeignFailure) in
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

    /// Adds each row as the password of a network, with its note and its other cells as fields.
    private func addNetworks(
        _ bytes: borrowing Span<UInt8>, _ file: String?, to collector: RecordCollector
    ) throws(ForeignFailure) {
        try forEachRow(bytes, file, collector) { row, names, bytes throws(ForeignFailure) in
            func cell(_ name: String) -> CSVReader.Cell? {
                names.firstIndex(of: name).flatMap { row.cells[$0].isEmpty ? nil : row.cells[$0] }
            }
            let network = cell("ssid")?.text(in: bytes) ?? ""
            let title = cell("name")?.text(in: bytes) ?? network
            let identity = RecordWriter.identity(of: [DashlaneTable.networks.rawValue, network, title])
            let record = RecordWriter(
                collector, identity: identity, ordinal: collector.ordinal(of: identity), title: title)
            try record.addNetwork(network, cell("passphrase")?.secret(in: bytes))
            if let note = cell("note") { try record.addNote(note.secret(in: bytes)) }
            for (name, cell) in zip(names, row.cells)
            where !cell.isEmpty && !["ssid", "name", "passphrase", "note"].contains(name) {
                try record.addField(name, cell.secret(in: bytes))
            }
        }
    }
}
