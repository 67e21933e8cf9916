package import KCByteStreams
package import KCCryptography
package import KCKeychainModel

/// Seals and opens the secrets of items, reusing its buffers.
///
/// Every write has its own key, derived from the class key and 32 random bytes, so the nonce can be zero. The item's
/// metadata line is associated data: changing an attribute, or swapping the secrets of two rows, breaks the seal. For an
/// item with a constraint, the key also depends on a secret shared with a presence key, and the random bytes are the
/// public half of a key made for this seal.
package struct ItemSealer: ~Copyable {
    private static let label = Array("kcbackup/v1/store-item".utf8)
    private static let constrainedLabel = Array("kcbackup/v1/constrained-item".utf8)
    // A system call for each salt would double the cost of a seal, but most sealers seal only one item.
    private static let saltsAtOnce = (first: 1, growth: 16, most: 128)

    private var cipher: AuthenticatedCipher
    private var itemKey = SecretBytes(capacity: 32)
    /// The HKDF info: the label and the salt.
    private var info: SecretBytes
    /// The format byte and the metadata line of the current item.
    private var associatedData = SecretBytes(capacity: 4096)
    private var salts: [UInt8] = []
    private var saltsUsed = 0

    package init() throws(CryptographyFailure) {
        cipher = try AuthenticatedCipher(.aes256GCM, key: SecretBytes(copying: [UInt8](repeating: 0, count: 32)))
        info = SecretBytes(copying: Self.label + [UInt8](repeating: 0, count: SealedFrame.saltSize))
    }

    /// The format of the secret of `item`.
    static func format(of item: Item) -> SealedFrame.Format {
        if item.secretSize == nil { return .none }
        if item.isPublicData { return .clear }
        return item.protection.constraint == nil ? .secret : .constrained
    }

    /// Makes `item` the current one.
    package mutating func begin(_ item: Item) {
        associatedData.removeAll()
        associatedData.append(Self.format(of: item).rawValue)
        ItemLine.encode(item, into: &associatedData)
    }

    /// Makes `item` the current one, with a known metadata line.
    package mutating func begin(_ item: Item, line: borrowing Span<UInt8>) {
        associatedData.removeAll()
        associatedData.append(Self.format(of: item).rawValue)
        associatedData.append(line)
    }

    /// Passes the metadata line of the current item to `body`.
    package borrowing func withLine(_ body: (borrowing Span<UInt8>) throws -> Void) throws {
        try associatedData.withBytes { bytes in try body(bytes.extracting(droppingFirst: 1)) }
    }

    /// Replaces `blob` with the sealed secret of the current item.
    ///
    /// - Parameter salt: 32 bytes that are never used for another secret or another item; nil for random ones.
    package mutating func seal(
        _ secret: borrowing Span<UInt8>, under key: SealingKey, salt: [UInt8]? = nil, into blob: inout SecretBytes
    ) throws(CryptographyFailure) {
        let format = associatedData.withBytes { $0[0] }
        precondition(
            (key.presence != nil) == (format == SealedFrame.Format.constrained.rawValue), "the key is not of the item")
        if let presence = key.presence {
            let own = try X25519.generatePrivateKey()
            let share = try X25519.publicKey(of: own)
            let shared = try X25519.sharedSecret(privateKey: own, publicKey: presence.bytes)
            useSalt(share.span)
            try deriveKey(key.classKey, shared, with: presence)
        } else {
            if let salt { useSalt(salt.span) } else { try takeSalt() }
            try deriveKey(key.classKey)
        }
        blob.removeAll()
        blob.append(format)
        info.withBytes { blob.append($0.extracting(droppingFirst: Self.label.count)) }
        if format == SealedFrame.Format.clear.rawValue {
            try tag(secret, into: &blob)
            blob.append(secret)
        } else {
            try associatedData.withBytes { data throws(CryptographyFailure) in
                try cipher.seal(secret, nonce: .zero, associatedData: data, into: &blob)
            }
        }
    }

    /// Replaces `secret` with the opened secret of the current item; false, leaving it empty, if the seal is broken.
    package mutating func open(
        _ blob: borrowing Span<UInt8>, under key: OpeningKey, into secret: inout SecretBytes
    ) throws(CryptographyFailure) -> Bool {
        secret.removeAll()
        guard let frame = SealedFrame(measuring: blob), frame.format.rawValue == associatedData.withBytes({ $0[0] }),
            (key.presence != nil) == (frame.format == .constrained)
        else { return false }
        do throws(CryptographyFailure) {
            let salt = blob.extracting(1..<1 + SealedFrame.saltSize)
            useSalt(salt)
            if let presence = key.presence {
                // A point of small order is refused as a broken seal.
                let shared = try X25519.sharedSecret(
                    privateKey: presence.secret, publicKey: salt.indices.map { salt[$0] })
                try deriveKey(key.classKey, shared, with: presence.publicKey)
            } else {
                try deriveKey(key.classKey)
            }
            let body = blob.extracting(droppingFirst: 1 + SealedFrame.saltSize)
            if frame.format == .clear {
                let clear = body.extracting(droppingFirst: SealedFrame.tagSize)
                associatedData.append(clear)
                defer { associatedData.removeLast(clear.count) }
                try associatedData.withBytes { data throws(CryptographyFailure) in
                    try cipher.open(
                        body.extracting(first: SealedFrame.tagSize), nonce: .zero, associatedData: data, into: &secret)
                }
                secret.append(clear)
            } else {
                try associatedData.withBytes { data throws(CryptographyFailure) in
                    try cipher.open(body, nonce: .zero, associatedData: data, into: &secret)
                }
            }
            return true
        } catch {
            guard error == .authentication else { throw error }
            secret.removeAll()
            return false
        }
    }

    /// Appends the tag of plaintext bytes, using the cipher as a MAC with an empty plaintext.
    private mutating func tag(_ clear: borrowing Span<UInt8>, into blob: inout SecretBytes) throws(CryptographyFailure)
    {
        associatedData.append(clear)
        defer { associatedData.removeLast(clear.count) }
        try associatedData.withBytes { data throws(CryptographyFailure) in
            try cipher.seal(Span<UInt8>(), nonce: .zero, associatedData: data, into: &blob)
        }
    }

    private mutating func deriveKey(_ key: ClassKey) throws(CryptographyFailure) {
        try info.withBytes { info throws(CryptographyFailure) in
            try key.expander.expand(info: info, into: &itemKey)
        }
        try cipher.setKey(itemKey)
    }

    /// Derives the key of an item with a constraint from both keys: neither suffices, to open or to forge a seal.
    private mutating func deriveKey(
        _ key: ClassKey, _ shared: borrowing SecretBytes, with presence: PresencePublicKey
    ) throws(CryptographyFailure) {
        try info.withBytes { info throws(CryptographyFailure) in
            try key.expander.expand(info: info, into: &itemKey)
        }
        var inputKey = SecretBytes(capacity: 64)
        itemKey.withBytes { inputKey.append($0) }
        shared.withBytes { inputKey.append($0) }
        let label = Self.constrainedLabel
        try cipher.setKey(HKDF.derive(inputKey: inputKey, salt: label, info: label + presence.bytes, count: 32))
    }

    private mutating func takeSalt() throws(CryptographyFailure) {
        if saltsUsed == salts.count {
            let before = salts.count / SealedFrame.saltSize
            let count = min(max(Self.saltsAtOnce.first, before * Self.saltsAtOnce.growth), Self.saltsAtOnce.most)
            salts = try RandomBytes.bytes(count: count * SealedFrame.saltSize)
            saltsUsed = 0
        }
        let salts = salts
        useSalt(salts.span.extracting(saltsUsed..<saltsUsed + SealedFrame.saltSize))
        saltsUsed += SealedFrame.saltSize
    }

    private mutating func useSalt(_ salt: borrowing Span<UInt8>) {
        precondition(salt.count == SealedFrame.saltSize, "a salt has a fixed size")
        info.removeLast(SealedFrame.saltSize)
        info.append(salt)
    }
}
