internal import KCBackupTasks
internal import KCReportText

/// The titles under which help lists options, in the order in which they follow each other.
package enum OptionTitle: String, CaseIterable, Sendable {
    /// The options that most people need, which each verb names itself.
    case main = "MAIN OPTIONS"
    case keychain = "KEYCHAIN AND FILE"
    case items = "WHICH ITEMS"
    case attributes = "ATTRIBUTES"
    case secret = "SECRET OF THE ITEM"
    case keys = "KEYS AND PASSCODES"
    case locking = "LOCKING"
    case folder = "FOLDER OF BACKUPS"
    case retention = "WHICH BACKUPS TO KEEP"
    case job = "JOB"
    case rules = "RULES"
    case questions = "QUESTIONS AND UNDO"
    case output = "OUTPUT"
}

extension OptionName {
    /// The title that lists the option, unless a verb has it among its main options or means something else by it.
    package var title: OptionTitle {
        switch self {
        case .all, .archive, .from, .home, .in, .into, .keychain, .output, .skipLocked:
            .keychain
        case .access, .accessible, .account, .attribute, .class, .group, .label, .server, .service, .synchronizable,
            .uuid:
            .items
        case .comment, .remove, .set:
            .attributes
        case .generate, .length, .noSecret, .secret, .secretFile, .with, .withFile:
            .secret
        case .alsoTo, .archivePasscode, .escrow, .identity, .identityPassphrase, .inspectRecipient, .keyFile, .keys,
            .newPasscode,
            .newPassphrase, .noPasscode, .outside, .passcode, .passphrase, .password, .recipient, .recipientsFile,
            .recipientsPassphrase, .countedBy, .heldBy, .postQuantum, .shares, .suggest, .unencrypted, .unlock,
            .withoutSandbox:
            .keys
        case .lockAfter, .lockOnSuspend, .noLockOnSuspend, .untilFirstUnlock:
            .locking
        case .acceptShrink, .change, .ifChanged, .lockWait, .rebuild, .to:
            .folder
        case .keepDaily, .keepHourly, .keepLast, .keepMonthly, .keepWeekly, .keepWithin, .keepYearly:
            .retention
        case .at, .copyTo, .crontab, .encryptedCredentials, .failureUnit, .fleet, .hookTimeout, .onChange, .onFailure,
            .onSuccess, .verifyCopies, .whenChanged,
            .system:
            .job
        case .acceptMissing, .acceptOrigin, .days, .device, .drill, .forDevice, .giveUpDeviceBinding, .inventory,
            .knownJunk,
            .last,
            .maxAge,
            .metadataReadable,
            .against, .on, .onConflict, .sample,
            .plaintext, .removeFromFile, .replace,
            .replaceUnarchived, .requireAll, .shard, .signers, .staysBehind:
            .rules
        case .check, .confirm, .dryRun, .keepKey, .list, .newKey, .noUndo, .undo, .withoutArchive, .yes:
            .questions
        case .code, .columns, .html, .json, .prometheus, .qr, .quiet, .reveal, .sort, .verbose, .wide:
            .output
        }
    }
}
