internal import KCAgeEncryption
internal import KCByteStreams
internal import KCCryptography
internal import KCGzipStreams

/// Writes a stream to a spooled file, either encrypted by age or unencrypted.
struct ProtectedSink: ByteSink, ~Copyable {
    private var encrypted: AgeEncryptor<UnnamedFileSink>?
    private var clear: UnnamedFileSink?
    /// Opens the stream for reading once it is written.
    let opener: StreamOpener

    /// Writes to `file`, unencrypted if there is no key.
    init(_ file: UnnamedFile, under key: NewFileKey?) throws(AgeFailure) {
        if let key {
            let encryptor = try AgeEncryptor(key, to: UnnamedFileSink(file))
            opener = .opened(by: encryptor.reader)
            encrypted = consume encryptor
        } else {
            clear = UnnamedFileSink(file)
            opener = .clear
        }
    }

    mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        try encrypted?.write(bytes)
        try clear?.write(bytes)
    }

    consuming func finish() throws(StreamFailure) -> SpooledFile {
        if let encrypted = encrypted.take() { return try encrypted.finish() }
        guard let clear = clear.take() else { throw StreamFailure(.writing, .library("a stream was finished twice")) }
        return try clear.finish()
    }
}

/// Reads a stream of an archive, either encrypted by age or unencrypted.
struct ProtectedSource: ByteSource, ~Copyable {
    private var encrypted: AgeDecryptor<ProvenSource>?
    private var clear: ProvenSource?
    /// The number of recipients that can open it; nil if it is not encrypted.
    let recipientCount: Int?

    /// Reads an unencrypted stream.
    init(clear source: consuming ProvenSource) {
        clear = consume source
        recipientCount = nil
    }

    /// Reads an age file whose key was unwrapped before.
    init(encrypted source: consuming ProvenSource, under key: FileKey) throws(AgeFailure) {
        let decryptor = try AgeDecryptor(source, identities: [key])
        recipientCount = decryptor.recipientCount
        encrypted = consume decryptor
    }

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        try encrypted?.read(into: &output)
        try clear?.read(into: &output)
    }
}

/// The bytes of a member, which must be the ones that were signed.
///
/// The source reaches its end only if the hash is right, and every stage above must see that end to complete.
struct ProvenSource: ByteSource, ~Copyable {
    private var slice: FileSlice
    private var hash = SHA256()
    private let member: ArchiveMember
    /// Nil for a second reading, which is compared after decryption; that hashes it anyway.
    private let expected: SHA256Digest?
    private var isOver = false

    init(_ slice: FileSlice, of member: ArchiveMember, expected: SHA256Digest?) {
        self.slice = slice
        self.member = member
        self.expected = expected
    }

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        guard !isOver else { return }
        let before = output.count
        try slice.read(into: &output)
        guard let expected else { return }
        if output.count > before {
            hash.update(output.span.extracting(before..<output.count))
            return
        }
        isOver = true
        var whole = SHA256()
        swap(&whole, &hash)
        guard whole.finalize() == expected else {
            throw StreamFailure(.reading, .malformed("'\(member.name)' does not match its checksum"))
        }
    }
}
