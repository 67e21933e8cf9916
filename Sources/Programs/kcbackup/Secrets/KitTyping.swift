internal import KCAgeEncryption
internal import KCByteStreams
internal import KCConsole
internal import KCRecoveryKits
internal import KCReportText

extension Session {
    /// What stands for the terminal where an identity file is named; a file of this name is `./tty`.
    static let typedIdentity = "tty"

    // As many as somebody with patience makes before looking for the mistake elsewhere.
    private static let mistakeLimit = 20

    /// Has the key of a recovery kit typed, line by line.
    ///
    /// A line that is wrong is asked for again.
    ///
    /// - Throws: `KitProblem` (`unattended`, `mistyped`), `TerminalFailure`, `AgeFailure.cryptography`.
    func typeKit() throws -> X25519Identity {
        guard world.terminal.isAttended else { throw KitProblem.unattended }
        var remark = "Type the lines of the recovery kit, each with the character at its end.\n"
        var mistakes = 0
        while true {
            var entry = KitEntry()
            while let number = entry.nextLine {
                let line = try world.terminal.readVisibleSecret("\(remark)Line \(number): ")
                remark = ""
                guard let problem = entry.take(line) else { continue }
                mistakes += 1
                if mistakes >= Self.mistakeLimit { throw KitProblem.mistyped(times: mistakes) }
                remark = "\(problem.words)\n"
            }
            if let identity = try entry.identity() { return identity }
            mistakes += 1
            if mistakes >= Self.mistakeLimit { throw KitProblem.mistyped(times: mistakes) }
            remark = "Each line may be right, but they are not the key of one kit. Once more, from the first line:\n"
        }
    }
}

extension KitEntry.Problem {
    /// What to look at, without what was typed.
    fileprivate var words: String {
        switch self {
        case .length(let count, let wanted):
            "That line has \(counted(count, "character")), and this one has \(wanted) with the one at its end."
        case .lookalike(let typed, let meant, let offset):
            "Character \(offset) is typed as '\(typed)', which no kit has: '\(meant)' looks like it."
        case .character(let offset): "Character \(offset) is one that no kit has."
        case .check: "That line does not fit the character at its end. Once more:"
        }
    }
}
