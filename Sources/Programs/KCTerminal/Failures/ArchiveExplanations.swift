package import KCAgeEncryption
package import KCBackupArchive
package import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCReportText

private let useAnother = "copy it again from where it was made, or use another archive"
private let copyAgain = "the copy may be incomplete: copy it again from where it was made, or use another archive"

/// Explains an archive failure.
package func explainArchive(_ failure: ArchiveFailure, _ path: String?) -> Explanation {
    let archive = path.map { quotedInput($0) } ?? "the archive"
    switch failure {
    case .notAnArchive:
        let message = "\(archive) is not a kcbackup archive"
        guard path == InputFile.standardInputName else { return Explanation(.damaged, message, hint: useAnother) }
        return Explanation(
            .damaged, message, hint: "'\(OptionName.from.spelling) FORMAT' reads another program's file from a pipe")
    case .newerFormat(let found, let known):
        return Explanation(
            .limit, "\(archive) has format version \(found), and this program knows up to \(known)",
            hint: "use a newer version of kcbackup")
    case .damaged(ArchiveFailure.somethingFollows):
        return Explanation(
            .damaged, "\(archive) is damaged: \(ArchiveFailure.somethingFollows)",
            hint: useAnother)
    case .damaged(let rule): return Explanation(.damaged, "\(archive) is damaged: \(rule)", hint: copyAgain)
    case .limit(let what): return Explanation(.limit, "\(archive): \(what)")
    case .notRekeyable(.unencrypted):
        return Explanation(
            .usage, "\(archive) is unencrypted and has no keys that could be changed",
            hint: "'kcbackup keychain set-passcode' changes what protects the keychain")
    case .notRekeyable(.otherDevice):
        return Explanation(
            .refused, "another device made \(archive), and only that one can sign it again",
            hint: "change its keys there, or restore it here and make a new backup")
    case .noPassphraseSet:
        return Explanation(
            .wrongKey, "no passphrase opens \(archive): it was made for public keys",
            hint: "give an identity file with '\(OptionName.identity.spelling) FILE'")
    case .wrongPassphrase:
        return Explanation(
            .wrongKey, "wrong passphrase for \(archive)",
            hint: ifLost)
    case .wrongPasscode:
        return Explanation(
            .wrongKey, "wrong passcode for \(archive)",
            hint: "'\(OptionName.archivePasscode.spelling)' takes the passcode that the keychain had when the archive "
                + "was made")
    case .passcodeNeeded:
        return Explanation(
            .wrongKey,
            "\(archive) has secrets that take the passcode that its keychain had when it was made, and none was given",
            hint: "give it with '\(OptionName.archivePasscode.spelling) SOURCE'")
    case .noMatchingIdentity(let kinds, let hasPassphrase):
        return explainClosed(archive, to: kinds, hasPassphrase: hasPassphrase)
    case .keyNeeded(let passphraseOpens):
        return Explanation(
            .wrongKey, "\(archive) is encrypted, and nothing to open it with was given",
            hint: passphraseOpens
                ? "give the passphrase with '\(OptionName.passphrase.spelling) SOURCE'"
                : "give an identity file with '\(OptionName.identity.spelling) FILE'")
    case .age(let failure): return explainAge(failure, path)
    case .stream(let failure): return explainStream(failure, path)
    case .file(let failure): return explainFile(failure)
    case .cryptography(let failure): return explainCryptography(failure)
    }
}

/// Explains that no identity opens an archive with recipients of these kinds.
private func explainClosed(_ archive: String, to kinds: [String], hasPassphrase: Bool) -> Explanation {
    // The passphrase opens an identity that is a recipient like others.
    let keys = hasPassphrase ? kinds.count - 1 : kinds.count
    if keys == 0 {
        return Explanation(
            .wrongKey, "no identity opens \(archive): it is encrypted with a passphrase",
            hint: "leave out '\(OptionName.identity.spelling)', and give the passphrase when you are asked, or with "
                + "'\(OptionName.passphrase.spelling) SOURCE'")
    }
    var hints = [
        "give another identity file with '\(OptionName.identity.spelling) FILE'; an inspect recipient's identity "
            + "opens the metadata alone"
    ]
    if kinds.contains(where: { ["p256tag", "mlkem768p256tag"].contains($0.exact) }) {
        hints.append("for a key in a token, give the identity file that the plugin of the token made")
    }
    if kinds.contains(where: { ["ssh-ed25519", "ssh-rsa"].contains($0.exact) }) {
        hints.append("for an SSH key, give the file of its private half, such as '~/.ssh/id_ed25519'")
    }
    if hasPassphrase {
        hints.append(
            "the passphrase of the archive opens it too: give it with '\(OptionName.passphrase.spelling) SOURCE'")
    }
    return Explanation(
        .wrongKey,
        "no identity opens \(archive), which has \(counted(keys, "recipient"))"
            + (hasPassphrase ? " and a passphrase" : ""),
        hints: hints)
}

/// Explains why a private key of SSH is no identity.
private func explainSSH(_ failure: SSHKeyFailure, _ file: String) -> Explanation {
    switch failure {
    case .malformed: return Explanation(.usage, "\(file) is damaged, or not a private key of SSH")
    case .unsupported(let kind):
        return Explanation(
            .usage, "\(file) is a private key of a kind that nothing can be encrypted to: \(kind)",
            hint: "of SSH keys, 'ssh-ed25519' and 'ssh-rsa' decrypt")
    case .weak(let bits):
        return Explanation(.usage, "\(file) is an RSA key of \(bits) bits, and 2048 are the fewest that are accepted")
    case .encrypted:
        return Explanation(
            .usage, "\(file) is a private key of SSH that is encrypted with a passphrase, which kcbackup does not read",
            hint: "in a folder in memory, such as $XDG_RUNTIME_DIR, make a copy, and decrypt it with "
                + "'ssh-keygen -p -N \"\" -f COPY'; remove it when you are done")
    case .cryptography(let failure): return explainCryptography(failure)
    }
}

/// Explains a failure of an age file, recipient or identity.
package func explainAge(_ failure: AgeFailure, _ path: String?) -> Explanation {
    let file = path.map { quotedInput($0) } ?? "the file"
    switch failure {
    case .notAnAgeFile: return Explanation(.damaged, "\(file) is not an age file")
    case .armored:
        return Explanation(
            .damaged, "\(file) is an age file in text armor, which kcbackup does not read",
            hint: "decrypt it with 'age -d', and encrypt it again without '-a'")
    case .malformedArmor(let rule):
        return Explanation(.damaged, "the text armor of \(file) is malformed: \(rule)")
    case .unsupportedVersion: return Explanation(.limit, "\(file) is an age file of an unknown version")
    case .malformedHeader(let rule): return Explanation(.damaged, "the age header of \(file) is malformed: \(rule)")
    case .headerTooLarge(let what, let allowed):
        return Explanation(.limit, "the age header of \(file) is too large: \(what), and \(allowed) is the limit")
    case .headerAuthentication:
        return Explanation(.damaged, "the age header of \(file) is not genuine", hint: copyAgain)
    case .noMatchingIdentity(let kinds):
        return Explanation(
            .wrongKey, "no identity opens \(file), which has \(counted(kinds.count, "recipient"))",
            hint: "give another identity file with '\(OptionName.identity.spelling) FILE'")
    case .wrongPassphrase: return Explanation(.wrongKey, "wrong passphrase for \(file)")
    case .workFactorTooHigh(let found, let allowed):
        return Explanation(
            .limit, "the passphrase of \(file) asks for 2^\(found) units of work, and 2^\(allowed) is the limit")
    case .mixedPassphrase: return Explanation(.damaged, "\(file) mixes a passphrase with other recipients")
    case .incompatibleRecipients:
        return Explanation(
            .usage, "post-quantum recipients cannot share a file with others, which would make it easier to open",
            hint: "give recipients 'age1pq1…' and 'age1tagpq1…', or others, but not both")
    case .noRecipients: return UsageProblem.noRestoreKey().explanation
    case .malformedRecipient:
        return Explanation(
            .usage, "a recipient is not a complete public key",
            hint: "replace 'age1…' by the public key that 'kcbackup keygen' prints, or quote all of an SSH key")
    case .unsupportedRecipient(let line, let kind):
        let subject = line.map { "line \($0) of \(file)" } ?? "the recipient"
        return Explanation(
            .usage, "\(subject) is of a kind that is not supported: \(kind)",
            hint:
                "'kcbackup keygen \(OptionName.output.spelling) FILE' makes an identity and prints its recipient, 'age1…'; "
                + "of SSH keys, 'ssh-ed25519' and 'ssh-rsa' of 2048 bits or more are supported")
    case .malformedRecipientLine(let line):
        return Explanation(.usage, "line \(line) of \(file) is not a recipient like 'age1…' or 'ssh-ed25519 AAAA…'")
    case .malformedIdentityLine(let line):
        return Explanation(
            .usage, "line \(line) of \(file) is not an identity",
            hint: "an identity is a line that begins with 'AGE-SECRET-KEY-'; "
                + "'\(OptionName.identity.spelling) tty' asks for the lines of a recovery kit")
    case .unsupportedIdentity(let line, let kind):
        return Explanation(
            .usage, "line \(line) of \(file) is an identity of a kind that is not supported: \(quoted(kind))",
            hint: "use identities from 'kcbackup keygen' or 'age-keygen'")
    case .sshIdentity(let failure): return explainSSH(failure, file)
    case .identityFileEncoded(let isUTF16):
        return Explanation(
            .usage,
            "\(file) \(isUTF16 ? "is in UTF-16" : "begins with a byte order mark"), as editors of Windows write it",
            hint: isUTF16
                ? "'iconv -f UTF-16 -t UTF-8 FILE' prints the text as it should be"
                : "'tail -c +4 FILE' prints the text without it")
    case .noIdentities: return Explanation(.usage, "\(file) holds no identity")
    case .identityFileNeedsPassphrase:
        return Explanation(
            .wrongKey, "the identity file \(file) is itself encrypted with a passphrase",
            hint: "decrypt it with 'age -d' first")
    case .notForPassphrase:
        return Explanation(
            .wrongKey, "\(file) is itself encrypted, and not with a passphrase",
            hint: "decrypt it with 'age -d -i IDENTITY' first")
    case .plugin(let plugin, let failure): return explainPlugin(plugin, failure)
    case .stream(let failure): return explainStream(failure, path)
    case .cryptography(let failure): return explainCryptography(failure)
    }
}

/// Explains a refused restore.
///
/// - Parameter path: the archive as named by the user, if it is known.
package func explainRestoreRefusal(_ refusal: RestoreRefusal, _ path: String?) -> Explanation {
    switch refusal {
    case .unencryptedElsewhere(let device):
        Explanation(
            .refused,
            "the archive is unencrypted and restores only on device \(device), which made it; nothing was written",
            hint: reinstalled,
            "otherwise make an encrypted one there: 'kcbackup create' without '\(OptionName.unencrypted.spelling)'")
    case .unknownOrigin(let device):
        Explanation(
            .refused, "the archive was signed by device \(device), which is not trusted; nothing was written",
            hint: "compare this ID with what 'kcbackup device show' prints on your device; if that is the same, add "
                + "'\(OptionName.acceptOrigin.spelling) ID', or run 'kcbackup device trust ID' once")
    case .wouldRemoveForBroken(let count):
        Explanation(
            .damaged,
            "\(counted(count, "item")) of the archive cannot be restored, since the seal is broken, and intact ones "
                + "would be removed; nothing was written",
            hint: "leave out '\(OptionName.replace.spelling)' to restore the others",
            "'kcbackup verify' lists the damaged ones")
    case .wouldRemoveUnread(let count):
        Explanation(
            .damaged,
            "the archive is incomplete: \(counted(count, "item")) \(count == 1 ? "was" : "were") left out, or not readable, "
                + "when it was made, and would be removed; nothing was written",
            hint: "leave out '\(OptionName.replace.spelling)' to restore what the archive has",
            "an archive that is complete can replace everything")
    case .wouldRemoveUnopened(let count):
        Explanation(
            .locked,
            "\(counted(count, "item")) of the archive cannot be opened, and intact ones would be removed; nothing was "
                + "written",
            remedies: [
                .passcode("unlock the keychain, or give its passcode with '\(OptionName.passcode.spelling) SOURCE'")
            ])
    case .wouldRemoveAsking(let count):
        Explanation(
            .refused,
            "\(counted(count, "item")) of the archive \(count == 1 ? "asks" : "ask") for a passcode each time, which is "
                + "not possible there, and others would be removed; nothing was written",
            hint: "leave out '\(OptionName.replace.spelling)', or restore into a keychain with a passcode")
    case .nothingMatches:
        Explanation(
            .notFound, "no item of the archive matches; nothing was written",
            hint: "'kcbackup inspect \(path.map(shellWord) ?? "ARCHIVE")' lists what the archive holds")
    case .itemsStayBehind(let count):
        Explanation(
            .refused, "\(counted(count, "item")) would stay behind, and all were required; nothing was written",
            hint: "leave out '\(OptionName.requireAll.spelling)' to restore the others")
    case .conflicts(let count):
        Explanation(
            .exists, "\(counted(count, "item")) would change one that is there; nothing was written",
            hint: "'\(OptionName.onConflict.spelling) newer', 'keep' or 'overwrite' says which one stays")
    case .cannotWrite(let item, let problem):
        Explanation(.refused, "\(item.words): \(problem.words); nothing was written")
    case .unconfirmed:
        Explanation(
            .busy, "items were added or changed since the question was asked; nothing was written",
            hint: "run the command again, which lists them")
    }
}

/// Explains that nothing was changed because the earlier state could not be kept.
package func explainNotKept(_ cause: Explanation) -> Explanation {
    if [.interrupted, .terminated].contains(cause.status) { return cause }
    return Explanation(
        cause.status, "nothing was changed, since the present state cannot be kept for 'undo': \(cause.message)",
        hint: "'\(OptionName.noUndo.spelling)' goes on without keeping it")
}
