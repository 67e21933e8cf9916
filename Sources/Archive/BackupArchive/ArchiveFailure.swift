package import AgeEncryption
package import ByteStreams
package import Cryptography
internal import KeychainModel

/// Why an archive cannot be read or written.
package enum ArchiveFailure: Error, Hashable, Sendable {
    /// The file is not a kcbackup archive: not the tar profile, or without the header.
    case notAnArchive
    /// The archive says that a newer program wrote it; the version that it has is decimal digits, 20 at most.
    case newerFormat(found: String, known: Int64)
    /// The archive breaks a rule of its format or does not prove genuine; the rule holds no foreign text.
    case damaged(rule: String)
    /// Something in the archive is larger than allowed.
    case limit(String)
    /// The archive has no member that a passphrase opens.
    case noPassphraseSet
    case wrongPassphrase
    /// Another passcode was set when the unencrypted archive was made.
    case wrongPasscode
    /// It takes the passcode of the archive's time to open its secrets here.
    case passcodeNeeded
    /// None of the given identities opens the stream; the kinds of its recipients.
    case noMatchingIdentity([String])
    /// Neither passphrase nor identity was given.
    case keyNeeded(passphraseOpens: Bool)
    /// The archive cannot get other keys.
    case notRekeyable(Reason)
    /// A recipient or an identity cannot be used.
    case age(AgeFailure)
    /// Reading or writing failed below.
    case stream(StreamFailure)
    case file(FileFailure)
    /// A cryptographic library call failed for a reason that is not in the data.
    case cryptography(CryptographyFailure)

    /// Why an archive keeps the keys that it has.
    package enum Reason: Hashable, Sendable {
        /// It has no keys of its own.
        case unencrypted
        /// Another device signed it, and only that one can sign it again.
        case otherDevice
    }

    /// Damage of one member: it is not what was signed.
    static func checksum(_ member: ArchiveMember) -> ArchiveFailure {
        .damaged(rule: "'\(member.name)' does not have its checksum")
    }

    /// Sorts trouble in motion: what lies in the bytes is damage, what lies in the machine stays what it is.
    init(_ failure: StreamFailure) {
        switch failure.kind {
        case .truncated: self = .damaged(rule: "it ends early while \(failure.stage.rawValue)")
        // Tar and gzip state their rules as they should be, everybody else says what is wrong.
        case .malformed(let rule) where [.readingContainer, .decompressing].contains(failure.stage):
            self = .damaged(rule: "against the rule that \(rule)")
        case .malformed(let rule): self = .damaged(rule: "\(rule), found while \(failure.stage.rawValue)")
        case .authenticationFailed:
            self = .damaged(rule: "a part is not genuine, found while \(failure.stage.rawValue)")
        case .limitExceeded(let name, let found, let allowed):
            let size = found.map { "\($0) where " } ?? ""
            self = .limit("\(name): \(size)\(allowed) is the limit")
        case .system, .library, .interrupted: self = .stream(failure)
        }
    }

    /// Sorts trouble with a key, or with what the key opens: the parts of an archive that are age files.
    init(_ failure: AgeFailure) {
        switch failure {
        case .wrongPassphrase: self = .wrongPassphrase
        case .noMatchingIdentity(let stanzaTypes): self = .noMatchingIdentity(stanzaTypes)
        case .notAnAgeFile, .armored, .malformedArmor, .unsupportedVersion:
            self = .damaged(rule: "a part is not an age v1 file")
        case .malformedHeader(let rule): self = .damaged(rule: "\(rule), found in an age header")
        case .headerAuthentication: self = .damaged(rule: "an age header is not genuine")
        case .mixedPassphrase: self = .damaged(rule: "a passphrase stands beside other recipients")
        case .malformedIdentityLine, .unsupportedIdentity, .noIdentities, .identityFileNeedsPassphrase,
            .notForPassphrase:
            self = .damaged(rule: "what the passphrase opens is not an identity")
        case .headerTooLarge(let name, let allowed): self = .limit("\(name): \(allowed) is the limit")
        case .workFactorTooHigh(let found, let allowed):
            self = .limit("work factor of the passphrase: \(found) where \(allowed) is the limit")
        case .stream(let failure): self.init(failure)
        case .cryptography(let call): self = .cryptography(call)
        case .noRecipients, .malformedRecipient, .unsupportedRecipient, .malformedRecipientLine,
            .incompatibleRecipients:
            self = .age(failure)
        }
    }

    /// Sorts any failure of the layers below.
    init(any error: any Error) {
        switch error {
        case let failure as ArchiveFailure: self = failure
        case let failure as StreamFailure: self.init(failure)
        case let failure as AgeFailure: self.init(failure)
        case let failure as FileFailure: self = .file(failure)
        case let failure as CryptographyFailure: self = .cryptography(failure)
        default: self = .cryptography(.library("an unforeseen failure"))
        }
    }
}
