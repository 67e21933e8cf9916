internal import ByteStreams
public import Cryptography

/// Why a signature is not accepted.
public enum SSHSignatureFailure: Error, Hashable, Sendable {
    /// It is not the canonical form of an Ed25519 signature in the namespace `kcbackup`.
    case malformed
    /// It is well-formed, and not of this message by the key that it names.
    case invalid
    /// libcrypto refused.
    case cryptography(CryptographyFailure)
}

/// Detached signatures as OpenSSH makes them (`PROTOCOL.sshsig`), so that `ssh-keygen -Y verify` can judge ours.
///
/// Always Ed25519 over SHA-512 in the namespace `kcbackup`: the bytes then have a fixed layout, and a signature is
/// accepted only if it is exactly what we would write for the same key and value.
public enum SSHSignature {
    /// What the signature is good for; another namespace is another meaning.
    public static let namespace = "kcbackup"

    private static let magic = Array("SSHSIG".utf8)
    private static let version: [UInt8] = [0, 0, 0, 1]
    private static let keyType = Array("ssh-ed25519".utf8)
    private static let hashName = Array("sha512".utf8)
    private static let header = "-----BEGIN SSH SIGNATURE-----\n"
    private static let footer = "-----END SSH SIGNATURE-----\n"
    // OpenSSH breaks lines there.
    private static let columns = 70

    /// Signs `message` and returns the armored signature, with its line feed.
    ///
    /// - Throws: `SSHSignatureFailure.cryptography`.
    public static func sign(
        message: borrowing Span<UInt8>, with key: DeviceKey
    ) throws(SSHSignatureFailure) -> [UInt8] {
        let signed = signedBytes(message)
        let signature: [UInt8]
        do throws(CryptographyFailure) {
            signature = try key.sign(signed.span)
        } catch {
            throw .cryptography(error)
        }
        return armored(key.signingPublicKey, signature)
    }

    /// Returns the 32-byte public key whose owner signed `message`; who that is, is another question.
    ///
    /// - Throws: `SSHSignatureFailure` (`malformed`, `invalid`, `cryptography`).
    public static func verify(
        _ armored: [UInt8], message: borrowing Span<UInt8>
    ) throws(SSHSignatureFailure) -> [UInt8] {
        let parts = try parse(armored)
        let signed = signedBytes(message)
        let isValid: Bool
        do throws(CryptographyFailure) {
            isValid = try Ed25519.isValid(signature: parts.signature, of: signed.span, publicKey: parts.publicKey)
        } catch {
            throw .cryptography(error)
        }
        guard isValid else { throw .invalid }
        return parts.publicKey
    }

    /// The wire form of a public key: `ssh-ed25519` and the key, each behind its length.
    static func publicKeyBlob(_ publicKey: [UInt8]) -> [UInt8] {
        string(keyType) + string(publicKey)
    }

    private struct Parts {
        let publicKey: [UInt8]
        let signature: [UInt8]
    }

    /// A key and a signature that print back to the same armor; anything else is refused.
    private static func parse(
        _ armored: [UInt8]
    ) throws(SSHSignatureFailure) -> Parts {
        // Every canonical armor has the same length.
        let expectedCount = Self.armored([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 64)).count
        guard armored.count == expectedCount else { throw .malformed }
        let lines = armored.dropFirst(header.utf8.count).dropLast(footer.utf8.count)
        let text = lines.filter { $0 != UInt8(ascii: "\n") }
        guard let blob = Base64.decode(text.span) else { throw .malformed }
        let keyStart = magic.count + version.count + 4 + 4 + keyType.count + 4
        guard blob.count >= keyStart + 32 + 64 else { throw .malformed }
        let publicKey = Array(blob[keyStart..<keyStart + 32])
        let signature = Array(blob.suffix(64))
        guard Self.armored(publicKey, signature) == armored else { throw .malformed }
        return Parts(publicKey: publicKey, signature: signature)
    }

    private static func armored(_ publicKey: [UInt8], _ signature: [UInt8]) -> [UInt8] {
        let blob =
            magic + version + string(publicKeyBlob(publicKey)) + string(Array(namespace.utf8)) + string([])
            + string(hashName) + string(string(keyType) + string(signature))
        let text = Array(Base64.encode(blob).utf8)
        var armored = Array(header.utf8)
        for start in stride(from: 0, to: text.count, by: columns) {
            armored += text[start..<min(start + columns, text.count)] + [UInt8(ascii: "\n")]
        }
        return armored + Array(footer.utf8)
    }

    private static func signedBytes(_ message: borrowing Span<UInt8>) -> [UInt8] {
        magic + string(Array(namespace.utf8)) + string([]) + string(hashName) + string(SHA512.hash(message))
    }

    /// SSH's string: its length in 4 bytes, big-endian, and its bytes (RFC 4251, section 5).
    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: UInt32(bytes.count) >> UInt32($0)) } + bytes
    }
}

extension DeviceKey {
    /// The line for OpenSSH's `allowed_signers` file that lets `ssh-keygen -Y verify` accept this device.
    public var allowedSignersLine: String {
        SSHSignature.allowedSignersLine(publicKey: signingPublicKey)
    }
}

extension SSHSignature {
    /// The line for OpenSSH's `allowed_signers` file that accepts the owner of `publicKey` under its device ID.
    public static func allowedSignersLine(publicKey: [UInt8]) -> String {
        let blob = Base64.encode(publicKeyBlob(publicKey))
        return "\(DeviceID(publicKey: publicKey)) namespaces=\"\(namespace)\" ssh-ed25519 \(blob)"
    }
}
