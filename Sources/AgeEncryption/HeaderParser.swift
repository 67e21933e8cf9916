public import ByteStreams

/// Reads a header line by line; every rule of the specification's grammar has its refusal here.
struct HeaderParser {
    private enum Expected {
        case version
        case stanzaOrCode
        case body(words: [String], text: [UInt8])
    }

    private var expected = Expected.version
    private var stanzas: [Stanza] = []

    /// Takes the next line, without its line feed; returns the header after its last line.
    mutating func add(_ line: [UInt8]) throws(AgeFailure) -> AgeHeader? {
        switch expected {
        case .version:
            try Self.checkVersion(line)
            expected = .stanzaOrCode
        case .stanzaOrCode:
            if line.starts(with: AgeHeader.codeStart.utf8) { return try end(line) }
            expected = .body(words: try words(line), text: [])
        case .body(let words, let text):
            try addBody(line, words, text)
        }
        return nil
    }

    /// Tells early, and by name, what is no age file, or one in armor.
    static func checkVersion(_ line: [UInt8]) throws(AgeFailure) {
        if line.starts(with: "-----BEGIN AGE".utf8) { throw .armored }
        guard line.starts(with: AgeHeader.versionStart.utf8) else { throw .notAnAgeFile }
        if line == Array(AgeHeader.versionLine.utf8) { return }
        let version = line.dropFirst(AgeHeader.versionStart.utf8.count)
        guard Stanza.isArgument(version) else { throw .malformedHeader("a version is visible ASCII") }
        throw .unsupportedVersion
    }

    private func words(_ line: [UInt8]) throws(AgeFailure) -> [String] {
        guard line.starts(with: AgeHeader.stanzaStart.utf8) else {
            throw .malformedHeader("a line begins a stanza or is the MAC")
        }
        guard stanzas.count < AgeHeader.stanzaLimit else {
            throw .headerLimit("stanzas", allowed: AgeHeader.stanzaLimit)
        }
        let words = line.dropFirst(AgeHeader.stanzaStart.utf8.count)
            .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.allSatisfy(Stanza.isArgument) else {
            throw .malformedHeader("an argument is one or more visible ASCII characters")
        }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func addBody(_ line: [UInt8], _ words: [String], _ before: [UInt8]) throws(AgeFailure) {
        guard line.count <= AgeHeader.columns else { throw .malformedHeader("a body line has at most 64 characters") }
        let text = before + line
        if line.count == AgeHeader.columns {
            expected = .body(words: words, text: text)
            return
        }
        guard let body = Base64.decode(text.span, padded: false) else {
            throw .malformedHeader("a body is canonical base 64")
        }
        stanzas.append(Stanza(type: words[0], arguments: Array(words.dropFirst()), body: body))
        expected = .stanzaOrCode
    }

    private func end(_ line: [UInt8]) throws(AgeFailure) -> AgeHeader {
        let start = AgeHeader.codeStart + " "
        guard line.starts(with: start.utf8) else { throw .malformedHeader("the MAC follows --- and a space") }
        guard !stanzas.isEmpty else { throw .malformedHeader("there is at least one stanza") }
        let text = Array(line.dropFirst(start.utf8.count))
        guard let code = Base64.decode(text.span, padded: false), code.count == 32 else {
            throw .malformedHeader("the MAC is 32 bytes in canonical base 64")
        }
        return AgeHeader(stanzas: stanzas, code: code)
    }
}

extension AgeHeader {
    /// Reads the header from the beginning of a file, for whoever has no key and wants to know the ways in.
    ///
    /// - Throws: `AgeFailure` (`notAnAgeFile`, `armored`, `unsupportedVersion`, `malformedHeader`, `headerLimit`,
    ///   `stream`). Nothing in the result is authenticated.
    public static func read<Source: ByteSource & ~Copyable>(
        from source: inout Source
    ) throws(AgeFailure) -> AgeHeader {
        var rest = SecretBytes(capacity: 4096)
        return try read(from: &source, rest: &rest)
    }

    /// Reads the header; bytes of the payload that came with it stay in `rest`.
    static func read<Source: ByteSource & ~Copyable>(
        from source: inout Source, rest: inout SecretBytes
    ) throws(AgeFailure) -> AgeHeader {
        var parser = HeaderParser()
        var consumed = 0
        while true {
            let line = try nextLine(from: &source, rest: &rest, start: consumed)
            consumed += line.count + 1
            if let header = try parser.add(line) {
                rest.removeFirst(consumed)
                return header
            }
        }
    }

    /// The line that begins at `start` of `rest`, which is filled as needed.
    private static func nextLine<Source: ByteSource & ~Copyable>(
        from source: inout Source, rest: inout SecretBytes, start: Int
    ) throws(AgeFailure) -> [UInt8] {
        var searched = start
        while true {
            let known = searched
            let line: [UInt8]? = rest.withBytes { bytes in
                let end = (known..<bytes.count).first { bytes[$0] == UInt8(ascii: "\n") }
                return end.map { end in (start..<end).map { bytes[$0] } }
            }
            if let line { return line }
            searched = rest.count
            guard searched < sizeLimit else { throw .headerLimit("bytes", allowed: sizeLimit) }
            try fill(&rest, from: &source, upTo: min(4096, sizeLimit - searched))
            guard rest.count == searched else { continue }
            // The end. A file of one short line may still not be an age file at all.
            if start == 0 { try HeaderParser.checkVersion(rest.withBytes { bytes in bytes.indices.map { bytes[$0] } }) }
            throw .malformedHeader("the header ends with its MAC")
        }
    }

    static func fill<Source: ByteSource & ~Copyable>(
        _ buffer: inout SecretBytes, from source: inout Source, upTo limit: Int
    ) throws(AgeFailure) {
        do throws(StreamFailure) {
            try buffer.append(upTo: limit) { output throws(StreamFailure) in try source.read(into: &output) }
        } catch {
            throw .stream(error)
        }
    }
}
