internal import Glibc
internal import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole
internal import KCItemSources
internal import KCSandbox

/// The talk with a reader that was started, in which nothing that it says is believed.
final class ReaderTalk {
    private let dialogue: ChildDialogue
    private var reader: FrameReader<Output>
    private var writer: FrameWriter
    /// The content of the last frame.
    private(set) var content = SecretBytes(capacity: 4_096)
    /// The format that it recognized; nil before that.
    private(set) var kind: ForeignKind?
    /// True if it wanted the key file.
    private(set) var wantedKeyFile = false
    private let secrets: any ForeignSecrets
    private let request: ReaderRequest
    /// The questions that were asked, none of which a format asks twice.
    private var asked: Set<ReaderFrame> = []
    /// The last failure of a plugin, of which a reader is told nothing.
    private var pluginFailure: AgeFailure?

    // In bytes: what the formats themselves allow for a decrypted file.
    private static let decryptedLimit = 256 << 20
    // In bytes: several times as many as any file has, which may wait in the temporary folder.
    private static let limit = 4 * ForeignFile.sizeLimit
    // In bytes: the header of a wallet is shorter.
    private static let skipLimit = 4_096
    private var received = 0

    /// The output of the program.
    private struct Output: ByteSource {
        let dialogue: ChildDialogue

        mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
            try dialogue.read(into: &output)
        }
    }

    /// Starts a reader and sends the request.
    init(
        _ program: String, _ request: ReaderRequest, passing descriptors: [Int32], secrets: any ForeignSecrets,
        patience: Duration?
    ) throws {
        try CompanionProgram.require(program)
        do throws(ChildProgram.Failure) {
            dialogue = try ChildDialogue(program, [], environment: [:], patience: patience, passing: descriptors)
        } catch .notStarted(let code) {
            throw ReaderFailure(code == ENOENT ? .missing(path: program) : .notStarted(path: program, code))
        }
        let dialogue = dialogue
        reader = FrameReader(Output(dialogue: dialogue))
        writer = FrameWriter { bytes throws(StreamFailure) in try dialogue.write(bytes) }
        self.secrets = secrets
        self.request = request
        try send(.request, request.fields.copy())
    }

    /// Waits for the program to end, which has nothing more to say.
    ///
    /// - Throws: `ReaderFailure`, `StreamFailure`.
    func finish() throws {
        do throws(FrameFailure) {
            _ = try reader.next(ReaderFrame.self, limit: \.limit, into: &content)
        } catch {
            guard case .ended = error else { throw failure(error) }
            let ending = ended()
            if ending.problem == .ended(status: 0) { return }
            throw ending
        }
        throw breach("a frame after the last one")
    }

    /// The next frame that is no question.
    ///
    /// - Throws: `ReaderFailure`, `StreamFailure`; what the reader says is wrong; what reading secrets throws.
    func next() throws -> ReaderFrame {
        while true {
            let frame = try frame()
            switch frame {
            case .failure: throw try failure()
            case .format:
                guard kind == nil else { throw breach("a second format") }
                kind = try fields { fields, bytes throws(FieldReader.Breach) in
                    guard let kind = ForeignKind(rawValue: try fields.text(in: bytes)) else {
                        throw FieldReader.Breach("an unknown format")
                    }
                    return kind
                }
                return frame
            case .item, .text, .marked, .report, .outline:
                received += content.count
                guard received <= Self.limit else {
                    throw ForeignFailure.limit("bytes of items", found: UInt64(received), allowed: UInt64(Self.limit))
                }
                return frame
            case .tried: throw breach("an answer to nothing")
            case .keyFile: try noteKeyFile()
            case .password, .keyring, .gpg, .codes, .plugins: try answer(frame)
            }
        }
    }

    /// Reads the fields of the last frame.
    func fields<Value>(
        _ body: (inout FieldReader, borrowing Span<UInt8>) throws(FieldReader.Breach) -> Value
    ) throws -> Value {
        try proving { () throws(FieldReader.Breach) in
            try content.withBytes { bytes throws(FieldReader.Breach) in
                var fields = FieldReader()
                let value = try body(&fields, bytes)
                try fields.end(in: bytes)
                return value
            }
        }
    }

    /// Calls `body`, which proves what the reader has sent.
    func proving<Value>(_ body: () throws(FieldReader.Breach) -> Value) throws -> Value {
        do throws(FieldReader.Breach) {
            return try body()
        } catch {
            throw breach(error.rule)
        }
    }

    func breach(_ rule: String) -> ReaderFailure { ReaderFailure(.misbehaved(rule), reading: kind) }

    // MARK: Questions

    private func answer(_ question: ReaderFrame) throws {
        guard let kind else { throw breach("a question before the format") }
        if [.password, .keyring].contains(question), !asked.insert(question).inserted {
            throw breach("a question that was asked before")
        }
        switch question {
        case .password:
            let tagged = try fields { fields, bytes throws(FieldReader.Breach) in try Tagged(&fields, in: bytes) }
            guard let what = ForeignPassword(tagged), kind.asks(for: what) else {
                throw breach("a question for a password that the format does not have")
            }
            try secrets.password(what) { password in try attempt(password) }
        case .keyring:
            let wanted = try fields { fields, bytes throws(FieldReader.Breach) in
                let tagged = try Tagged(&fields, in: bytes)
                guard let wanted = KeyringItems(tagged) else { throw FieldReader.Breach("unknown items of a keyring") }
                return wanted
            }
            let folder = request.input.kind == .folder ? request.input.path : request.input.realFolder
            guard wanted == kind.keyringItems(inFolder: folder) else {
                throw breach("a question for items that open no file of the format")
            }
            try secrets.keyringSecrets(wanted) { secret in try send(.secret, secret.copy()) }
            try send(.end, SecretBytes(capacity: 0))
        case .gpg:
            let (name, count, limit) = try fields { fields, bytes throws(FieldReader.Breach) in
                (try fields.text(in: bytes), try fields.count(in: bytes), try fields.count(in: bytes))
            }
            guard kind.isOpenedByGPG, count <= Self.skipLimit else { throw breach("a question for gpg") }
            let path = try place(of: name)
            try sendResult { try secrets.decryptedByGPG(path, skipping: count, limit: min(limit, Self.decryptedLimit)) }
        case .codes:
            let (name, limit) = try fields { fields, bytes throws(FieldReader.Breach) in
                (try fields.text(in: bytes), try fields.count(in: bytes))
            }
            guard kind == .qrPicture else { throw breach("a question for a picture") }
            let path = try place(of: name)
            try sendResult { try secrets.textOfQRCodes(in: path, limit: min(limit, Self.decryptedLimit)) }
        case .plugins:
            guard kind == .passage else { throw breach("a question for plugins") }
            try unwrap()
        case .format, .item, .text, .marked, .report, .outline, .failure, .tried, .keyFile:
            preconditionFailure("a frame that asks nothing")
        }
    }

    /// Hands over a password, and throws what the reader says of it.
    private func attempt(_ password: borrowing SecretBytes) throws {
        try send(.secret, password.copy())
        while true {
            let frame = try frame()
            switch frame {
            case .tried:
                if content.isEmpty { return }
                throw try failure()
            case .keyFile: try noteKeyFile()
            case .failure: throw try failure()
            case .keyring, .gpg, .codes, .plugins: try answer(frame)
            case .format, .item, .text, .marked, .report, .outline, .password:
                throw breach("a frame in the place of an answer to a password")
            }
        }
    }

    /// Notes that the format wants the key file, which the reader has, unless that cannot be opened.
    private func noteKeyFile() throws {
        wantedKeyFile = true
        _ = try secrets.keyFile()
    }

    /// The path of a file that the reader names: the input itself, or a file below it.
    private func place(of name: String) throws -> String {
        if name.isEmpty { return request.input.path }
        var place = request.input.path
        let parts = name.exact.split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            guard !part.isEmpty, ![".", ".."].contains(part), !part.utf8.contains(0) else {
                throw breach("the name of a file that is not below the input")
            }
            place += "/" + part
            // A link could lead elsewhere.
            guard try Path.kind(of: place) == (index == parts.count - 1 ? .file : .folder) else {
                throw breach("a file that is not below the input")
            }
        }
        return place
    }

    /// Sends bytes, or why they are not there as far as a format can deal with that.
    private func sendResult(_ body: () throws -> SecretBytes) throws {
        let bytes: SecretBytes
        do {
            bytes = try body()
        } catch let failure as UnopenedFile {
            return try send(.failure, failure)
        } catch let failure as ForeignFailure {
            return try send(.failure, failure)
        }
        try send(.secret, bytes)
    }

    /// Has plugins unwrap the keys of files.
    private func unwrap() throws {
        guard let host = secrets.agePlugins else { throw breach("a question for plugins, of which there are none") }
        let (identities, headers) = try proving { () throws(FieldReader.Breach) in
            try content.withBytes { bytes throws(FieldReader.Breach) in try Self.plugins(bytes, host) }
        }
        let keys: [FileKey?]
        do throws(AgeFailure) {
            keys = try host.unwrap(headers, with: identities)
        } catch {
            guard case .plugin = error else { throw error }
            pluginFailure = error
            return try send(.failure, error)
        }
        for key in keys {
            if let key { try send(.secret, key.bytes) } else { try send(.secret, SecretBytes(capacity: 0)) }
        }
    }

    private static func plugins(
        _ bytes: borrowing Span<UInt8>, _ host: any PluginHost
    ) throws(FieldReader.Breach) -> ([PluginIdentity], [AgeHeader]) {
        var fields = FieldReader()
        let identities = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            let range = try fields.data(in: bytes)
            guard let identity = PluginIdentity.parse(bytes.extracting(range), host: host) else {
                throw FieldReader.Breach("no identity of a plugin")
            }
            return identity
        }
        guard Set(identities.map(\.plugin)).count == 1 else {
            throw FieldReader.Breach("identities of several plugins")
        }
        let headers = try fields.list(in: bytes) { fields, bytes throws(FieldReader.Breach) in
            let range = try fields.data(in: bytes)
            do throws(AgeFailure) {
                return try AgeHeader.read(from: MemorySource(SecretBytes(bytes.extracting(range))))
            } catch {
                throw FieldReader.Breach("no header of an age file")
            }
        }
        try fields.end(in: bytes)
        return (identities, headers)
    }

    // MARK: Frames

    private func send(_ frame: AnswerFrame, _ content: consuming SecretBytes) throws {
        do throws(StreamFailure) {
            try content.withBytes { bytes throws(StreamFailure) in try writer.add(frame, bytes) }
            try writer.flush()
        } catch {
            // How the program ended tells more.
            guard error.systemCode == EPIPE else { throw error }
            throw ended()
        }
    }

    private func send(_ frame: AnswerFrame, _ failure: any Error) throws {
        var fields = FieldWriter()
        Tagged(failure).write(to: &fields)
        try send(frame, fields.bytes.copy())
    }

    private func frame() throws -> ReaderFrame {
        do throws(FrameFailure) {
            return try reader.next(ReaderFrame.self, limit: \.limit, into: &content)
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ failure: FrameFailure) -> any Error {
        switch failure {
        case .ended: ended()
        case .breach(let rule): breach(rule)
        case .stream(let failure):
            failure.systemCode == ETIMEDOUT ? ReaderFailure(.overdue, reading: kind) : failure as any Error
        }
    }

    /// The failure in the last frame.
    private func failure() throws -> any Error {
        let failure = try fields { fields, bytes throws(FieldReader.Breach) in
            guard let failure = try Tagged(&fields, in: bytes).error else {
                throw FieldReader.Breach("an unknown failure")
            }
            return failure
        }
        switch failure {
        case let failure as SandboxFailure: return ReaderFailure(.noSandbox(failure))
        case let failure as UnforeseenFailure: return ReaderFailure(.unforeseen(type: failure.type), reading: kind)
        case AgeFailure.plugin: return pluginFailure ?? breach("the failure of a plugin that did not fail")
        default: return failure
        }
    }

    /// Why there is no further frame.
    private func ended() -> ReaderFailure {
        guard let status = dialogue.awaitEnd() else { return breach("it stopped to answer, and did not end") }
        if status == RefusedCall.status {
            return ReaderFailure(.stopped(RefusedCall(endOf: Array(dialogue.endOfMessages.utf8))), reading: kind)
        }
        let isSignal = (129..<193).contains(status)
        return ReaderFailure(isSignal ? .crashed(signal: status - 128) : .ended(status: status), reading: kind)
    }
}
