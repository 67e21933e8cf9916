internal import ArgumentParser
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKernelKeyring
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain info`.
struct KeychainInfoCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Check the file of a keychain, and say what it holds and whether it is unlocked.",
        discussion: """
            No secret is opened. This does not restart the time after which the keychain locks.

            EXAMPLES:
              kcbackup keychain info
              kcbackup keychain info work
            """)

    @OptionGroup
    var operand: KeychainOperand

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let local = try operand.local(in: session)
        let keychain = try session.open(local)
        try keychain.checkIntegrity()
        let found = try keychain.information()
        let status = try session.machine.unlocked.status(keychain, now: session.now)
        var lines = [
            "keychain  \(displayedPath(local.name))\n",
            "path      \(displayedPath(local.path))\n",
            "store     \(Hexadecimal.encode(found.storeID))\n",
            "device    \(found.device)\n",
            "created   \(session.calendar.moment(found.created))\n",
            "passcode  \(found.passcodeWords)\n",
        ]
        if status.hasPasscode { lines += status.lines }
        if let escrow = found.escrow {
            lines.append("escrow    since \(session.calendar.moment(escrow.since))\n          \(escrow.key)\n")
        } else if found.cost != nil {
            lines.append("escrow    none\n")
        }
        for (index, token) in found.tokens.enumerated() {
            let title = index == 0 ? "tokens    " : "          "
            lines.append("\(title)\(quoted(token.name.text)), since \(session.calendar.moment(token.since))\n")
        }
        lines.append("items     \(found.total)\n")
        for itemClass in ItemClass.allCases {
            if let count = found.itemCounts[itemClass], count > 0 {
                lines.append("          \(counted(count, itemClass.name))\n")
            }
        }
        if found.tombstoneCount > 0 {
            lines.append("deleted   \(found.tombstoneCount) (synchronizable items leave a trace)\n")
        }
        try session.result(["keychain": .keychain(local, found), "states": [.status(local, status)]], lines)
        return .ok
    }
}

extension KeychainInformation {
    /// Whether there is a passcode, and who counts wrong ones.
    fileprivate var passcodeWords: String {
        switch counter {
        case .none: "none: this device alone opens it"
        case .file: "set"
        case .chip: "set; the TPM counts wrong ones"
        }
    }
}

extension SessionStatus {
    /// Whether a keychain with a passcode is unlocked, and when it locks.
    fileprivate var lines: [String] {
        var lines = ["state     \(words)\n", "locks     \(settings.words)\n"]
        if let seconds = secondsUntilLock {
            lines.append("          in \(duration(seconds: seconds)) if it is not used\n")
        }
        if wrongPasscodeCount > 0 {
            let wait = secondsUntilNextTry.map { "; the next attempt is possible in \(duration(seconds: $0))" } ?? ""
            lines.append("wrong     \(counted(wrongPasscodeCount, "passcode")) in a row\(wait)\n")
        }
        if let refusal { lines.append("kept      nothing between commands: \(refusal.reason)\n") }
        return lines
    }

    private var words: String {
        switch state {
        case .unlocked: "unlocked"
        case .locked: "locked; items that are readable after the first unlock are readable"
        case .lockedUntilFirstUnlock: "locked, and not unlocked since the machine was started"
        }
    }
}
