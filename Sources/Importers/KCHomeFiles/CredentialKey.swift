internal import KCByteStreams

/// Which key opens an encrypted credential of systemd, by the ID at its beginning.
package enum CredentialKey: String, CaseIterable, Hashable, Sendable {
    /// The key of the system, `/var/lib/systemd/credential.secret`.
    case host
    /// The security chip.
    case tpm2
    /// Both.
    case hostAndTPM2 = "host+tpm2"
    /// None: it is only packed.
    case null
    /// A kind that is not known, or no credential at all.
    case unknown

    /// True if only the machine that encrypted it can open it.
    package var isBoundToMachine: Bool { self != .null }

    // In hexadecimal (creds-util.h of systemd): keys for all users, for one user, and with a policy that a key signs.
    private static let ids: [(id: String, key: CredentialKey)] = [
        ("5a1c6a86df9d4096b1d5a65e0862f19a", .host), ("55b9ed1d38594d43a8319d2ebb332ac6", .host),
        ("0c7cc07b117645919c4b0bea08bc20fe", .tpm2), ("faf7eb9341e3412ca1a436f95a29362f", .tpm2),
        ("93a894094874449090caf2fc93cab553", .hostAndTPM2), ("ef4ac13679a9480ea7db68897f9f165d", .hostAndTPM2),
        ("af4950a849134eb1a73846304ff30c05", .hostAndTPM2), ("adbc4ca3efb64201ba881b6f2e4095ea", .hostAndTPM2),
        ("058469daf6f54324800549da0f8ea2fb", .null),
    ]

    /// Reads the ID of a credential in base64.
    init(_ bytes: borrowing SecretBytes) {
        // 24 characters are 18 bytes, more than an ID.
        var start: [UInt8] = []
        bytes.withBytes { span in
            for index in span.indices where start.count < 24 && span[index] > 0x20 { start.append(span[index]) }
        }
        guard let decoded = Base64.decode(start.span), decoded.count >= 16 else {
            self = .unknown
            return
        }
        let id = decoded.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        self = Self.ids.first { $0.id.exact == id.exact }?.key ?? .unknown
    }
}
