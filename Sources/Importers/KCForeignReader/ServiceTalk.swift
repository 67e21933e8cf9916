internal import Glibc
internal import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole
internal import KCItemSources

/// The talk with the process that started this one.
final class ServiceTalk {
    private var reader = FrameReader(PipeSource(pipe: OpenFile(owning: 0, path: "standard input")))
    private var writer: FrameWriter
    private var content = SecretBytes(capacity: 4_096)

    init() {
        let output = OpenFile(owning: 1, path: "standard output")
        writer = FrameWriter { bytes throws(StreamFailure) in try output.write(bytes) }
    }

    /// The request, which comes first.
    func request() throws -> ReaderRequest {
        guard try next() == .request else { throw FrameFailure.breach("no request") }
        return try content.withBytes { try ReaderRequest($0) }
    }

    /// - Throws: `ForeignFailure.limit` for more than a frame may have.
    func send(_ frame: ReaderFrame, _ content: borrowing SecretBytes) throws {
        guard content.count <= frame.limit else {
            throw ForeignFailure.limit(
                "bytes of names and numbers", found: UInt64(content.count), allowed: UInt64(frame.limit))
        }
        try content.withBytes { bytes throws(StreamFailure) in try writer.add(frame, bytes) }
    }

    func send(_ frame: ReaderFrame, _ tagged: Tagged) throws {
        var fields = FieldWriter()
        tagged.write(to: &fields)
        try send(frame, fields.bytes)
    }

    func flush() throws { try writer.flush() }

    /// The next secret; nil if none follows.
    ///
    /// - Throws: what is wrong, if it cannot be had.
    func secret() throws -> SecretBytes? {
        switch try next() {
        case .secret: return content.copy()
        case .end: return nil
        case .failure:
            let error = try content.withBytes { bytes in
                var fields = FieldReader()
                return try Tagged(&fields, in: bytes).error
            }
            throw error ?? FrameFailure.breach("an unknown failure")
        case .request: throw FrameFailure.breach("a second request")
        }
    }

    private func next() throws(FrameFailure) -> AnswerFrame {
        do throws(StreamFailure) {
            try writer.flush()
        } catch {
            throw .stream(error)
        }
        return try reader.next(AnswerFrame.self, limit: \.limit, into: &content)
    }
}

/// Asks the process that started this one for the secrets.
struct RemoteSecrets: ForeignSecrets {
    private let talk: ServiceTalk
    private let path: String
    private let keyFileInput: ReceivedInput?
    let isPasswordGiven: Bool
    private let hasPlugins: Bool

    init(_ talk: ServiceTalk, _ request: ReaderRequest, _ keyFile: ReceivedInput?) {
        self.talk = talk
        path = request.input.path
        keyFileInput = keyFile
        isPasswordGiven = request.isPasswordGiven
        hasPlugins = request.hasPlugins
    }

    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
        try ask(.password) { what.tagged.write(to: &$0) }
        while true {
            let password = try needed()
            do {
                try use(password)
                return try talk.send(.tried, SecretBytes(capacity: 0))
            } catch let failure as FrameFailure {
                throw failure
            } catch {
                // Another password may follow.
                try talk.send(.tried, Tagged(error))
            }
        }
    }

    func keyFile() throws -> ForeignFile? { try keyInput()?.file }

    func keyInput() throws -> ForeignInput? {
        try talk.send(.keyFile, SecretBytes(capacity: 0))
        return try keyFileInput?.open()
    }

    func keyringSecrets(_ wanted: KeyringItems, _ use: (borrowing SecretBytes) throws -> Void) throws {
        try ask(.keyring) { wanted.tagged.write(to: &$0) }
        var found: [SecretBox] = []
        while let secret = try talk.secret() { found.append(SecretBox(secret)) }
        for secret in found { try use(secret.bytes) }
    }

    func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes {
        try ask(.gpg) { fields in
            fields.add(name(of: path))
            fields.add(count)
            fields.add(limit)
        }
        return try needed()
    }

    func textOfQRCodes(in path: String, limit: Int) throws -> SecretBytes {
        try ask(.codes) { fields in
            fields.add(name(of: path))
            fields.add(limit)
        }
        return try needed()
    }

    var agePlugins: (any PluginHost)? { hasPlugins ? RemotePlugins(talk) : nil }

    /// The name of a file below the input; empty for the input itself.
    private func name(of file: String) -> String { file.exact.removingPrefix(path + "/") ?? "" }

    private func ask(_ frame: ReaderFrame, _ body: (inout FieldWriter) -> Void) throws {
        var fields = FieldWriter()
        body(&fields)
        try talk.send(frame, fields.bytes)
    }

    private func needed() throws -> SecretBytes {
        guard let secret = try talk.secret() else { throw FrameFailure.breach("no answer") }
        return secret
    }
}

/// Has the process that started this one run the plugins.
private final class RemotePlugins: PluginHost, @unchecked Sendable {
    // Used by the one thread of a reader.
    private let talk: ServiceTalk

    init(_ talk: ServiceTalk) { self.talk = talk }

    func wrap(_ fileKeys: [FileKey], for recipients: [PluginRecipient]) throws(AgeFailure) -> [WrappedFileKey] {
        throw .noRecipients
    }

    func unwrap(_ headers: [AgeHeader], with identities: [PluginIdentity]) throws(AgeFailure) -> [FileKey?] {
        var fields = FieldWriter()
        fields.add(identities) { fields, identity in identity.withText { fields.add($0) } }
        fields.add(headers) { $0.add($1.text) }
        var keys: [FileKey?] = []
        do {
            try talk.send(.plugins, fields.bytes)
            for header in headers {
                guard let key = try talk.secret() else { throw FrameFailure.ended }
                keys.append(key.isEmpty ? nil : try FileKey.of(header, key))
            }
        } catch let failure as AgeFailure {
            throw failure
        } catch ForeignFailure.limit(_, _, let allowed) {
            throw .headerTooLarge("size of the headers of all files", allowed: Int(allowed))
        } catch {
            throw .stream(StreamFailure(.reading, .system(EPIPE)))
        }
        return keys
    }
}
