internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKernelKeyring
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecurityStatus

/// The cause of a keychain file error.
func cause(_ error: KeychainStoreError) -> Cause {
    switch error {
    case .notFound: Cause(.noSuchKeychain)
    case .exists: Cause(.duplicateKeychain)
    case .notAKeychain(let mismatch): Cause(.invalidKeychain, mismatch.rawValue)
    case .severalNames(let path):
        Cause(.invalidKeychain, "the file has more than one name: \(displayed(path, limit: 1_000))")
    case .foreignJournal(let path):
        Cause(.invalidKeychain, "a journal of another program lies beside it: \(displayed(path, limit: 1_000))")
    case .newerFormat(let found, let known):
        Cause(.wrongVersion, "the file has format version \(found), and this program knows up to \(known)")
    case .damaged(let rule): Cause(.invalidKeychain, "it is damaged: \(rule)")
    case .otherDevice(let device):
        Cause(.notAvailable, "the keychain belongs to device \(device), and this device has another key")
    case .busy: Cause(.openedForWriting, "another program is using the keychain; try again when it has ended")
    case .locked: Cause(.interactionNotAllowed)
    case .presenceNeeded: Cause(.interactionNotAllowed)
    case .itemsAskForPasscode(let count): Cause(.parameter, "items that need its password: \(count)")
    case .wrongPasscode: Cause(.authFailed)
    case .tooManyAttempts(let seconds):
        Cause(.authFailed, "too many wrong passwords; the next attempt is possible in \(seconds) s")
    case .passcodeNotSet:
        Cause(
            .authFailed,
            "items of WhenPasscodeSetThisDeviceOnly, and items that ask for the password, need a keychain with one")
    case .passcodeEmpty: Cause(.parameter, "the password is empty")
    case .escrow: Cause(.invalidKeychain, "its escrow record is not one that its passcode made")
    case .token: Cause(.invalidKeychain, "the record of a security token is not one that its passcode made")
    case .duplicateItem, .duplicateUUID: Cause(.duplicateItem)
    case .itemNotFound: Cause(.itemNotFound)
    case .itemDamaged(let uuid): Cause(.invalidItemReference, "the seal of item \(uuid) is broken")
    case .unchangeable: Cause(.readOnlyAttribute)
    case .item(let problem): cause(problem)
    case .file(let failure): cause(failure)
    case .limit(let what, let found, let allowed):
        Cause(.dataTooLarge, "\(what): \(found), and \(allowed) is the limit")
    case .diskFull: Cause(.diskFull)
    case .readOnly: Cause(.readOnly)
    case .sqlite(let code):
        Cause(.io, "SQLite failed: \(KeychainStoreError.words(ofSQLiteCode: code)) (result code \(code))")
    case .cryptography(let failure): cause(failure)
    case .kernelKeys(let failure): Cause(.notAvailable, failure.reason)
    case .interrupted: .interruption
    }
}

/// The cause of invalid attributes.
func cause(_ problem: ItemProblem) -> Cause {
    switch problem {
    case .unknownAttribute, .notInClass: Cause(.noSuchAttribute)
    case .wrongKind, .missing, .unknownAccessibility, .unknownConstraint, .extraOutOfOrder, .reservedExtra:
        Cause(.parameter)
    case .thisDeviceOnlySynchronizable:
        Cause(.parameter, "a synchronizable item cannot be bound to one device")
    case .synchronizableAsks: Cause(.parameter, "a synchronizable item cannot ask for a password")
    case .attributeTooLarge(let code):
        Cause(.dataTooLarge, "\(code.code) has more than \(ItemLimits.attributeSize) bytes")
    case .secretTooLarge: Cause(.dataTooLarge, "the data has more than \(ItemLimits.secretSize) bytes")
    case .attributesTooLarge, .tooManyExtra, .extraTooLarge: Cause(.dataTooLarge)
    }
}

/// The cause of a failed keychain lookup.
func cause(_ failure: LocalKeychainFailure) -> Cause {
    switch failure {
    case .emptyName: Cause(.parameter, "the name of the keychain is empty")
    case .invalidName:
        Cause(
            .parameter,
            "a name has letters, digits, '.', '_', '-' or spaces, at most 64 bytes, and does not begin with '.', '-' or a space"
        )
    case .deviceKeyMissing(let keychains):
        Cause(
            .notAvailable,
            "the device key is missing, and no other opens the keychains here (\(keychains)); see 'kcbackup device'")
    case .listsDamaged(let path):
        Cause(
            .decode, "the file with the default keychain and the search list is damaged; to start over, remove \(path)")
    case .borrowedRights:
        Cause(.notAvailable, "the program runs with the rights of another user than the one who started it")
    case .file(let failure): cause(failure)
    }
}

/// The cause of a device key error.
func cause(_ failure: DeviceKeyFailure) -> Cause {
    switch failure {
    case .notFound: Cause(.notAvailable, "this device has no key yet; it is made with the first keychain")
    case .exists: Cause(.notAvailable, "a device key is there already")
    case .otherMachine:
        Cause(
            .notAvailable,
            "the device key was made on another machine; see 'kcbackup device adopt'")
    case .damaged(_, let rule), .exportDamaged(_, let rule):
        Cause(.notAvailable, "the device key is damaged: \(rule)")
    case .heldByChip, .heldByFile: Cause(.notAvailable, "the device key is there already")
    case .file(let failure): Cause(.notAvailable, cause(failure).note)
    case .cryptography(let failure): cause(failure)
    }
}

/// The cause of a file error.
func cause(_ failure: FileFailure) -> Cause {
    switch failure.problem {
    case .notFound: Cause(.noSuchKeychain, "there is no \(failure.path)")
    case .exists: Cause(.duplicateKeychain, "\(failure.path) exists already")
    case .notFolder: Cause(.notAvailable, "\(failure.path) is not a folder")
    case .notRegular: Cause(.invalidKeychain, "\(failure.path) is not a regular file")
    case .exposed(let mode):
        Cause(
            .notAvailable,
            "others can use \(failure.path) (mode \(String(mode, radix: 8))), so it is not trusted; see chmod(1)")
    case .foreignOwner: Cause(.notAvailable, "\(failure.path) belongs to another user")
    case .sharedFolder(let mode):
        Cause(
            .notAvailable,
            "others can change what is in the folder \(failure.path) (mode \(String(mode, radix: 8))), so it is not "
                + "trusted; see chmod(1)")
    case .foreignFolder(let owner):
        Cause(.notAvailable, "the folder \(failure.path) belongs to another user (UID \(owner)); see sudo(8), -H")
    case .busy: Cause(.openedForWriting, "another program is changing \(failure.path)")
    case .changed: Cause(.openedForWriting, "another program has changed \(failure.path)")
    case .displaced(let other):
        Cause(
            .openedForWriting,
            "several programs have replaced \(failure.path), and the version of one is at \(other) now")
    case .remains(let old, let code):
        cause(errno: code, "\(failure.path) is replaced, but what it was is still there as \(old)")
    case .noSafeNaming:
        Cause(.writePermission, "the file system cannot name \(failure.path) without the risk of replacing a file")
    case .tooLarge(let limit): Cause(.dataTooLarge, "\(failure.path) has more than \(limit) bytes")
    case .system(let code, let doing): cause(errno: code, "\(doing) \(failure.path)")
    }
}

/// The cause of a stream failure.
func cause(_ failure: StreamFailure) -> Cause {
    switch failure.kind {
    case .truncated, .malformed, .authenticationFailed: Cause(.decode, "while \(failure.stage.rawValue)")
    case .limitExceeded(let what, _, let allowed): Cause(.dataTooLarge, "\(what): \(allowed) is the limit")
    case .system(let code): cause(errno: code, "while \(failure.stage.rawValue)")
    case .library(let what): Cause(.internalError, what)
    case .libraryMissing(let name): Cause(.notAvailable, "the library \(name) cannot be loaded")
    case .interrupted: .interruption
    }
}

/// The cause of a missing answer.
func cause(_ failure: TerminalFailure) -> Cause {
    switch failure {
    case .unavailable: Cause(.interactionNotAllowed)
    case .closed: Cause(.userCanceled)
    case .lineTooLong(let limit): Cause(.parameter, "the line has more than \(limit) bytes")
    case .interrupted: .interruption
    }
}

/// The cause of a libcrypto failure.
func cause(_ failure: CryptographyFailure) -> Cause {
    switch failure {
    case .authentication: Cause(.decode)
    case .outOfMemory: Cause(.allocation)
    case .randomness: Cause(.io, "the operating system gives no random numbers")
    case .library(let operation): Cause(.internalError, "libcrypto failed at '\(operation)'")
    case .libraryMissing(let name): Cause(.notAvailable, "the library \(name) cannot be loaded")
    case .unsupportedParameters(let what): Cause(.internalError, "libcrypto was asked for an unsupported \(what)")
    case .chip(.lockedOut): Cause(.authFailed, "the TPM takes no password for a while, after wrong guesses")
    case .chip(let failure): Cause(.notAvailable, note(failure))
    }
}

/// Why the chip that holds the device key does not let it be used.
private func note(_ failure: ChipFailure) -> String {
    switch failure {
    case .libraryMissing(let name): "the library that talks to a TPM is missing: \(name)"
    case .absent: "the device key is held by a TPM, and there is none here"
    case .noAccess: "the device key is held by a TPM, which this user may not use"
    case .wrongPassword: "the TPM has counted a wrong password"
    case .countsTooFew: "the TPM should count no passwords"
    case .countedElsewhere: "the TPM that counts the password is another one, was cleared, or is not here"
    case .noAnswer, .lockedOut, .disabled, .ownerPassword, .refused:
        "the device key is held by a TPM, which does not let it be used; see 'kcbackup doctor'"
    case .otherChip: "the device key is held by another TPM, or this one was cleared"
    case .damaged: "what the TPM sealed was altered"
    case .tampered: "an answer of the TPM was altered"
    }
}

/// The cause of a certificate or key file error.
func cause(_ failure: CertificateFailure) -> Cause {
    switch failure {
    case .malformed(let rule): Cause(.unknownFormat, rule)
    case .unknownFormat: Cause(.unknownFormat)
    case .passphraseRequired: Cause(.passphraseRequired)
    case .wrongPassphrase: Cause(.authFailed)
    case .unsupported(let what): Cause(.unsupportedFormat, "not read here: \(what)")
    case .tooLarge(let limit): Cause(.dataTooLarge, "more than \(limit.value): \(limit.rawValue)")
    case .library(let operation): Cause(.internalError, "libcrypto failed at '\(operation)'")
    }
}

/// The cause of an `errno`.
private func cause(errno code: Int32, _ doing: String) -> Cause {
    switch code {
    // EINTR gets here only if a signal asked the process to stop.
    case 4 where Interruption.isRequested: .interruption
    // ENOSPC, EDQUOT
    case 28, 122: Cause(.diskFull, doing)
    // EPERM, EACCES, EROFS
    case 1, 13, 30: Cause(.writePermission, doing)
    default: Cause(.io, "\(doing): error \(code) of the operating system")
    }
}
