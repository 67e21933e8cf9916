internal import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole
package import KCItemSources
internal import KCKeychainModel
internal import KCSandbox

/// The reader's side of the talk: enters the sandbox, and reads one file.
package struct ReaderService {
    private let catalogue: any ForeignCatalogue

    package init(_ catalogue: any ForeignCatalogue) { self.catalogue = catalogue }

    // The largest file twice, with room for a key derivation and for items.
    private static let addressSpace: UInt = 8 << 30

    /// Reads the request from standard input, and answers to standard output; returns the exit status.
    package func run() -> Int32 {
        let talk = ServiceTalk()
        do {
            let request = try talk.request()
            catalogue.prepare()
            do {
                if request.isSandboxed { try enter(request) }
                try answer(request, talk)
            } catch let failure as FrameFailure {
                throw failure
            } catch {
                try talk.send(.failure, Tagged(error))
            }
            try talk.flush()
            return 0
        } catch {
            // The process that started this one is gone.
            return 1
        }
    }

    private func enter(_ request: ReaderRequest) throws(SandboxFailure) {
        let folder: Int32? = request.input.kind == .folder ? ReceivedInput.first : nil
        let count = ReceivedInput.count(request.input) + (request.keyFile.map { ReceivedInput.count($0) } ?? 0)
        try Sandbox.enter(
            addressSpace: Self.addressSpace, reading: folder,
            keeping: (0..<Int32(count)).map { ReceivedInput.first + $0 })
    }

    private func answer(_ request: ReaderRequest, _ talk: ServiceTalk) throws {
        var number = ReceivedInput.first
        let received = ReceivedInput(request.input, &number)
        let keyFile = request.keyFile.map { ReceivedInput($0, &number) }
        let input = try received.open()
        if request.verb == .outline { return try send(try catalogue.outline(of: input), talk) }
        let chosen = request.kind.map { catalogue.format(of: $0, columns: request.columns) }
        // A table is read with the columns that the user chose, whatever else it could be.
        let format =
            try chosen.flatMap { request.columns.isEmpty ? nil : $0 } ?? catalogue.format(of: input, as: chosen)
        var fields = FieldWriter()
        fields.add(format.kind.rawValue)
        try talk.send(.format, fields.bytes)
        // If reading ends this process, what it was reading is known.
        try talk.flush()
        if request.verb == .recognise { return }
        if format.kind == .items, let file = input.file { return try send(file, talk) }
        let contents = try format.read(input, RemoteSecrets(talk, request, keyFile))
        try send(contents, request.wantsRecords ? records(of: input, format) : nil, talk)
    }

    private func records(of input: ForeignInput, _ format: any ForeignFormat) -> SeparableRecords? {
        guard let file = input.file else { return nil }
        return (format as? any SeparableFormat)?.separableRecords(of: file)
    }

    private func send(_ outline: KeyringOutline, _ talk: ServiceTalk) throws {
        var fields = FieldWriter()
        fields.add(outline.label)
        fields.add(outline.itemCount)
        fields.add(outline.isOfOO7)
        try talk.send(.outline, fields.bytes)
    }

    private func send(_ file: ForeignFile, _ talk: ServiceTalk) throws {
        try file.bytes.withBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: ReaderFrame.text.limit) {
                let piece = bytes.extracting(start..<min(bytes.count, start + ReaderFrame.text.limit))
                try talk.send(.text, SecretBytes(piece))
            }
        }
        try talk.send(.report, ReaderReport().fields)
    }

    private func send(_ contents: ForeignContents, _ records: SeparableRecords?, _ talk: ServiceTalk) throws {
        var items = ItemSender(talk)
        try contents.items.visitItems(&items)
        for item in contents.marked { try talk.send(.marked, SecretBytes(copying: item.uuid.bytes)) }
        try talk.send(.report, ReaderReport(contents, records).fields)
    }
}

/// Sends items as they are visited.
private struct ItemSender: ItemVisitor {
    private let talk: ServiceTalk
    private var content = SecretBox(capacity: 4_096)

    init(_ talk: ServiceTalk) { self.talk = talk }

    func wants(_ item: Item) -> Bool { true }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        secret.withBytes { ItemFrame.encode(line: line, secret: $0, into: &content.bytes) }
        try talk.send(.item, content.bytes)
    }

    func skip(damaged item: Item?) {}
}

/// An input whose descriptors were received.
struct ReceivedInput {
    private let input: ReaderRequest.Input
    private let file: OpenFile
    private let neighbours: ReceivedNeighbours

    /// The first descriptor; the others follow it.
    static let first: Int32 = 3

    /// The number of descriptors of an input.
    static func count(_ input: ReaderRequest.Input) -> Int { 1 + input.neighbours.count { $0.failure == nil } }

    /// - Parameter number: the number of the next descriptor.
    init(_ input: ReaderRequest.Input, _ number: inout Int32) {
        self.input = input
        file = OpenFile(owning: number, path: input.path)
        number += 1
        var files: [ExactText: Result<OpenFile, FileFailure>] = [:]
        let folder = Path.split(input.path).folder
        for (name, failure) in input.neighbours {
            if let failure {
                files[name.exact] = .failure(failure)
            } else {
                files[name.exact] = .success(OpenFile(owning: number, path: folder + "/" + name))
                number += 1
            }
        }
        neighbours = ReceivedNeighbours(realFolder: input.realFolder, files: files)
    }

    /// Reads a file or a pipe.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    func open() throws -> ForeignInput {
        switch input.kind {
        case .folder: return ForeignInput(path: input.path, .folder, neighbours: neighbours)
        case .file:
            let file = try ForeignFile(reading: file)
            return ForeignInput(path: input.path, .file(file), neighbours: neighbours)
        case .pipe:
            var source = PipeSource(pipe: file)
            let bytes: SecretBytes
            do throws(StreamFailure) {
                bytes = try source.readAll(limit: ForeignFile.sizeLimit, as: "size")
            } catch {
                guard case .limitExceeded = error.kind else { throw error }
                throw FileFailure(input.path, .tooLarge(limit: ForeignFile.sizeLimit))
            }
            let file = ForeignFile(name: Path.split(input.path).name, bytes, modified: input.date)
            return ForeignInput(path: input.path, .file(file), neighbours: neighbours)
        }
    }
}

/// The neighbours whose descriptors were received.
private struct ReceivedNeighbours: ForeignNeighbours {
    let realFolder: String?
    let files: [ExactText: Result<OpenFile, FileFailure>]

    func open(_ name: String) throws(FileFailure) -> OpenFile? { try files[name.exact]?.get() }
}
