internal import KCByteStreams

// How a folder is listed, in one way for all purposes.

extension Rclone {
    /// Passes on what is listed of each file in a folder.
    ///
    /// The form with commas is the only one that tells a line feed in a name from the end of a line.
    ///
    /// - Parameters:
    ///   - place: the folder as an operand, which may be one of this machine.
    ///   - folder: the folder that failures are of.
    ///   - format: a letter for each field, as of `lsf`: `s` for the size, `p` for the path, `t` for the time, `h` for a hash.
    ///   - visit: takes the fields, which need not be text.
    /// - Throws: `RemoteFailure.unclear` for what is no listing, and as `visit` and the runner.
    func list(
        _ place: String, of folder: RemoteLocation, format: String, _ flags: [String] = [],
        _ visit: (_ fields: [[UInt8]]) throws -> Void
    ) throws -> ProgramEnding {
        var record = CSVRecord(count: format.utf8.count)
        let arguments = ["lsf", "--files-only", "--format", format, "--csv"] + flags
        let ending = try call(arguments, [place]) { piece in
            for index in piece.indices {
                if let fields = record.take(piece[index]) { try visit(fields) }
                if record.isMalformed { throw RemoteFailure.unclear(folder) }
            }
        }
        if ending.status == 0, !record.isEmpty { throw RemoteFailure.unclear(folder) }
        return ending
    }
}

/// A record of comma-separated values (RFC 4180), read byte by byte.
private struct CSVRecord {
    // In bytes: two paths, each of whose bytes is a quotation mark.
    private static let limit = 16_384

    private enum State { case start, plain, quoted, quote }
    private var state = State.start
    private var fields: [[UInt8]] = []
    private var field: [UInt8] = []
    /// The number of fields of each record.
    let count: Int
    /// True if what was read is no record.
    private(set) var isMalformed = false

    init(count: Int) { self.count = count }

    /// True between two records.
    var isEmpty: Bool { fields.isEmpty && field.isEmpty && state == .start }

    /// Takes in a byte, and returns the record that it ends.
    mutating func take(_ byte: UInt8) -> [[UInt8]]? {
        let mark = UInt8(ascii: "\"")
        switch (state, byte) {
        case (.quoted, mark): state = .quote
        case (.quoted, _): append(byte)
        case (.quote, mark):
            append(byte)
            state = .quoted
        case (.start, mark): state = .quoted
        case (_, UInt8(ascii: ",")): endField()
        case (_, UInt8(ascii: "\n")):
            endField()
            defer { fields = [] }
            if fields.count == count { return fields }
            isMalformed = true
        case (.quote, _), (.plain, mark): isMalformed = true
        default:
            append(byte)
            state = .plain
        }
        return nil
    }

    private mutating func append(_ byte: UInt8) {
        field.append(byte)
        if field.count > Self.limit { isMalformed = true }
    }

    private mutating func endField() {
        fields.append(field)
        field = []
        state = .start
        if fields.count > count { isMalformed = true }
    }
}
