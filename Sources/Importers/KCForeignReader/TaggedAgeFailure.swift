internal import KCAgeEncryption
internal import KCByteStreams
internal import KCCryptography

extension Tagged {
    init(_ failure: AgeFailure) {
        self =
            switch failure {
            case .notAnAgeFile: Tagged("not-an-age-file")
            case .armored: Tagged("armored")
            case .malformedArmor(let rule): Tagged("malformed-armor", [rule])
            case .unsupportedVersion: Tagged("unsupported-version")
            case .malformedHeader(let rule): Tagged("malformed-header", [rule])
            case .headerTooLarge(let what, let allowed): Tagged("header-too-large", [what], [Int64(allowed)])
            case .headerAuthentication: Tagged("header-authentication")
            case .noMatchingIdentity(let kinds): Tagged("no-matching-identity", kinds)
            case .wrongPassphrase: Tagged("wrong-passphrase")
            case .notForPassphrase: Tagged("not-for-passphrase")
            case .workFactorTooHigh(let found, let allowed): Tagged("work-factor-too-high", [found, allowed])
            case .mixedPassphrase: Tagged("mixed-passphrase")
            case .incompatibleRecipients: Tagged("incompatible-recipients")
            case .noRecipients: Tagged("no-recipients")
            case .malformedRecipient: Tagged("malformed-recipient")
            case .unsupportedRecipient(let line, let kind):
                Tagged("unsupported-recipient", [kind], line.map { [Int64($0)] } ?? [])
            case .malformedRecipientLine(let line): Tagged("malformed-recipient-line", [line])
            case .malformedIdentityLine(let line): Tagged("malformed-identity-line", [line])
            case .unsupportedIdentity(let line, let kind): Tagged("unsupported-identity", [kind], [Int64(line)])
            case .sshIdentity(let failure): Tagged(failure)
            case .identityFileEncoded(let isUTF16): Tagged("identity-file-encoded", [isUTF16 ? 1 : 0])
            case .noIdentities: Tagged("no-identities")
            case .identityFileNeedsPassphrase: Tagged("identity-file-needs-passphrase")
            case .plugin(let name, _): Tagged("plugin", [name.description])
            case .stream(let failure): Tagged("of", tagged: Tagged(failure as any Error))
            case .cryptography(let failure): Tagged("of", tagged: Tagged(failure as any Error))
            }
    }

    private init(_ failure: SSHKeyFailure) {
        self =
            switch failure {
            case .malformed: Tagged("ssh-malformed")
            case .unsupported(let kind): Tagged("ssh-unsupported", [kind])
            case .weak(let bits): Tagged("ssh-weak", [bits])
            case .encrypted: Tagged("ssh-encrypted")
            case .cryptography(let failure): Tagged(AgeFailure.cryptography(failure))
            }
    }

    /// The failure of a layer below that this one passes on.
    private init(_ name: String, tagged: Tagged) { self.init(name, [tagged.name] + tagged.texts, tagged.numbers) }

    /// The failure of this name; nil for another one, or one without its values.
    ///
    /// The process that runs plugins knows what is wrong with one: here, it has only failed.
    var ageFailure: AgeFailure? { plainAgeFailure ?? otherAgeFailure }

    private var plainAgeFailure: AgeFailure? {
        switch name {
        case "not-an-age-file": .notAnAgeFile
        case "armored": .armored
        case "unsupported-version": .unsupportedVersion
        case "header-authentication": .headerAuthentication
        case "no-matching-identity": .noMatchingIdentity(texts)
        case "wrong-passphrase": .wrongPassphrase
        case "not-for-passphrase": .notForPassphrase
        case "mixed-passphrase": .mixedPassphrase
        case "incompatible-recipients": .incompatibleRecipients
        case "no-recipients": .noRecipients
        case "malformed-recipient": .malformedRecipient
        case "no-identities": .noIdentities
        case "identity-file-needs-passphrase": .identityFileNeedsPassphrase
        case "ssh-malformed": .sshIdentity(.malformed)
        case "ssh-encrypted": .sshIdentity(.encrypted)
        default: nil
        }
    }

    private var otherAgeFailure: AgeFailure? {
        switch name {
        case "malformed-armor": text().map { .malformedArmor($0) }
        case "malformed-header": text().map { .malformedHeader($0) }
        case "header-too-large":
            if let what = text(), let allowed = count() { .headerTooLarge(what, allowed: allowed) } else { nil }
        case "work-factor-too-high":
            if let found = count(), let allowed = count(1) {
                .workFactorTooHigh(found: found, allowed: allowed)
            } else {
                nil
            }
        case "unsupported-recipient": text().map { .unsupportedRecipient(line: count(), kind: $0) }
        case "malformed-recipient-line": count().map { .malformedRecipientLine($0) }
        case "identity-file-encoded": count().map { .identityFileEncoded(isUTF16: $0 == 1) }
        case "malformed-identity-line": count().map { .malformedIdentityLine($0) }
        case "unsupported-identity":
            if let line = count(), let kind = text() { .unsupportedIdentity(line: line, kind: kind) } else { nil }
        case "ssh-unsupported": text().map { .sshIdentity(.unsupported($0)) }
        case "ssh-weak": count().map { .sshIdentity(.weak(bits: $0)) }
        case "plugin": text().flatMap { PluginName($0) }.map { .plugin($0, .unattended) }
        case "of": failureBelow
        default: nil
        }
    }

    private var failureBelow: AgeFailure? {
        guard let name = text() else { return nil }
        func below(_ name: String) -> Tagged { Tagged(name, Array(texts.dropFirst()), numbers) }
        if let name = name.exact.removingPrefix("stream.") { return below(name).streamFailure.map { .stream($0) } }
        return name.exact.removingPrefix("cryptography.").flatMap { below($0).cryptographyFailure }
            .map { .cryptography($0) }
    }
}
