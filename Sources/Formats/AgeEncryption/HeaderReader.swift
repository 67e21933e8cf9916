internal import ByteStreams

/// Reads a header line by line and buffers what was read beyond it.
struct HeaderReader<Source: ByteSource & ~Copyable>: ~Copyable {
    private var source: Source
    private var buffer = SecretBytes(capacity: pieceSize)
    private var position = 0

    private static var pieceSize: Int { 4_096 }

    init(_ source: consuming Source) {
        self.source = source
    }

    mutating func read() throws(AgeFailure) -> AgeHeader {
        try checkVersion()
        var stanzas: [Stanza] = []
        while true {
            let line = try nextLine()
            if let mac = Self.suffix(of: line, after: "--- ") {
                guard let bytes = Base64.decode(mac.span, padded: false), bytes.count == 32 else {
                    throw .malformedHeader("the MAC is not 32 bytes of canonical base 64")
                }
                guard !stanzas.isEmpty else { throw .malformedHeader("there are no recipients") }
                return AgeHeader(stanzas: stanzas, mac: bytes)
            }
            guard let arguments = Self.suffix(of: line, after: "-> ") else {
                throw .malformedHeader("a line is neither a recipient nor the end")
            }
            guard stanzas.count < AgeHeader.stanzaLimit else {
                throw .headerTooLarge("recipients", allowed: AgeHeader.stanzaLimit)
            }
            stanzas.append(try stanza(arguments))
        }
    }

    /// The rest of the file after the header.
    consuming func payload() -> PayloadSource<Source> {
        var rest = SecretBytes(capacity: 0)
        swap(&rest, &buffer)
        rest.removeFirst(position)
        return PayloadSource(rest: rest, source: source)
    }

    /// Checks the first bytes for the age magic before looking for the end of the line.
    private mutating func checkVersion() throws(AgeFailure) {
        while buffer.count < AgeHeader.versionPrefix.utf8.count, try fill() {}
        let (isArmor, isAge) = buffer.withBytes { bytes in
            (bytes.starts(with: AgeHeader.armorPrefix), bytes.starts(with: AgeHeader.versionPrefix))
        }
        if isArmor { throw .armored }
        guard isAge, let version = Self.suffix(of: try nextLine(), after: AgeHeader.versionPrefix) else {
            throw .notAnAgeFile
        }
        if version == Array(AgeHeader.version.utf8) { return }
        guard Stanza.isArgument(version) else {
            throw .malformedHeader("the version is not visible ASCII characters")
        }
        throw .unsupportedVersion
    }

    private mutating func stanza(_ text: [UInt8]) throws(AgeFailure) -> Stanza {
        let arguments = text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard arguments.allSatisfy(Stanza.isArgument) else {
            throw .malformedHeader("an argument is not visible ASCII characters")
        }
        let texts = arguments.map { String(decoding: $0, as: UTF8.self) }
        var body: [UInt8] = []
        while true {
            let line = try nextLine()
            guard line.count <= Stanza.columns else { throw .malformedHeader("a body line is too long") }
            guard let bytes = Base64.decode(line.span, padded: false) else {
                throw .malformedHeader("a body is not canonical base 64")
            }
            body += bytes
            if line.count < Stanza.columns { break }
        }
        return Stanza(type: texts[0], arguments: Array(texts.dropFirst()), body: body)
    }

    /// The next line without its line feed.
    private mutating func nextLine() throws(AgeFailure) -> [UInt8] {
        var searched = position
        while true {
            let (from, start) = (searched, position)
            let line: [UInt8]? = buffer.withBytes { bytes in
                guard let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: from) else { return nil }
                return (start..<end).map { bytes[$0] }
            }
            if let line {
                position += line.count + 1
                return line
            }
            searched = buffer.count
            guard searched < AgeHeader.sizeLimit else {
                throw .headerTooLarge("header bytes", allowed: AgeHeader.sizeLimit)
            }
            guard try fill() else { throw .malformedHeader("the file ends within the header") }
        }
    }

    /// Reads more, up to the header size limit; false at the end of the file.
    private mutating func fill() throws(AgeFailure) -> Bool {
        let before = buffer.count
        do {
            try buffer.append(upTo: min(Self.pieceSize, AgeHeader.sizeLimit - buffer.count)) {
                output throws(StreamFailure) in
                try source.read(into: &output)
            }
        } catch {
            throw .stream(error)
        }
        return buffer.count > before
    }

    private static func suffix(of line: [UInt8], after prefix: String) -> [UInt8]? {
        let prefix = Array(prefix.utf8)
        return line.starts(with: prefix) ? Array(line.dropFirst(prefix.count)) : nil
    }
}

/// The payload: first the buffered bytes, then the rest of the file.
struct PayloadSource<Source: ByteSource & ~Copyable>: ByteSource, ~Copyable {
    private var rest: SecretBytes
    private var source: Source

    init(rest: consuming SecretBytes, source: consuming Source) {
        self.rest = rest
        self.source = source
    }

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        if rest.isEmpty { return try source.read(into: &output) }
        let count = min(rest.count, output.freeCapacity)
        rest.withBytes { bytes in output.append(copying: bytes.extracting(0..<count)) }
        rest.removeFirst(count)
    }
}

extension Span<UInt8> {
    /// True if the bytes begin with `text`.
    func starts(with text: String) -> Bool {
        let start = Array(text.utf8)
        return count >= start.count && start.indices.allSatisfy { self[$0] == start[$0] }
    }
}
