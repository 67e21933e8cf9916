internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// The task of a reader; the first frame that it is sent.
struct ReaderRequest {
    /// The kinds of tasks.
    enum Verb: String {
        case recognise, read, outline
    }

    var verb: Verb
    var isSandboxed: Bool
    var kind: ForeignKind?
    var columns: [ChosenColumn: String] = [:]
    /// True to find the records that can be taken out of the file.
    var wantsRecords = false
    var isPasswordGiven = false
    var hasPlugins = false
    var input: Input
    var keyFile: Input?

    /// An input, as its descriptors alone do not tell.
    struct Input {
        let path: String
        let kind: ReaderInput.Kind
        let realFolder: String?
        let date: Timestamp
        /// The neighbours; nil for one with a descriptor.
        let neighbours: [(name: String, failure: FileFailure?)]

        init(_ input: ReaderInput) {
            path = input.path
            kind = input.kind
            realFolder = input.realFolder
            date = input.date ?? .reference
            neighbours = input.neighbours.map { neighbour in
                if case .failure(let failure) = neighbour.file {
                    (neighbour.name, failure)
                } else {
                    (neighbour.name, nil)
                }
            }
        }

        init(_ fields: inout FieldReader, in bytes: borrowing Span<UInt8>) throws(FieldReader.Breach) {
            path = try fields.text(in: bytes)
            guard let kind = ReaderInput.Kind(rawValue: try fields.text(in: bytes)),
                let date = Timestamp(microseconds: try fields.number(in: bytes))
            else { throw FieldReader.Breach("an input is of an unknown kind or time") }
            self.kind = kind
            self.date = date
            let folder = try fields.text(in: bytes)
            realFolder = folder.isEmpty ? nil : folder
            neighbours = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
                let name = try fields.text(in: bytes)
                guard try fields.flag(in: bytes) else { return (name, nil) }
                guard let failure = try Tagged(&fields, in: bytes).error as? FileFailure else {
                    throw FieldReader.Breach("a file is neither open nor closed")
                }
                return (name, failure)
            }
        }

        func write(to fields: inout FieldWriter) {
            fields.add(path)
            fields.add(kind.rawValue)
            fields.add(date.microseconds)
            fields.add(realFolder ?? "")
            fields.add(neighbours) { fields, neighbour in
                fields.add(neighbour.name)
                fields.add(neighbour.failure != nil)
                if let failure = neighbour.failure { Tagged(failure as any Error).write(to: &fields) }
            }
        }
    }

    init(_ verb: Verb, isSandboxed: Bool, _ input: Input) {
        self.verb = verb
        self.isSandboxed = isSandboxed
        self.input = input
    }

    init(_ bytes: borrowing Span<UInt8>) throws(FieldReader.Breach) {
        var fields = FieldReader()
        guard let verb = Verb(rawValue: try fields.text(in: bytes)) else { throw FieldReader.Breach("an unknown verb") }
        self.verb = verb
        isSandboxed = try fields.flag(in: bytes)
        let name = try fields.text(in: bytes)
        kind = ForeignKind(rawValue: name)
        guard kind != nil || name.isEmpty else { throw FieldReader.Breach("an unknown format") }
        let pairs = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            guard let column = ChosenColumn(rawValue: try fields.text(in: bytes)) else {
                throw FieldReader.Breach("an unknown column")
            }
            return (column, try fields.text(in: bytes))
        }
        columns = Dictionary(pairs) { first, _ in first }
        wantsRecords = try fields.flag(in: bytes)
        isPasswordGiven = try fields.flag(in: bytes)
        hasPlugins = try fields.flag(in: bytes)
        input = try Input(&fields, in: bytes)
        keyFile = try fields.flag(in: bytes) ? try Input(&fields, in: bytes) : nil
        try fields.end(in: bytes)
    }

    var fields: SecretBytes {
        var fields = FieldWriter()
        fields.add(verb.rawValue)
        fields.add(isSandboxed)
        fields.add(kind?.rawValue ?? "")
        fields.add(columns.sorted { $0.key.rawValue < $1.key.rawValue }) { fields, column in
            fields.add(column.key.rawValue)
            fields.add(column.value)
        }
        fields.add(wantsRecords)
        fields.add(isPasswordGiven)
        fields.add(hasPlugins)
        input.write(to: &fields)
        fields.add(keyFile != nil)
        keyFile?.write(to: &fields)
        return fields.bytes.copy()
    }
}
