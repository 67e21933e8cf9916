internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// The keys of the protection classes of an encrypted backup, wrapped with its password.
///
/// Source: keybag.py of dinosec/iphone-dataprotection; Apple Platform Security, "Keybags".
struct BackupKeybag {
    private struct WrappedKey {
        var number: UInt32?
        var wrap: UInt32?
        var type: UInt32?
        var key: [UInt8]?
    }

    private let salt: [UInt8]
    private let rounds: UInt32
    /// The additional, slower key derivation of iOS 10.2 and later.
    private let doubled: (salt: [UInt8], rounds: UInt32)?
    private let keys: [(number: UInt32, wrap: UInt32, type: UInt32, key: [UInt8])]

    // Five times what devices choose; takes some 20 s.
    private static let roundsLimit: UInt32 = 50_000_000
    // Far more than the eleven protection classes that exist.
    private static let keyLimit = 64

    init(_ bytes: [UInt8]) throws(ForeignFailure) {
        var cursor = ByteCursor(0..<bytes.count)
        var header: [ExactText: [UInt8]] = [:]
        var wrapped: [WrappedKey] = []
        while cursor.left > 0 {
            let tag = String(decoding: bytes[try cursor.take(4)], as: UTF8.self)
            let count = try cursor.count("bytes of a keybag", limit: 4_096, in: bytes.span)
            let value = Array(bytes[try cursor.take(count)])
            if tag == "UUID", header["UUID"] != nil {
                guard wrapped.count < Self.keyLimit else {
                    throw .limit("keys of a keybag", found: UInt64(wrapped.count) + 1, allowed: UInt64(Self.keyLimit))
                }
                wrapped.append(WrappedKey())
            } else if wrapped.isEmpty {
                guard header.updateValue(value, forKey: tag.exact) == nil else {
                    throw .damaged("a field of the keybag occurs twice")
                }
            } else {
                try Self.set(tag, value, &wrapped[wrapped.count - 1])
            }
        }
        guard let salt = header["SALT"], (8...64).contains(salt.count), let rounds = Self.number(header["ITER"]) else {
            throw .damaged("the keybag does not say how its key is derived")
        }
        var doubled: (salt: [UInt8], rounds: UInt32)?
        if let second = header["DPSL"] {
            guard let rounds = Self.number(header["DPIC"]), (8...64).contains(second.count) else {
                throw .damaged("the keybag does not say how its key is derived")
            }
            doubled = (second, rounds)
        }
        for found in [rounds, doubled?.rounds ?? 1] {
            guard found <= Self.roundsLimit else {
                throw .limit("rounds of the key", found: UInt64(found), allowed: UInt64(Self.roundsLimit))
            }
            guard found > 0 else { throw .damaged("the keybag does not say how its key is derived") }
        }
        self.salt = salt
        self.rounds = rounds
        self.doubled = doubled
        var keys: [(number: UInt32, wrap: UInt32, type: UInt32, key: [UInt8])] = []
        for key in wrapped {
            guard let number = key.number, let wrap = key.wrap else {
                throw .damaged("a key of the keybag is incomplete")
            }
            guard !keys.contains(where: { $0.number == number }) else {
                throw .damaged("a key of the keybag occurs twice")
            }
            keys.append((number, wrap, key.type ?? 0, key.key ?? []))
        }
        self.keys = keys
    }

    private static func set(_ tag: String, _ value: [UInt8], _ key: inout WrappedKey) throws(ForeignFailure) {
        let isNew: Bool
        switch tag {
        case "CLAS": (isNew, key.number) = (key.number == nil, number(value))
        case "WRAP": (isNew, key.wrap) = (key.wrap == nil, number(value))
        case "KTYP": (isNew, key.type) = (key.type == nil, number(value))
        case "WPKY": (isNew, key.key) = (key.key == nil, value)
        default: isNew = true
        }
        if !isNew { throw .damaged("a field of the keybag occurs twice") }
    }

    private static func number(_ bytes: [UInt8]?) -> UInt32? {
        guard let bytes, bytes.count == 4 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Unwraps the keys that the password protects; the others need a key that only the device has.
    ///
    /// - Throws: `ForeignFailure` (`wrongPassword` if no key can be unwrapped, `damaged` if some cannot),
    ///   `CryptographyFailure`.
    func open(_ password: borrowing SecretBytes) throws -> BackupClassKeys {
        var key: SecretBytes
        if let doubled {
            let first = try PBKDF2.derive(
                password: password, salt: doubled.salt.span, rounds: Int(doubled.rounds), hash: .sha256, count: 32)
            key = try PBKDF2.derive(password: first, salt: salt.span, rounds: Int(rounds), hash: .sha1, count: 32)
        } else {
            key = try PBKDF2.derive(password: password, salt: salt.span, rounds: Int(rounds), hash: .sha1, count: 32)
        }
        let opened = BackupClassKeys()
        var (tried, failed) = (0, 0)
        // Wrap 2 means by the password alone, 1 with the device's key. Type 0 is an AES class key.
        for wrapped in keys where wrapped.wrap == 2 && wrapped.type == 0 {
            tried += 1
            do throws(CryptographyFailure) {
                opened.add(try AESKeyWrap.unwrap(wrapped.key, with: key), for: wrapped.number)
            } catch {
                guard error == .authentication else { throw ForeignFailure.damaged("a key of the keybag is malformed") }
                failed += 1
            }
        }
        if tried == 0 { throw ForeignFailure.damaged("no key of the keybag opens with a password") }
        if failed == tried { throw ForeignFailure.wrongPassword }
        if failed > 0 { throw ForeignFailure.damaged("a key of the keybag was altered") }
        return opened
    }
}

/// The unwrapped keys of protection classes.
final class BackupClassKeys {
    private var keys = SecretBytes(capacity: 512)
    private var places: [UInt32: Range<Int>] = [:]

    func add(_ key: borrowing SecretBytes, for number: UInt32) {
        places[number] = keys.count..<keys.count + key.count
        key.withBytes { keys.append($0) }
    }

    func has(_ number: UInt32) -> Bool { places[number] != nil }

    /// Unwraps a key with that of a protection class; nil if there is no key for the class.
    ///
    /// - Throws: `ForeignFailure.damaged`, `CryptographyFailure`.
    func unwrap(_ wrapped: [UInt8], of number: UInt32) throws -> SecretBytes? {
        guard let place = places[number] else { return nil }
        let key = keys.withBytes { SecretBytes($0.extracting(place)) }
        do throws(CryptographyFailure) {
            return try AESKeyWrap.unwrap(wrapped, with: key)
        } catch {
            switch error {
            case .authentication, .unsupportedParameters: throw ForeignFailure.damaged("a key was altered")
            default: throw error
            }
        }
    }
}
