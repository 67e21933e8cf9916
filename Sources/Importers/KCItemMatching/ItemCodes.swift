package import KCByteStreams
package import KCCryptography
internal import KCItemSources
package import KCKeychainModel

/// A value that two things share only if they are equal: half of a MAC under the key of one run.
package struct ItemCode: Hashable, Sendable {
    fileprivate let high: UInt64
    fileprivate let low: UInt64

    /// Takes the first 16 of the bytes that there are.
    package init(_ bytes: some Sequence<UInt8>) {
        var halves: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.prefix(16).enumerated() {
            if index < 8 { halves.0 = halves.0 << 8 | UInt64(byte) } else { halves.1 = halves.1 << 8 | UInt64(byte) }
        }
        (high, low) = halves
    }
}

/// Makes codes under a random key that is used for one run and never stored.
package final class ItemCodes {
    private var hmac: HMAC

    /// - Throws: `CryptographyFailure`, as all its methods.
    package init() throws(CryptographyFailure) {
        hmac = try HMAC(key: RandomBytes.secret(count: 32))
    }

    /// The code of a secret.
    package func secret(_ secret: borrowing SecretBytes) throws(CryptographyFailure) -> ItemCode {
        try secret.withBytes { bytes throws(CryptographyFailure) in try code(of: bytes) }
    }

    /// The code of bytes.
    package func code(of bytes: borrowing Span<UInt8>) throws(CryptographyFailure) -> ItemCode {
        ItemCode(try hmac.authenticate(bytes))
    }

    /// The code of everything but the secret, the position among alike items, and what says nothing about an item.
    ///
    /// - Throws: `CryptographyFailure`, and `ItemProblem` for no item of a place.
    package func item(_ item: Item) throws -> ItemCode {
        var line = SecretBytes(capacity: 512)
        let form = item.uuid.isDerived ? try item.withoutPosition : item
        ItemLine.encode(KeyringExtra.comparable(form), into: &line)
        return try secret(line)
    }

    /// The code of a UUID together with another code.
    package func code(of uuid: ItemUUID, _ code: ItemCode) throws(CryptographyFailure) -> ItemCode {
        var line: [UInt8] = []
        for word in [uuid.high, uuid.low, code.high, code.low] { line += Self.bytes(Int64(bitPattern: word)) }
        return try self.code(of: line.span)
    }

    /// The code of the class and the unique key.
    package func key(_ item: Item) throws(CryptographyFailure) -> ItemCode {
        var line = [UInt8(item.itemClass.position)]
        for code in item.itemClass.uniqueKey {
            let bytes: [UInt8] =
                switch item.attributes[code] ?? Item.keyDefault(code) {
                case .text(let text): Array(text.utf8)
                case .data(let data): data
                case .number(let number): Self.bytes(number)
                case .date(let date): Self.bytes(date.microseconds)
                }
            line += Self.bytes(Int64(bytes.count)) + bytes
        }
        return try code(of: line.span)
    }

    private static func bytes(_ number: Int64) -> [UInt8] {
        stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
