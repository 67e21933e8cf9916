internal import KCByteStreams
package import KCCryptography

/// Signatures that `ssh-keygen -Y verify -n kcbackup` can check: Ed25519, SHA-512 (OpenSSH, `PROTOCOL.sshsig`).
package enum SSHSignature {
    /// The purpose of a signature; one that was made for something else, or by another program, is not valid.
    package enum Namespace: String, CaseIterable, Sendable {
        /// The checksums of an archive.
        case archive = "kcbackup"
        /// The statement of a machine about a run.
        case receipt = "kcbackup-receipt"
    }

    private static let keyType = "ssh-ed25519"
    private static let hashName = "sha512"
    private static let magic = Array("SSHSIG".utf8)
    private static let header = "-----BEGIN SSH SIGNATURE-----\n"
    private static let footer = "\n-----END SSH SIGNATURE-----\n"
    // The line length that OpenSSH uses.
    private static let lineLength = 70

    /// Signs `message` as `device`, in OpenSSH's armor; deterministic.
    package static func sign(
        message: [UInt8], with device: DeviceKey, as namespace: Namespace = .archive
    ) throws(CryptographyFailure) -> [UInt8] {
        let signature = try device.sign(signedBytes(message, namespace))
        return armor(blob(publicKey: device.signingPublicKey, signature: signature, namespace))
    }

    /// Verifies that `armored` is a signature of `message`.
    ///
    /// The signature names its own key: the caller must decide whether to trust it. Only the canonical form that `sign`
    /// and OpenSSH produce is accepted.
    ///
    /// - Returns: the 32-byte Ed25519 public key of the signer.
    package static func verify(
        _ armored: [UInt8], message: [UInt8], as namespace: Namespace = .archive
    ) throws(SSHSignatureFailure) -> [UInt8] {
        guard let (publicKey, signature) = parse(armored, namespace) else { throw .malformed }
        do throws(CryptographyFailure) {
            let signed = signedBytes(message, namespace)
            guard try Ed25519.isValid(signature: signature, of: signed.span, publicKey: publicKey)
            else { throw CryptographyFailure.authentication }
        } catch {
            throw error == .authentication ? .doesNotFit : .cryptography(error)
        }
        return publicKey
    }

    /// Returns the line of an `allowed_signers` file (ssh-keygen(1)) that lets a device sign archives under its ID, and
    /// nothing else.
    package static func allowedSignersLine(publicKey: [UInt8]) -> String {
        let key = Base64.encode(encoded(publicKey: publicKey))
        return "\(DeviceID(publicKey: publicKey)) namespaces=\"\(Namespace.archive.rawValue)\" \(keyType) \(key)"
    }

    /// Extracts key and signature at their fixed offsets; comparing with the re-encoded signature checks everything
    /// else.
    private static func parse(
        _ armored: [UInt8], _ namespace: Namespace
    ) -> (publicKey: [UInt8], signature: [UInt8])? {
        let (noKey, noSignature) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 64))
        let model = blob(publicKey: noKey, signature: noSignature, namespace)
        guard armored.count == armor(model).count else { return nil }
        let body = armored.dropFirst(header.utf8.count).dropLast(footer.utf8.count)
        let text = body.filter { $0 != UInt8(ascii: "\n") }
        guard let bytes: [UInt8] = Base64.decode(text.span), bytes.count == model.count else { return nil }
        // Preceded by the magic, the version, the length of the key field and, within it, the type and the length of
        // the key.
        let keyStart = magic.count + 4 + 4 + 4 + keyType.utf8.count + 4
        let publicKey = Array(bytes[keyStart..<keyStart + 32])
        let signature = Array(bytes.suffix(64))
        guard armor(blob(publicKey: publicKey, signature: signature, namespace)) == armored else { return nil }
        return (publicKey, signature)
    }

    /// Returns the signed data: namespace, hash algorithm and message hash, but not the key.
    private static func signedBytes(_ message: [UInt8], _ namespace: Namespace) -> [UInt8] {
        let hash = HashFunction.sha512.digest(of: message.span)
        return magic + field(namespace.rawValue) + field("") + field(hashName) + field(hash)
    }

    private static func blob(publicKey: [UInt8], signature: [UInt8], _ namespace: Namespace) -> [UInt8] {
        let version: [UInt8] = [0, 0, 0, 1]
        let key = field(encoded(publicKey: publicKey))
        return magic + version + key + field(namespace.rawValue) + field("") + field(hashName)
            + field(field(keyType) + field(signature))
    }

    private static func encoded(publicKey: [UInt8]) -> [UInt8] {
        field(keyType) + field(publicKey)
    }

    private static func armor(_ blob: [UInt8]) -> [UInt8] {
        var text = Array(header.utf8)
        for (index, character) in Base64.encode(blob).utf8.enumerated() {
            if index > 0, index % lineLength == 0 { text.append(UInt8(ascii: "\n")) }
            text.append(character)
        }
        return text + Array(footer.utf8)
    }

    /// Encodes a string of the SSH protocol (RFC 4251, section 5): its length in four bytes, then its bytes.
    private static func field(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }

    private static func field(_ text: String) -> [UInt8] {
        field(Array(text.utf8))
    }
}

/// Why a signature is not valid.
package enum SSHSignatureFailure: Error, Hashable, Sendable {
    /// Not an Ed25519 signature in this namespace and OpenSSH's format.
    case malformed
    /// Not a signature of this message by this key.
    case doesNotFit
    /// The check itself failed.
    case cryptography(CryptographyFailure)
}

extension DeviceKey {
    /// The line of an `allowed_signers` file with which `ssh-keygen -Y verify` checks archives of this device.
    package var allowedSignersLine: String {
        SSHSignature.allowedSignersLine(publicKey: signingPublicKey)
    }
}
