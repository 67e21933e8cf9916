internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
internal import KCItemSources

/// The unencrypted outer header of a KDBX file.
struct KDBXHeader {
    /// 4 or 3; version 2 is treated as 3.
    let major: Int
    let cipher: KDBX.Cipher
    let isCompressed: Bool
    let masterSeed: [UInt8]
    let iv: [UInt8]
    let derivation: KDBXDerivation
    /// Version 3 only: the key of the stream cipher for protected values, the cipher, and the bytes that verify the
    /// password.
    let streamKey: [UInt8]
    let stream: KDBX.Stream
    let startBytes: [UInt8]
    /// The size of the header in bytes.
    let size: Int

    // Far more than any field needs, even the public data of a plug-in.
    private static let fieldLimit: UInt64 = 1 << 20

    init(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var cursor = try ByteCursor(from: KDBX.signature.count, of: bytes, .littleEndian)
        let minor = try cursor.number(2, in: bytes)
        let version = try cursor.number(2, in: bytes)
        guard (2...4).contains(version) else { throw .unknownVariant("KDBX \(version).\(minor)") }
        major = version == 4 ? 4 : 3
        var fields: [UInt8: [UInt8]] = [:]
        var type: UInt64
        repeat {
            type = try cursor.number(1, in: bytes)
            let length = try cursor.number(version == 4 ? 4 : 2, in: bytes)
            guard length <= Self.fieldLimit else {
                throw .limit("bytes of a header field", found: length, allowed: Self.fieldLimit)
            }
            let value = try cursor.array(length, in: bytes)
            guard fields.updateValue(value, forKey: UInt8(type)) == nil else {
                throw .damaged("a field of its header occurs twice")
            }
        } while type != 0
        size = cursor.position

        func field(_ field: KDBX.Field, _ count: Int) throws(ForeignFailure) -> [UInt8] {
            guard let value = fields[field.rawValue], value.count == count else {
                throw .damaged("a field of its header is missing or has the wrong size")
            }
            return value
        }
        let name = Hexadecimal.encode(try field(.cipher, 16))
        guard let cipher = KDBX.Cipher(rawValue: name) else { throw .unknownVariant("an unknown cipher") }
        self.cipher = cipher
        iv = try field(.iv, cipher.ivLength)
        masterSeed = try field(.masterSeed, 32)
        switch try field(.compression, 4) {
        case [0, 0, 0, 0]: isCompressed = false
        case [1, 0, 0, 0]: isCompressed = true
        default: throw .unknownVariant("an unknown compression")
        }
        if version == 4 {
            derivation = try KDBXDerivation(KDBXDictionary(fields[KDBX.Field.derivation.rawValue] ?? []))
            (streamKey, stream, startBytes) = ([], .none, [])
        } else {
            let rounds = try field(.transformRounds, 8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            derivation = try KDBXDerivation(rounds: rounds, seed: field(.transformSeed, 32))
            streamKey = try field(.streamKey, 32)
            let number = try field(.streamCipher, 4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard let stream = KDBX.Stream(rawValue: number) else {
                throw .unknownVariant("an unknown stream cipher")
            }
            self.stream = stream
            startBytes = try field(.startBytes, 32)
        }
    }
}

extension KDBXDerivation {
    fileprivate init(rounds: UInt64, seed: [UInt8]) throws(ForeignFailure) {
        guard rounds <= Self.roundsLimit else {
            throw .limit("rounds of its key", found: rounds, allowed: Self.roundsLimit)
        }
        self = .aes(rounds: rounds, seed: seed)
    }

    fileprivate init(_ map: KDBXDictionary?) throws(ForeignFailure) {
        guard let map, case .bytes(let uuid) = map.values["$UUID"] else {
            throw .damaged("its header does not say how its key is derived")
        }
        func bytes(_ name: String, _ counts: ClosedRange<Int>) throws(ForeignFailure) -> [UInt8] {
            guard case .bytes(let value) = map.values[name.exact], counts.contains(value.count) else {
                throw .damaged("its header does not say how its key is derived")
            }
            return value
        }
        func number(_ name: String, upTo limit: UInt64, _ words: String) throws(ForeignFailure) -> UInt64 {
            let number: UInt64
            switch map.values[name.exact] {
            case .uint32(let value): number = UInt64(value)
            case .uint64(let value): number = value
            default: throw .damaged("its header does not say how its key is derived")
            }
            guard number <= limit else { throw .limit(words, found: number, allowed: limit) }
            return number
        }
        let name = Hexadecimal.encode(uuid)
        if Self.aesNames.contains(name) {
            self = .aes(
                rounds: try number("R", upTo: Self.roundsLimit, "rounds of its key"), seed: try bytes("S", 32...32))
            return
        }
        guard name == Self.argon2d || name == Self.argon2id else {
            throw .unknownVariant("an unknown key derivation")
        }
        // A secret in addition to the password, which no program sets.
        if map.values["K"] != nil || map.values["A"] != nil { throw .unknownVariant("Argon2 with a second secret") }
        guard let version = Argon2.Version(rawValue: UInt32(try number("V", upTo: 0xff, "version of Argon2"))) else {
            throw .unknownVariant("an unknown version of Argon2")
        }
        let memory = try number("M", upTo: Self.memoryLimit, "bytes of memory for its key")
        let cost = Argon2.Cost(
            iterations: UInt32(try number("I", upTo: Self.iterationsLimit, "passes for its key")),
            memoryInKiB: UInt32(memory >> 10),
            lanes: UInt32(try number("P", upTo: UInt64(Self.lanesLimit), "threads for its key")), version: version)
        guard cost.iterations > 0, cost.lanes > 0, cost.memoryInKiB >= 8 * cost.lanes else {
            throw .damaged("its parameters of key derivation are malformed")
        }
        let work = UInt64(cost.iterations) * memory
        guard work <= Self.workLimit else {
            throw .limit("bytes of memory to pass over for its key", found: work, allowed: Self.workLimit)
        }
        self = .argon2(name == Self.argon2d ? .d : .id, cost, salt: try bytes("S", 8...1_024))
    }
}
