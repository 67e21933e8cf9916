internal import ArgumentParser
internal import KCItemStores
internal import KCKernelKeyring
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain set-settings`.
struct KeychainSetSettingsCommand: Verb {
    static let mainOptions: [OptionName] = [.lockAfter, .lockOnSuspend, .noLockOnSuspend]

    static let configuration = CommandConfiguration(
        commandName: "set-settings",
        abstract: "Change when a keychain locks by itself.",
        discussion: """
            A new keychain locks after 300 seconds without use, and when the machine sleeps. The sleep is noticed at the \
            next use: until then the keys stay in the memory of the kernel.

            EXAMPLES:
              kcbackup keychain set-settings --lock-after 15m
              kcbackup keychain set-settings work --lock-after never --no-lock-on-suspend
            """)

    @OptionGroup
    var operand: KeychainOperand

    @Option(
        name: OptionName.lockAfter.name,
        help: ArgumentHelp(
            "Lock after so long without use: seconds, or as in '5m' and '2h', or 'never'.", valueName: "time"))
    var lockAfter: String?

    @Flag(name: OptionName.lockOnSuspend.name, help: "Lock when the machine sleeps.")
    var lockOnSuspend = false

    @Flag(name: OptionName.noLockOnSuspend.name, help: "Stay unlocked when the machine sleeps.")
    var noLockOnSuspend = false

    @OptionGroup
    var passcodeOption: PasscodeOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if lockOnSuspend, noLockOnSuspend { throw UsageProblem.together(.lockOnSuspend, .noLockOnSuspend) }
        guard lockAfter != nil || lockOnSuspend || noLockOnSuspend else {
            throw UsageProblem.noSetting(
                use: "'\(OptionName.lockAfter.spelling) TIME', '\(OptionName.lockOnSuspend.spelling)' or "
                    + "'\(OptionName.noLockOnSuspend.spelling)'")
        }
        let seconds = try lockAfter.map { text throws(UsageProblem) in try Self.seconds(text) }
        let local = try operand.local(in: session)
        let keychain = try session.open(local)
        guard keychain.hasPasscode else { throw Refusal.nothingToLock(keychain: local.name) }
        try session.context.unlock(
            keychain, of: local, for: .of(Protection.unconstrained), passcode: passcodeOption.passcode)
        let before = keychain.lockSettings
        guard
            let settings = LockSettings(
                lockAfter: seconds ?? before.lockAfter,
                lockOnSuspend: lockOnSuspend || before.lockOnSuspend && !noLockOnSuspend)
        else { throw UsageProblem.malformed(.lockAfter, form: Self.form) }
        try session.machine.unlocked.setLockSettings(settings, of: keychain)
        session.noteDone("keychain \(quoted(local.name)) locks \(settings.words)")
        let status = try session.machine.unlocked.status(keychain, now: session.now)
        try session.result(["states": [.status(local, status)]], [])
        return .ok
    }

    private static let form =
        "a time such as 90, 90s, 5m or 2h, from 1 to \(LockSettings.range.upperBound) seconds, or 'never'"

    /// Parses a number of seconds; nil for "never".
    private static func seconds(_ text: String) throws(UsageProblem) -> Int? {
        if text == "never" { return nil }
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600]
        let unit = text.last.flatMap { units[$0] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard digits.allSatisfy({ ("0"..."9").contains($0) }), let number = Int(digits),
            case let (seconds, isTooLong) = number.multipliedReportingOverflow(by: unit ?? 1), !isTooLong,
            LockSettings.range.contains(seconds)
        else { throw .malformed(.lockAfter, form: form) }
        return seconds
    }
}

extension SessionStatus {
    fileprivate var code: String {
        switch state {
        case .unlocked: "unlocked"
        case .locked: "locked"
        case .lockedUntilFirstUnlock: "locked-until-first-unlock"
        }
    }
}

extension JSONValue {
    /// Returns the lock status object described in docs/json.md ("Parts").
    static func status(_ local: LocalKeychain, _ status: SessionStatus) -> JSONValue {
        .members([
            ("name", .text(local.name)), ("path", .text(local.path)), ("state", .text(status.code)),
            ("passcode", .flag(status.hasPasscode)), ("locksIn", status.secondsUntilLock.map { .number($0) }),
            ("lockAfter", status.settings.lockAfter.map { .number($0) }),
            ("lockOnSuspend", .flag(status.settings.lockOnSuspend)),
            ("wrongPasscodes", .number(status.wrongPasscodeCount)),
            ("nextTryIn", status.secondsUntilNextTry.map { .number($0) }),
            ("refusal", status.refusal.map { .text($0.reason) }),
        ])
    }
}
