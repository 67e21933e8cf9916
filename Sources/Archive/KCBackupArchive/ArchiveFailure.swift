package import KCAgeEncryption
package import KCByteStreams
package import KCCryptography
internal import KCKeychainModel
internal import KCTarArchive

/// Why an archive cannot be read or written.
package enum ArchiveFailure: Error, Hashable, Sendable {
    /// The file is not a kcbackup archive: it does not follow the tar profile, or lacks the header.
    case notAnArchive
    /// A newer program wrote the archive; the version found consists of at most 20 decimal digits.
    case newerFormat(found: String, known: Int64)
    /// The archive breaks a rule of its format or is not genuine; the rule contains no foreign text.
    case damaged(rule: String)
    /// Something in the archive is larger than allowed.
    case limit(String)
    /// The archive has no member that a passphrase opens.
    case noPassphraseSet
    case wrongPassphrase
    /// A different passcode was set when the unencrypted archive was made.
    case wrongPasscode
    /// Opening the archive's secrets on this device requires the passcode that was set when the archive was made.
    case passcodeNeeded
    /// None of the given identities opens the stream; the value lists the kinds of its recipients, one of which is the
    /// archive's own if a passphrase opens it.
    case noMatchingIdentity([String], hasPassphrase: Bool)
    /// Neither passphrase nor identity was given.
    case keyNeeded(passphraseOpens: Bool)
    /// The keys of the archive cannot be changed.
    case notRekeyable(Reason)
    /// A recipient or an identity cannot be used.
    case age(AgeFailure)
    /// Reading or writing the underlying stream failed.
    case stream(StreamFailure)
    case file(FileFailure)
    /// A cryptographic library call failed for a reason other than the data.
    case cryptography(CryptographyFailure)

    /// Why the keys of an archive cannot be changed.
    package enum Reason: Hashable, Sendable {
        /// The archive has no keys of its own.
        case unencrypted
        /// Another device signed it, and only that one can sign it again.
        case otherDevice
    }

    /// Something was appended to the archive.
    package static let somethingFollows = "something follows its end"

    /// A member is damaged: its checksum is not the one that was signed.
    static func checksum(_ member: ArchiveMember) -> ArchiveFailure {
        .damaged(rule: "'\(member.name)' does not match its checksum")
    }

    /// Converts a stream failure: a fault in the data becomes damage, a fault of the system stays a stream failure.
    init(_ failure: StreamFailure) {
        switch failure.kind {
        case .truncated: self = .damaged(rule: "it ends early while \(failure.stage.rawValue)")
        case .malformed(TarDirectory.endRule): self = .damaged(rule: Self.somethingFollows)
        // Tar and gzip state the rule that was broken; all other stages state what is wrong.
        case .malformed(let rule) where [.readingContainer, .decompressing].contains(failure.stage):
            self = .damaged(rule: "against the rule that \(rule)")
        case .malformed(let rule): self = .damaged(rule: "\(rule), found while \(failure.stage.rawValue)")
        case .authenticationFailed:
            self = .damaged(rule: "a part is not genuine, found while \(failure.stage.rawValue)")
        case .limitExceeded(let name, let found, let allowed):
            let size = found.map { "\($0) where " } ?? ""
            self = .limit("\(name): \(size)\(allowed) is the limit")
        case .system, .library, .libraryMissing, .interrupted: self = .stream(failure)
        }
    }

    /// Converts a failure of a part of an archive that is an age file: of its key, or of the content that the key
    /// opens.
    init(_ failure: AgeFailure) {
        switch failure {
        case .wrongPassphrase: self = .wrongPassphrase
        case .noMatchingIdentity(let kinds): self = .noMatchingIdentity(kinds, hasPassphrase: false)
        case .notAnAgeFile, .armored, .malformedArmor, .unsupportedVersion:
            self = .damaged(rule: "a part is not an age v1 file")
        case .malformedHeader(let rule): self = .damaged(rule: "\(rule), found in an age header")
        case .headerAuthentication: self = .damaged(rule: "an age header is not genuine")
        case .mixedPassphrase: self = .damaged(rule: "a passphrase stands beside other recipients")
        case .malformedIdentityLine, .unsupportedIdentity, .sshIdentity, .noIdentities, .identityFileEncoded,
            .identityFileNeedsPassphrase, .notForPassphrase:
            self = .damaged(rule: "what the passphrase opens is not an identity")
        case .headerTooLarge(let name, let allowed): self = .limit("\(name): \(allowed) is the limit")
        case .workFactorTooHigh(let found, let allowed):
            self = .limit("work factor of the passphrase: \(found) where \(allowed) is the limit")
        case .stream(let failure): self.init(failure)
        case .cryptography(let call): self = .cryptography(call)
        case .noRecipients, .malformedRecipient, .unsupportedRecipient, .malformedRecipientLine,
            .incompatibleRecipients, .plugin:
            self = .age(failure)
        }
    }

    /// Converts any failure of the lower layers.
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

extension ArchiveFailure {
    /// True if another key might open the archive.
    package var isOfKey: Bool {
        switch self {
        case .noPassphraseSet, .wrongPassphrase, .noMatchingIdentity, .keyNeeded: true
        case .notRekeyable, .notAnArchive, .newerFormat, .damaged, .limit, .wrongPasscode, .passcodeNeeded, .age,
            .stream, .file, .cryptography:
            false
        }
    }

    /// True if the bytes are not those of an archive as it was made.
    package var isOfDamage: Bool {
        switch self {
        case .notAnArchive, .damaged, .cryptography(.authentication): true
        case .age(let failure): failure.isOfDamage
        case .stream(let failure): failure.isOfDamage
        case .newerFormat, .limit, .notRekeyable, .noPassphraseSet, .wrongPassphrase, .noMatchingIdentity, .keyNeeded,
            .wrongPasscode, .passcodeNeeded, .file, .cryptography:
            false
        }
    }
}

extension AgeFailure {
    fileprivate var isOfDamage: Bool {
        switch self {
        case .notAnAgeFile, .armored, .malformedArmor, .malformedHeader, .headerAuthentication, .mixedPassphrase,
            .cryptography(.authentication):
            true
        case .stream(let failure): failure.isOfDamage
        default: false
        }
    }
}

extension StreamFailure {
    fileprivate var isOfDamage: Bool {
        switch kind {
        case .truncated, .malformed, .authenticationFailed: true
        default: false
        }
    }
}
