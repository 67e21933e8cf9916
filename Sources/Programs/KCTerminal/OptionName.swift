package import ArgumentParser
internal import KCByteStreams
internal import KCReportText

/// The option names, for the parser and for all texts that mention them.
package enum OptionName: String, CaseIterable, Sendable {
    case acceptMissing = "accept-missing"
    case acceptOrigin = "accept-origin"
    case acceptShrink = "accept-shrink"
    case access
    case accessible
    case account
    case against
    case all
    case alsoTo = "also-to"
    case archive
    case archivePasscode = "archive-passcode"
    case at
    case attribute
    case change
    case `class`
    case check
    case code
    case columns
    case comment
    case confirm
    case copyTo = "copy-to"
    case countedBy = "counted-by"
    case crontab
    case days
    case device
    case drill
    case dryRun = "dry-run"
    case encryptedCredentials = "encrypted-credentials"
    case escrow
    case failureUnit = "failure-unit"
    case fleet
    case from
    case forDevice = "for-device"
    case generate
    case giveUpDeviceBinding = "give-up-device-binding"
    case group
    case heldBy = "held-by"
    case home
    case hookTimeout = "hook-timeout"
    case html
    case identity
    case identityPassphrase = "identity-passphrase"
    case ifChanged = "if-changed"
    case inspectRecipient = "inspect-recipient"
    case `in`
    case into
    case inventory
    case json
    case keepDaily = "keep-daily"
    case keepHourly = "keep-hourly"
    case keepKey = "keep-key"
    case keepLast = "keep-last"
    case keepMonthly = "keep-monthly"
    case keepWeekly = "keep-weekly"
    case keepWithin = "keep-within"
    case keepYearly = "keep-yearly"
    case keyFile = "key-file"
    case keys
    case keychain
    case label
    case knownJunk = "known-junk"
    case last
    case length
    case list
    case lockAfter = "lock-after"
    case lockWait = "lock-wait"
    case lockOnSuspend = "lock-on-suspend"
    case maxAge = "max-age"
    case metadataReadable = "metadata-readable"
    case newKey = "new-key"
    case newPasscode = "new-passcode"
    case newPassphrase = "new-passphrase"
    case noLockOnSuspend = "no-lock-on-suspend"
    case noPasscode = "no-passcode"
    case noSecret = "no-secret"
    case noUndo = "no-undo"
    case on
    case onChange = "on-change"
    case onConflict = "on-conflict"
    case onFailure = "on-failure"
    case onSuccess = "on-success"
    case output
    case outside
    case passcode
    case password
    case passphrase
    case plaintext
    case postQuantum = "post-quantum"
    case prometheus
    case qr
    case quiet
    case rebuild
    case recipient
    case recipientsFile = "recipients-file"
    case recipientsPassphrase = "recipients-passphrase"
    case remove
    case removeFromFile = "remove-from-file"
    case replace
    case replaceUnarchived = "replace-unarchived"
    case requireAll = "require-all"
    case reveal
    case sample
    case secret
    case secretFile = "secret-file"
    case server
    case service
    case set
    case shares
    case shard
    case signers
    case skipLocked = "skip-locked"
    case staysBehind = "stays-behind"
    case sort
    case suggest
    case synchronizable
    case system
    case to
    case undo
    case unencrypted
    case unlock
    case untilFirstUnlock = "until-first-unlock"
    case uuid
    case verbose
    case verifyCopies = "verify-copies"
    case whenChanged = "when-changed"
    case wide
    case with
    case withFile = "with-file"
    case withoutArchive = "without-archive"
    case withoutSandbox = "without-sandbox"
    case yes

    /// The one-letter form, if any.
    package var letter: Character? {
        switch self {
        case .dryRun: "n"
        case .identity: "i"
        case .output: "o"
        case .quiet: "q"
        case .recipient: "r"
        case .recipientsFile: "R"
        case .verbose: "v"
        default: nil
        }
    }

    /// True if the option may be given several times, with different values.
    package var isRepeatable: Bool {
        [
            .acceptMissing, .alsoTo, .attribute, .copyTo, .identity, .inspectRecipient, .recipient, .recipientsFile,
            .remove, .set,
            .with,
            .withFile,
        ].contains(self)
    }

    /// The option as typed on the command line.
    package var spelling: String { "--" + rawValue }

    /// The name for the parser.
    package var name: NameSpecification {
        let long = NameSpecification.Element.customLong(rawValue)
        return letter.map { [.customShort($0), long] } ?? [long]
    }

    /// Finds the option that an argument names, with or without `=value`; nil if it names none.
    package init?(argument: String) {
        if let word = argument.exact.removingPrefix("--") {
            self.init(rawValue: String(word.prefix { $0 != "=" }))
        } else if argument.count == 2, argument.first == "-", let letter = argument.last,
            let flag = OptionName.allCases.first(where: { $0.letter == letter })
        {
            self = flag
        } else {
            return nil
        }
    }
}
