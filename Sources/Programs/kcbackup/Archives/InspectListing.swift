internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// The list of an archive's items: measured in a first pass, and printed row by row in a second if there are too many
/// to hold.
///
/// The first pass keeps only widths and counts, so that a million items need not be held in memory.
final class InspectListing {
    private let outline: ArchiveOutline
    private let path: String
    private let proven: ProvenArchive
    private let selection: InspectSelection
    private let table: StreamedTable
    private let session: Session
    private var summary = InspectSummary()
    private var output: ResultBuffer
    private var row = TableRow()
    private var held = HeldJSON()

    init(
        outline: ArchiveOutline, path: String, proven: ProvenArchive, selection: InspectSelection,
        table: StreamedTable, session: Session
    ) {
        self.outline = outline
        self.path = path
        self.proven = proven
        self.selection = selection
        self.table = table
        self.session = session
        output = ResultBuffer(session)
    }

    /// - Parameter isFirst: false if another archive was listed before.
    func print(isFirst: Bool) throws {
        if !isFirst, !session.style.isJSON { output.bytes.append(utf8: "\n") }
        let progress = Progress("reading items", in: session, reading: proven.opened, 1, metadata: 1)
        var isMeasured = false
        try proven.inspect {
            // The rows themselves show the progress in the second pass.
            if !isMeasured { progress.step() }
        } survey: { item in
            guard selection.includes(item) else { return }
            summary.add(item, selection.verdict(item))
            if session.style.isJSON {
                try held.append(json(item))
            } else {
                write(item)
                table.survey(row)
            }
        } begin: { read in
            isMeasured = true
            progress.finish()
            try begin(read)
        } unless: {
            isComplete
        } show: { item in
            guard selection.includes(item) else { return }
            try show(item)
        }
        try end()
    }

    /// The columns of the list; the last one shows verdicts or, if only items that stay behind are listed, reasons.
    static func columns(_ staysBehind: Bool) -> [Table.Column] {
        ItemColumns.all + [Table.Column(title: staysBehind ? "REASON" : "VERDICT")]
    }

    /// Replaces `row` with the cells of an item.
    private func write(_ item: Item) {
        let verdict = selection.verdict(item)
        ItemColumns.write(item, session.calendar, in: outline.header.mode, to: &row)
        row.append(selection.onlyStaying ? verdict.reasonWord : verdict.word)
    }

    private func begin(_ read: ReadMetadata) throws {
        summary.contents = read.contents
        if session.style.isJSON {
            // The output is one object; its last member is the list, which is written item by item.
            let head = JSONValue.members([
                ("archive", outline.json(path)), ("verified", true), ("outsideVerified", true),
                ("origin", proven.origin.json),
                ("source", read.source.json), ("contents", read.contents.json),
            ])
            try head.encode(into: &output.bytes)
            output.bytes.removeLast(1)
            output.bytes.append(utf8: ",\"items\":[")
            return
        }
        let origin = ["of          \(read.source.words)\n", "origin      \(proven.origin.words)\n"]
        for line in session.prose(outline.lines(path, session.calendar) + origin) { output.bytes.append(utf8: line) }
        if summary.total > 0 { output.bytes.append(utf8: "\n" + table.header) }
    }

    private func show(_ item: Item) throws {
        if session.style.isJSON {
            if summary.shown > 0 { output.bytes.append(UInt8(ascii: ",")) }
            try json(item).encode(into: &output.bytes)
        } else {
            write(item)
            table.append(row, to: &output.bytes)
        }
        summary.shown += 1
        try output.flushIfLarge()
    }

    /// True if all items are held, so that none must be read again.
    private var isComplete: Bool { session.style.isJSON ? held.isWhole : table.isSorted }

    private func json(_ item: Item) -> JSONValue {
        .item(item).adding([("verdict", selection.verdict(item).json)])
    }

    private func end() throws {
        if session.style.isJSON {
            output.bytes.append(held.bytes.span)
            output.bytes.append(utf8: "]}\n")
        } else {
            try output.append(sortedRowsOf: table)
            var lines = summary.lines
            if summary.total > 0, !table.leftOut.isEmpty { lines.append(ItemColumns.left(out: table) + "\n") }
            if table.isTooLongToSort { lines.append(ItemColumns.notSorted + "\n") }
            for line in session.prose(lines) { output.bytes.append(utf8: line) }
        }
        try output.flush()
    }
}
