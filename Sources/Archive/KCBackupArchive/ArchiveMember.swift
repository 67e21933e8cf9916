package import KCKeychainModel

/// The files inside an archive, in the only permitted order (docs/format.md, "Container").
package enum ArchiveMember: Hashable, Sendable {
    case header
    /// Present only if a passphrase opens the archive.
    case identity
    case metadata(ArchiveMode)
    case secrets(ArchiveMode)
    case checksums
    case signature

    /// The member's name in the tar archive.
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

/// The limits of an archive's parts, checked before any byte of the part is used.
package enum ArchiveLimits {
    /// The maximum size of `kcbackup.json` in bytes; it has about 400, and a keybag about 1,500.
    package static let headerSize = 16_384
    /// The maximum size of `identity.age` in bytes; an age header, one identity and its comments have less than 700.
    package static let identitySize = 4_096
    /// The maximum size of `SHA256SUMS` in bytes; it has four lines of at most 90.
    package static let checksumsSize = 1_024
    /// The maximum size of `SHA256SUMS.sig` in bytes; an armored Ed25519 SSHSIG has about 300.
    package static let signatureSize = 1_024
    /// The maximum decompressed size of a stream in bytes; only a full keychain of the longest lines would exceed it.
    package static let streamSize: UInt64 = 64 << 30
}
