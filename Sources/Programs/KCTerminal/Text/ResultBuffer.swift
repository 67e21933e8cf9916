internal import KCByteStreams
internal import KCConsole
package import KCReportText

/// Collects the results of a run and writes them in large pieces; JSON is escaped for its reader.
package struct ResultBuffer {
    /// The bytes that have not been written yet.
    package var bytes: [UInt8] = []

    private let session: Session

    // In bytes; large enough that the cost of writing is negligible.
    private static let size = 65_536

    package init(_ session: Session) {
        self.session = session
    }

    /// Adds JSON, and writes it in pieces.
    ///
    /// - Throws: `Failure`, and what making the values of a list throws.
    package mutating func append(_ json: JSONValue) throws {
        var piece: [UInt8] = []
        swap(&piece, &bytes)
        try json.encode(into: &piece) { piece in
            guard piece.count >= Self.size else { return }
            swap(&piece, &bytes)
            try flush()
            swap(&piece, &bytes)
        }
        swap(&piece, &bytes)
    }

    /// Adds the rows that a table holds, and writes them in pieces.
    package mutating func append(sortedRowsOf table: StreamedTable) throws(Failure) {
        try table.forEachSortedRow { line throws(Failure) in
            bytes.append(line)
            try flushIfLarge()
        }
    }

    /// Writes the buffer if it is large; must be called between two JSON values.
    package mutating func flushIfLarge() throws(Failure) {
        if bytes.count >= Self.size { try flush() }
    }

    /// Writes the buffer.
    package mutating func flush() throws(Failure) {
        if session.style.isJSON {
            var json: [UInt8] = []
            session.append(json: bytes.span, to: &json)
            bytes = json
        }
        try session.write(bytes.span)
        bytes.removeAll(keepingCapacity: true)
    }
}
