internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
package import KCDeviceIdentity
internal import KCHomeFiles
package import KCItemSources
internal import KCItemStores
internal import KCKernelKeyring
internal import KCKeychainKeys
package import KCKeychainModel
package import KCKeychainStore
internal import KCReportText
internal import KCStoreTasks

/// Explains that no item matches.
private func explainNoItem(of name: String?) -> Explanation {
    let file = name.flatMap { FileOfItems.path($0) }
    let store =
        DesktopKeyring(name)?.words ?? file.map { quoted($0) } ?? name.map { "keychain \(quoted($0))" }
        ?? "the keychain"
    return Explanation(
        .notFound, "no item of \(store) matches",
        hint: "'kcbackup item list\(unquotedStoreOption(name ?? ""))' shows what there is")
}

/// Explains a keychain failure.
///
/// - Parameter name: the keychain as named by the user.
package func explainKeychain(_ error: KeychainStoreError, keychain name: String?) -> Explanation {
    let keychain = name.map(storeWords) ?? "the keychain"
    switch error {
    case .notFound:
        let explanation = Explanation(
            .notFound, "there is no \(name == nil ? "such keychain" : keychain)",
            hint: "'kcbackup keychain list' shows the keychains, "
                + "'kcbackup keychain create\(unquotedOperand(name ?? ""))' makes one")
        guard let root = name.flatMap({ HomeRoot(storeName: $0 + ":") }) else { return explanation }
        return explanation.adding(["did you mean '\(OptionName.keychain.spelling) \(root.storeName)'?"])
    case .exists:
        return Explanation(
            .exists, "\(keychain) exists already", hint: "give the new one another name")
    case .notAKeychain(let mismatch):
        let explanation = Explanation(.damaged, "\(keychain) is not a kcbackup keychain: \(mismatch.rawValue)")
        // A path can lead to any file; in the data folder there are keychains alone, which damage can make unrecognizable.
        if let meant = name.flatMap({ MeantStore($0) }) { return explanation.adding([meant.words]) }
        guard let name, !name.exact.contains("/") else { return explanation }
        return explanation.adding([keptState, anotherName, freeName])
    case .severalNames(let path):
        return Explanation(
            .damaged,
            "\(keychain) has more than one name, each of which would have a journal of its own: \(quoted(path))",
            hint: "'find / -xdev -samefile \(displayed(path, limit: 200))' shows the names; remove all but one")
    case .foreignJournal(let path):
        return Explanation(
            .damaged, "a journal that kcbackup did not write lies beside \(keychain): \(quoted(path))",
            hint: "if no other program has the keychain open, move that file to another folder, and try again")
    case .newerFormat(let found, let known):
        return Explanation(
            .limit, "\(keychain) has format version \(found), and this program knows up to \(known)",
            hint: "use a newer version of kcbackup")
    case .damaged(let rule):
        return Explanation(.damaged, "\(keychain) is damaged: \(rule)", hint: keptState, anotherName, freeName)
    case .otherDevice(let device):
        return Explanation(
            .refused, "\(keychain) belongs to device \(device), and this device has another key",
            hint:
                "'kcbackup device import FILE' brings that device's key back, from what 'kcbackup device export' wrote",
            anotherName, freeName)
    case .busy:
        return Explanation(
            .busy, "another program is using \(keychain)", hint: "wait until it has ended, and try again")
    case .locked:
        return Explanation(
            .locked, "\(keychain) is locked, and the item needs its passcode",
            remedies: [.passcode("give the passcode with '\(OptionName.passcode.spelling) SOURCE'")])
    case .presenceNeeded:
        return Explanation(
            .locked, "the item asks for the passcode of \(keychain) each time it is read",
            remedies: [.passcode("give the passcode with '\(OptionName.passcode.spelling) SOURCE'")])
    case .itemsAskForPasscode(let count):
        return Explanation(
            .refused,
            "\(counted(count, "item")) of \(keychain) \(count == 1 ? "asks" : "ask") for the passcode each time, so it "
                + "cannot be removed",
            hint:
                "'kcbackup item list \(OptionName.access.spelling) user-presence' and 'device-passcode' show such items, "
                + "and 'kcbackup item update … \(OptionName.remove.spelling) access' ends that")
    case .wrongPasscode:
        return Explanation(
            .wrongKey, "wrong passcode for \(keychain)",
            hint: ifLost)
    case .tooManyAttempts(let seconds):
        return Explanation(
            .locked, "too many wrong passcodes for \(keychain)",
            hint: "the next attempt is possible in \(duration(seconds: seconds))")
    case .passcodeNotSet:
        return Explanation(
            .refused,
            "WhenPasscodeSetThisDeviceOnly items, and items that ask for the passcode, need a keychain with a passcode, "
                + "and \(keychain) has none",
            hint:
                "set one with 'kcbackup keychain set-passcode', or choose another '\(OptionName.accessible.spelling)' or "
                + "'\(OptionName.access.spelling)'")
    case .passcodeEmpty:
        return Explanation(
            .usage, "the passcode is empty",
            hint: "for a keychain without a passcode, use '\(OptionName.noPasscode.spelling)'")
    case .escrow(let problem): return explainEscrow(problem, keychain, name)
    case .token(let problem): return explainTokenRecord(problem, keychain)
    case .duplicateItem:
        return Explanation(
            .exists, "\(keychain) has an item with the same unique key",
            hint: sameKeyHint(name ?? ""))
    case .duplicateUUID(let uuid):
        return Explanation(
            .exists, "\(keychain) has another item with the UUID \(uuid)",
            hint: "leave 'uuid' out to get a new one")
    case .itemNotFound: return explainNoItem(of: name)
    case .itemDamaged(let uuid):
        return Explanation(
            .damaged, "the item \(uuid) of \(keychain) is damaged: its seal is broken",
            hint: "restore it from a backup with 'kcbackup restore \(OptionName.onConflict.spelling) overwrite', or "
                + "remove it with "
                + "'kcbackup item delete \(OptionName.uuid.spelling) \(uuid)'")
    case .unchangeable(let code):
        return Explanation(.usage, "the attribute '\(code.word)' is kept by the keychain itself")
    case .item(let problem): return explainItem(problem)
    case .file(let failure): return explainFile(failure)
    case .limit(let what, let found, let allowed):
        return Explanation(.limit, "\(keychain): \(what): \(found), and \(allowed) is the limit")
    case .diskFull:
        return Explanation(
            .io, "no space is left for \(keychain); nothing was changed", hint: "make room, and try again")
    case .readOnly:
        return Explanation(
            .io, "\(keychain) cannot be written; nothing was changed", hint: "check who may write there")
    case .kernelKeys(let failure):
        return Explanation(
            .io, "the unlocked state of \(keychain) cannot be stored or looked up: \(failure.reason)",
            remedies: [
                .passcode("'\(OptionName.passcode.spelling) SOURCE' opens the keychain for one command without it")
            ])
    case .sqlite(let code):
        return Explanation(
            .io,
            "SQLite failed on \(keychain): \(KeychainStoreError.words(ofSQLiteCode: code)) (result code \(code))")
    case .cryptography(let failure): return explainCryptography(failure)
    case .interrupted: return explainInterruption()
    }
}

// Advice for a keychain that cannot be opened: nothing can be restored into it, and its name is taken.
private let anotherName =
    "'kcbackup restore ARCHIVE \(OptionName.keychain.spelling) NAME' restores a backup into a new one"
private let keptState =
    "'kcbackup undo' brings back its state before the last change by a command, "
    + "if one is kept"
private let freeName = "'kcbackup keychain delete' deletes this one, after which its name can be used again"

/// Explains why an escrow key or record cannot be used.
///
/// - Parameters:
///   - keychain: as in a sentence.
///   - name: as named by the user.
private func explainEscrow(_ problem: EscrowProblem, _ keychain: String, _ name: String?) -> Explanation {
    let word: String = name.map(shellWord) ?? "NAME"
    let enable = "'kcbackup keychain escrow enable \(word) \(OptionName.output.spelling) FILE'"
    let again = "'kcbackup keychain escrow revoke \(word)' removes it, \(enable) makes a new one"
    return switch problem {
    case .none:
        Explanation(
            .wrongKey, "\(keychain) has no escrow record: no escrow key opens it",
            hint: "\(enable) makes one")
    case .exists: Explanation(.exists, "\(keychain) has an escrow record already", hint: again)
    case .noPasscode:
        Explanation(
            .refused, "\(keychain) has no passcode, so its backups need no escrow key",
            hint: "leave out '\(OptionName.escrow.spelling)'; 'kcbackup keychain set-passcode' sets a passcode")
    case .otherKey:
        Explanation(
            .wrongKey, "the escrow key is not that of \(keychain)",
            hint: "'kcbackup keychain info' shows the public key of the right one; each file has its own in a comment")
    case .forged:
        Explanation(
            .damaged, "the escrow record of \(keychain) is not one that its passcode made", hint: again)
    case .malformedLine(let line):
        Explanation(
            .damaged, "line \(line) of the escrow key file is not an escrow key",
            hint: "'kcbackup keychain escrow enable' writes such files")
    case .noKey:
        Explanation(
            .damaged, "there is no key in the escrow key file",
            hint: "'kcbackup keychain escrow enable' writes such files")
    }
}

/// Explains invalid attributes.
package func explainItem(_ problem: ItemProblem) -> Explanation {
    switch problem {
    case .unknownAttribute(let name):
        Explanation(
            .usage, "there is no attribute \(quoted(name))\(meant(by: name))",
            hint: "an attribute is named by Apple's four letters or in words, as in 'acct' and 'account'")
    case .wrongKind(let code): Explanation(.usage, problem.rule, hint: "it takes \(valueWords(code))")
    case .unknownConstraint:
        Explanation(
            .usage, problem.rule,
            hint: "it is \(AccessConstraint.allCases.map { "'\($0.rawValue)'" }.joined(separator: " or "))")
    case .synchronizableAsks:
        Explanation(
            .usage, problem.rule,
            hint: "leave out '\(OptionName.synchronizable.spelling)' or '\(OptionName.access.spelling)'")
    case .unknownAccessibility:
        Explanation(
            .usage, problem.rule,
            hint: "it is one of " + Accessibility.allCases.map { "\($0.rawValue) (\($0.name))" }.joined(separator: ", ")
        )
    case .notInClass(let code, let itemClass):
        Explanation(
            .usage, "\(withArticle(itemClass.name)) has no \(code.word) ('\(code.code)')",
            hint: "choose another '\(OptionName.class.spelling)', or leave the attribute out")
    case .thisDeviceOnlySynchronizable:
        Explanation(
            .usage, problem.rule,
            hint:
                "leave out '\(OptionName.synchronizable.spelling)', or choose another '\(OptionName.accessible.spelling)'"
        )
    case .attributeTooLarge, .attributesTooLarge, .secretTooLarge, .tooManyExtra, .extraTooLarge:
        Explanation(.limit, problem.rule)
    case .missing, .extraOutOfOrder, .reservedExtra: Explanation(.usage, problem.rule)
    }
}

/// Returns the attribute that was probably meant, as the end of a sentence; empty if none is similar.
private func meant(by name: String) -> String {
    if let exact = AttributeCode(named: name) { return "; did you mean '\(exact.code)'?" }
    guard let nearest = AttributeCode.nearest(to: name) else { return "" }
    return "; did you mean '\(nearest.word)' (\(nearest.code))?"
}

/// Describes the values that an attribute accepts on the command line.
private func valueWords(_ code: AttributeCode) -> String {
    switch code.kind {
    case .string, .textOrData, .dataOrText: "text"
    case .data: "bytes, as in '\(code.code):base64=AP8='"
    case .number where code.isFourCharacters: "a whole number, or four characters as in 'htps'"
    case .number: "a whole number; yes and no are 1 and 0"
    case .date: "a date in UTC, as in '2026-03-01T09:30:00.000000Z'"
    }
}

/// Explains an invalid line in a file of items, without its number.
package func explainImportLine(_ problem: ItemLines.Problem) -> Explanation {
    let hint = "nothing was written; correct the line, and try again"
    switch problem {
    case .line(.malformed(let malformed)):
        return Explanation(.usage, "\(malformed.rule), at byte \(malformed.position)", hint: hint)
    case .line(.brokenSeal):
        return Explanation(
            .damaged, "the item was listed without its secret, since its seal is broken",
            hint: "nothing was written; leave the item out, and try again")
    case .line(.secretMissing):
        return Explanation(
            .usage,
            "'size' says that there is a secret, but it is missing: was '\(OptionName.reveal.spelling)' forgotten?",
            hint: hint)
    case .line(.item(let problem)):
        let explanation = explainItem(problem)
        return Explanation(explanation.status, explanation.message, hint: hint)
    case .tooLong(let limit): return Explanation(.limit, "it has more than \(limit) bytes", hint: hint)
    case .sameKey(let line):
        return Explanation(.exists, "line \(line) has an item with the same unique key", hint: hint)
    case .sameUUID(let line):
        return Explanation(.usage, "line \(line) has the same UUID on another item", hint: hint)
    }
}

/// Advice for a machine that had a key.
package let reinstalled =
    "if this is a machine that was reinstalled, and you kept its key, 'kcbackup device import FILE' first"

/// Advice for a restore that leaves items of another device behind.
package let reinstalledThenRestored =
    "if this is the machine that made the archive, reinstalled: 'kcbackup device import FILE' brings its key back, "
    + "and the same restore then brings these items"

/// Advice for a wrong secret.
package let ifLost = "if it is lost: 'man kcbackup', WHEN SOMETHING IS LOST, says what else opens it"

/// Explains a device key failure.
package func explainDeviceKey(_ failure: DeviceKeyFailure) -> Explanation {
    switch failure {
    case .notFound(let path):
        Explanation(
            .notFound, "this device has no key yet (\(quoted(path)))",
            hint: reinstalled, "otherwise 'kcbackup keychain create' makes it, together with the first keychain")
    case .exists(let path):
        Explanation(
            .exists, "another device key is there already: \(quoted(path))",
            hint:
                "in another data folder ('XDG_DATA_HOME=~/other kcbackup …') a key of its own can be used")
    case .otherMachine(_, let device):
        Explanation(
            .refused, "the key of device \(device) was made on another machine",
            hint: "'kcbackup device adopt' asks whether this is still that device (a reinstalled system, a new disk) "
                + "or another one (a copied home folder)")
    case .damaged(let path, let rule):
        Explanation(
            .damaged, "the device key \(quoted(path)) is damaged: \(rule)",
            hint: "put it back from your copy of the home folder",
            "'kcbackup device import FILE' brings the key back, from what 'kcbackup device export' wrote")
    case .exportDamaged(let path, let rule):
        Explanation(
            .damaged, "\(quoted(path)) is not a complete copy of a device key: \(rule); nothing was changed",
            hint: "use another copy that 'kcbackup device export' wrote")
    case .heldByChip(_, let device):
        Explanation(.exists, "the key of device \(device) is in the TPM already; nothing was changed")
    case .heldByFile(_, let device):
        Explanation(.exists, "the key of device \(device) is in a file already; nothing was changed")
    case .file(let failure): explainFile(failure)
    case .cryptography(let failure): explainCryptography(failure)
    }
}

/// Explains a failure of the list of trusted devices.
package func explainTrustedDevices(_ failure: TrustedDevicesFailure) -> Explanation {
    switch failure {
    case .altered(let path):
        Explanation(
            .damaged, "the list of trusted devices was changed by another program: \(quoted(path))",
            hint: "remove the file, then trust your devices again with 'kcbackup device trust'")
    case .otherFormat(let path):
        Explanation(
            .limit, "another version of kcbackup wrote the list of trusted devices: \(quoted(path))",
            hint: "use that version, or remove the file, and trust your devices again with 'kcbackup device trust'")
    case .nameNotAllowed:
        Explanation(
            .usage,
            "a device's name has 1 to \(TrustedDevices.nameLimit) bytes, no control characters, and no space at its ends"
        )
    case .full(let allowed):
        Explanation(
            .limit, "\(allowed) devices are trusted already, which is the limit",
            hint: "remove one with 'kcbackup device untrust'")
    case .file(let failure): explainFile(failure)
    case .cryptography(let failure): explainCryptography(failure)
    }
}
