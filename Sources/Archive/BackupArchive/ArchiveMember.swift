package import KeychainModel

/// The files inside an archive, in the only order in which they may stand (docs/format.md, "Container").
package enum ArchiveMember: Hashable, Sendable {
    case header
    /// Only where a passphrase opens the archive.
    case identity
    case metadata(ArchiveMode)
    case secrets(ArchiveMode)
    case checksums
    case signature

    /// The name in the tar.
    package var name: String {
        switch self {
        case .header: "kcbackup.json"
        case .identity: "identity.age"
        case .metadata(.encrypted): "metadata.jsonl.gz.age"
        case .metadata(.unencrypted): "metadata.jsonl.gz"
        case .secrets(.encrypted): "secrets.jsonl.gz.age"
        case .secrets(.unencrypted): "secrets.jsonl.gz"
        case .checksums: "SHA256SUMS"
        case .signature: "SHA256SUMS.sig"
        }
    }

    /// The members of an archive of `mode`, in order.
    static func all(_ mode: ArchiveMode, withPassphrase: Bool) -> [ArchiveMember] {
        let identity: [ArchiveMember] = withPassphrase ? [.identity] : []
        return [.header] + identity + [.metadata(mode), .secrets(mode), .checksums, .signature]
    }

    /// The members that `SHA256SUMS` covers, in order.
    static func summed(_ mode: ArchiveMode, withPassphrase: Bool) -> [ArchiveMember] {
        all(mode, withPassphrase: withPassphrase).filter { $0 != .checksums && $0 != .signature }
    }
}

/// The bounds of an archive's parts, checked before a byte of the part is used.
package enum ArchiveLimits {
    /// Bytes of `kcbackup.json`: some 400 and a keybag of some 1,500.
    package static let headerSize = 16_384
    /// Bytes of `identity.age`: an age header, one identity and its comments are under 700.
    package static let identitySize = 4_096
    /// Bytes of `SHA256SUMS`: four lines of at most 90.
    package static let checksumsSize = 1_024
    /// Bytes of `SHA256SUMS.sig`: an armored Ed25519 SSHSIG has some 300.
    package static let signatureSize = 1_024
    /// Bytes of one stream when decompressed: a full keychain of the largest lines would be larger, a real one is not.
    package static let streamSize: UInt64 = 64 << 30
}
