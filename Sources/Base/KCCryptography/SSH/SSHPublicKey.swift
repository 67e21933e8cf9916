internal import KCByteStreams

/// A public key of SSH that messages can be encrypted to: Ed25519 (RFC 8709) or RSA (RFC 4253, section 6.6).
package struct SSHPublicKey: Hashable, Sendable {
    /// The type and what encrypts.
    package enum Kind: Hashable, Sendable {
        /// The public key of X25519 for the same point.
        case ed25519(agreementKey: [UInt8])
        case rsa(PublicKey)
    }

    /// The key in SSH's own encoding, which is its only one.
    package let wire: [UInt8]
    package let kind: Kind

    /// The fewest bits of an RSA key, as in age.
    package static let minimumBits = 2_048
    // Keys of ssh-keygen have 65537, old ones 35 or 37.
    private static let longestExponent = 3

    /// The name of the type.
    package var type: String {
        switch kind {
        case .ed25519: Self.ed25519
        case .rsa: Self.rsa
        }
    }

    /// The beginning of the encoding of each key of a type.
    package static func encodedType(_ type: String) -> [UInt8] { SSHFields.encode(type.utf8) }

    private static let ed25519 = "ssh-ed25519"
    private static let rsa = "ssh-rsa"

    /// Reads the encoding of a key.
    ///
    /// - Throws: `SSHKeyFailure`: `malformed`, also for a point of small order; `unsupported`, `weak`, `cryptography`.
    package init(wire: [UInt8]) throws(SSHKeyFailure) {
        let bytes = wire.span
        var fields = SSHFields(0..<bytes.count)
        let type = try fields.name(in: bytes)
        switch type {
        case Self.ed25519:
            let point = try fields.field(in: bytes)
            try fields.expectEnd()
            guard let key = Ed25519.agreementKey(ofPublicKey: point) else { throw .malformed }
            kind = .ed25519(agreementKey: key)
        case Self.rsa:
            let exponent = [UInt8](copying: bytes.extracting(try fields.number(in: bytes)))
            let modulus = [UInt8](copying: bytes.extracting(try fields.number(in: bytes)))
            try fields.expectEnd()
            kind = .rsa(try Self.key(modulus: modulus, exponent: exponent))
        default: throw .unsupported(type)
        }
        self.wire = wire
    }

    /// The key of an Ed25519 point.
    init(point: [UInt8]) throws(SSHKeyFailure) {
        try self.init(wire: SSHFields.encode(Self.ed25519.utf8) + SSHFields.encode(point))
    }

    /// The key of an RSA key.
    init(_ key: PublicKey) throws(SSHKeyFailure) {
        var numbers: [[UInt8]] = []
        do throws(CertificateFailure) {
            let bytes = key.externalRepresentation.span
            var outer = DERReader(0..<bytes.count)
            var inner = DERReader(try outer.expect(DERTag.sequence, in: bytes).content)
            for _ in 0..<2 {
                let content = try inner.expect(DERTag.integer, in: bytes).content
                numbers.append([UInt8](copying: bytes.extracting(content)))
            }
        } catch {
            throw SSHKeyFailure(error)
        }
        try self.init(
            wire: [Array(Self.rsa.utf8), numbers[1], numbers[0]].flatMap { SSHFields.encode($0) })
    }

    private static func key(modulus: [UInt8], exponent: [UInt8]) throws(SSHKeyFailure) -> PublicKey {
        guard exponent.count <= longestExponent, let last = exponent.last, last % 2 == 1, exponent != [1] else {
            throw .malformed
        }
        let key: PublicKey
        do throws(CertificateFailure) {
            key = try PublicKey(
                externalRepresentation: DER.element(
                    DERTag.sequence, DER.element(DERTag.integer, modulus) + DER.element(DERTag.integer, exponent)),
                kind: .rsa)
        } catch {
            throw SSHKeyFailure(error)
        }
        guard key.sizeInBits >= minimumBits else { throw .weak(bits: key.sizeInBits) }
        return key
    }
}
