internal import AgeEncryption
internal import ByteStreams
internal import GzipStreams

/// A stream on its way into a spooled file: encrypted by age, or as it is.
struct ProtectedSink: ByteSink, ~Copyable {
    private var encrypted: AgeEncryptor<UnnamedFileSink>?
    private var clear: UnnamedFileSink?

    /// Writes to `file`; no recipients mean no encryption.
    init(_ file: UnnamedFile, recipients: [any Recipient]) throws(AgeFailure) {
        if recipients.isEmpty {
            clear = UnnamedFileSink(file)
        } else {
            encrypted = try AgeEncryptor(recipients: recipients, to: UnnamedFileSink(file))
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

/// A stream on its way out of an archive: decrypted by age, or as it is.
struct ProtectedSource: ByteSource, ~Copyable {
    private var encrypted: AgeDecryptor<FileSlice>?
    private var clear: FileSlice?

    /// Reads bytes that were never encrypted.
    init(clear slice: FileSlice) {
        clear = slice
    }

    /// Reads an age file with whichever of `identities` opens it.
    init(encrypted slice: FileSlice, identities: [any Identity]) throws(AgeFailure) {
        encrypted = try AgeDecryptor(slice, identities: identities)
    }

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        try encrypted?.read(into: &output)
        try clear?.read(into: &output)
    }
}
