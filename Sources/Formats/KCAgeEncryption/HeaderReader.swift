internal import KCByteStreams

/// Reads a header line by line and keeps the bytes that it has read beyond the header.
struct HeaderReader<Source: ByteSource & ~Copyable>: ~Copyable {
    private var lines: LineReader<Source>
    /// The number of bytes in the lines so far.
    private var length = 0

    init(_ source: consuming Source) {
        // No more than the size of most headers, since the bytes read beyond a header are kept.
        lines = LineReader(source, pieceSize: 4_096)
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
            try AgeHeader.requireRoom(forStanzas: stanzas.count + 1)
            stanzas.append(try stanza(arguments))
        }
    }

    /// The bytes after the header, as a source.
    consuming func payload() -> Remainder<Source> {
        lines.remainder()
    }

    /// Checks the first bytes for the age magic before looking for the end of the line.
    private mutating func checkVersion() throws(AgeFailure) {
        if try begins(with: AgeHeader.armorPrefix) { throw .armored }
        guard try begins(with: AgeHeader.versionPrefix),
            let version = Self.suffix(of: try nextLine(), after: AgeHeader.versionPrefix)
        else { throw .notAnAgeFile }
        if version == Array(AgeHeader.version.utf8) { return }
        guard Stanza.isArgument(version) else {
            throw .malformedHeader("the version is not visible ASCII characters")
        }
        throw .unsupportedVersion
    }

    private mutating func begins(with text: String) throws(AgeFailure) -> Bool {
        try failing(as: AgeFailure.stream, lines.begins(with: text))
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
        let end: LineEnd?
        do throws(LineFailure) {
            // The line feed counts as well.
            end = try lines.advance(limit: AgeHeader.sizeLimit - length - 1)
        } catch {
            switch error {
            case .tooLong: throw .headerTooLarge("header bytes", allowed: AgeHeader.sizeLimit)
            case .stream(let failure): throw .stream(failure)
            }
        }
        guard end == .lineFeed else { throw .malformedHeader("the file ends within the header") }
        let line = lines.withLine { bytes in bytes.indices.map { bytes[$0] } }
        length += line.count + 1
        return line
    }

    private static func suffix(of line: [UInt8], after prefix: String) -> [UInt8]? {
        let prefix = Array(prefix.utf8)
        return line.starts(with: prefix) ? Array(line.dropFirst(prefix.count)) : nil
    }
}
