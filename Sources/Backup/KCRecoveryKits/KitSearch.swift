internal import KCAgeEncryption
internal import KCByteStreams

/// Finds the identity that typed lines are, or nearly are.
///
/// A line that is wrong may have one wrong character or two neighbors swapped, its check character included; a line
/// that is incomplete lacks the characters that are `KitEntry.erasure`. Possibilities that fit the check character of
/// each line are tried against the checksum of the identity. Of a thousand million wrong possibilities, a single one
/// passes it; the sheet has to refute that one.
struct KitSearch: ~Copyable {
    /// The state of a line, as far as it is known.
    enum Kind {
        /// Its check character fits.
        case right
        /// Its check character does not fit.
        case wrong
        /// Some characters are missing.
        case incomplete
    }

    /// The number of possibilities up to which all are tried, which takes seconds: enough for two missing characters in
    /// each line.
    private static let limit = 1 << 22

    private let text: SecretBytes
    private let kinds: [Kind]
    private let keys: [NativeIdentity.Kind]

    /// - Parameters:
    ///   - text: the lines, one after the other, each with its check character.
    ///   - keys: the kinds of key that they may be.
    init(text: borrowing SecretBytes, kinds: [Kind], keys: [NativeIdentity.Kind]) {
        self.text = text.copy()
        self.kinds = kinds
        self.keys = keys
    }

    func reading(known: [NativeRecipient]) throws(AgeFailure) -> KitEntry.Reading {
        if kinds.allSatisfy({ $0 == .right }), let identity = try find(trying: kinds, known) {
            return .identity(identity)
        }
        // A wrong line in 32 has a check character that fits.
        for isStrict in [true, false] {
            let kinds = kinds.map { !isStrict && $0 == .right ? .wrong : $0 }
            guard let identity = try find(trying: kinds, known) else { continue }
            return .repaired(identity, lines: changed(in: identity))
        }
        return .nothing
    }

    /// The only identity that fits, or the only one of `known`; nil for none or several.
    private func find(trying kinds: [Kind], _ known: [NativeRecipient]) throws(AgeFailure) -> NativeIdentity? {
        var choices: [Choices] = []
        var count = 1
        for (index, kind) in kinds.enumerated() {
            let choice = Choices(ofLine: index, in: text, kind)
            count *= choice.count
            if count == 0 || count > Self.limit { return nil }
            choices.append(choice)
        }
        var found: [NativeIdentity] = []
        for kind in keys {
            var key = SecretBytes(capacity: 128)
            key.append(utf8: KitText.prefix(kind))
            try extend(&key, Bech32.Checksum(prefix: kind.prefix), by: choices[...]) { key throws(AgeFailure) in
                if let identity = try NativeIdentity.parse(key) { found.append(identity) }
            }
        }
        let matching = found.filter { known.contains($0.recipient) }
        if matching.count == 1 { return matching[0] }
        return found.count == 1 ? found[0] : nil
    }

    /// Calls `body` with each identity that begins with `key`, whose checksum so far is given.
    private func extend(
        _ key: inout SecretBytes, _ checksum: Bech32.Checksum, by choices: ArraySlice<Choices>,
        _ body: (borrowing Span<UInt8>) throws(AgeFailure) -> Void
    ) throws(AgeFailure) {
        guard let line = choices.first else {
            if checksum.isValid { try key.withBytes(body) }
            return
        }
        for index in 0..<line.count {
            var checksum = checksum
            line.values(index) { value in checksum.add(value) }
            line.append(index, to: &key)
            try extend(&key, checksum, by: choices.dropFirst(), body)
            key.removeLast(line.length)
        }
    }

    /// The numbers of the lines that differ from what was typed.
    private func changed(in identity: NativeIdentity) -> [Int] {
        var key = SecretBytes(capacity: 128)
        identity.encode(into: &key)
        key.removeFirst(KitText.prefix(identity.kind).utf8.count)
        var start = 0
        return KitText.lineLengths.indices.filter { index in
            let length = KitText.lineLengths[index]
            defer { start += length }
            return key.withBytes { key in
                let line = key.extracting(start..<start + length)
                return text.withBytes { text in
                    let typed = text.extracting(start + index..<start + index + length + 1)
                    return !typed.extracting(..<length).isEqual(to: line)
                        || typed[length] != KitText.check(of: line, number: index + 1)
                }
            }
        }.map { $0 + 1 }
    }
}

/// The possible texts of a line, without its check character.
private final class Choices {
    let length: Int
    private let number: Int
    private var texts: SecretBytes
    /// The number of possibilities.
    var count: Int { texts.count / length }

    init(ofLine index: Int, in text: borrowing SecretBytes, _ kind: KitSearch.Kind) {
        length = KitText.lineLengths[index]
        number = index + 1
        texts = SecretBytes(capacity: 1_024)
        let start = KitText.lineLengths[..<index].reduce(0) { $0 + $1 + 1 }
        var line = text.withBytes { SecretBytes($0.extracting(start..<start + length + 1)) }
        switch kind {
        case .right: add(line)
        case .wrong: addNeighbors(of: &line)
        case .incomplete: fill(&line)
        }
    }

    /// Appends the possibility with an index.
    func append(_ index: Int, to key: inout SecretBytes) {
        texts.withBytes { key.append($0.extracting(index * length..<(index + 1) * length)) }
    }

    /// Calls `body` with the values of the characters of a possibility.
    func values(_ index: Int, _ body: (UInt8) -> Void) {
        texts.withBytes { texts in
            for position in index * length..<(index + 1) * length {
                body(UInt8(KitText.alphabet.firstIndex(of: texts[position]) ?? 0))
            }
        }
    }

    /// Adds a line if its check character fits.
    private func add(_ line: borrowing SecretBytes) {
        line.withBytes { line in
            if KitText.hasCheck(line, number: number) { texts.append(line.extracting(..<length)) }
        }
    }

    /// Adds the line itself, and what one wrong character or two swapped ones may have made it of.
    private func addNeighbors(of line: inout SecretBytes) {
        add(line)
        for position in 0...length {
            let typed = line.withBytes { $0[position] }
            for letter in KitText.alphabet where letter != typed {
                line.withMutableBytes { $0[position] = letter }
                add(line)
            }
            line.withMutableBytes { $0[position] = typed }
        }
        for position in 0..<length {
            let isSame = line.withBytes { $0[position] == $0[position + 1] }
            if isSame { continue }
            line.withMutableBytes { $0.swapAt(position, position + 1) }
            add(line)
            line.withMutableBytes { $0.swapAt(position, position + 1) }
        }
    }

    /// Adds the line with each possibility for what is missing.
    private func fill(_ line: inout SecretBytes) {
        let position = line.withBytes { bytes in bytes.indices.first { bytes[$0] == KitEntry.erasure } }
        guard let position else { return add(line) }
        for letter in KitText.alphabet {
            line.withMutableBytes { $0[position] = letter }
            fill(&line)
        }
        line.withMutableBytes { $0[position] = KitEntry.erasure }
    }
}
