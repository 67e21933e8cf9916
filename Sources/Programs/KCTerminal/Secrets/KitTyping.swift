package import KCAgeEncryption
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCRecoveryKits
internal import KCReportText
internal import KCSecretShares

extension Session {
    /// Has the key of a recovery kit typed, line by line, or words of its shares.
    ///
    /// Wrong input is asked for again; input that may be right is proposed.
    ///
    /// - Returns: the key; of shares that no kit of this device has, the keys of both kinds that it may be.
    /// - Throws: `KitProblem` (`unattended`, `mistyped`), `TerminalFailure`, `AgeFailure.cryptography`.
    package func typeKit() throws -> [NativeIdentity] {
        guard world.terminal.isAttended else { throw KitProblem.unattended }
        var known: [NativeRecipient] = []
        do {
            known = try machine.recoveryKits().map(\.recipient)
        } catch {
            // They only help to choose among possibilities.
            warn(failure(of: error).explanation.message)
        }
        var typing = KitTyping(session: self, known: known)
        let identities = try typing.identities()
        let fingerprints = identities.map { RecoveryKit.fingerprint(of: $0.recipient) }
        note("this is the key of recovery kit \(fingerprints.joined(separator: " or "))")
        return identities
    }
}

/// The dialogue in which a kit is typed.
private struct KitTyping {
    let session: Session
    /// The public keys of the kits of this device.
    let known: [NativeRecipient]
    private var mistakes = 0
    /// The text before the next question.
    private var remark = ""

    // As many as somebody with patience makes before looking for the mistake elsewhere.
    private static let mistakeLimit = 20

    init(session: Session, known: [NativeRecipient]) {
        self.session = session
        self.known = known
    }

    mutating func identities() throws -> [NativeIdentity] {
        remark = """
            Type the lines of the recovery kit, each with the character at its end, or the words of a share. '?' stands \
            for what cannot be read. What you type can be seen on the screen.\n
            """
        while true {
            var entry = KitEntry()
            while let number = entry.nextLine {
                let line = try ask("Line \(number)")
                if number == 1, ShareEntry.isMeant(by: line) { return try sharedIdentities(line) }
                switch entry.take(line) {
                case .taken: break
                case .doubtful: remark = "What is wrong or missing in it is looked for at the end.\n"
                case .problem(let problem): try refuse(problem.words(line: number))
                }
            }
            switch try entry.finish(known: known) {
            case .identity(let identity): return [identity]
            case .repaired(let identity, let lines):
                if try confirms(identity, lines) { return [identity] }
                try refuse("Once more, from the first line:")
            case .nothing:
                try refuse(
                    "Each line may be right, but they are not the key of one kit. Once more, from the first line:")
            }
        }
    }

    /// Asks whether lines are what they may have to be.
    private func confirms(_ identity: NativeIdentity, _ lines: [Int]) throws -> Bool {
        var text = SecretBytes(capacity: 512)
        text.append(
            utf8: "Together with the others, \(lines.count == 1 ? "this line" : "these lines") would be right:\n")
        for number in lines { KitText.line(number, of: identity).withBytes { text.append($0) } }
        try session.world.terminal.show(text)
        return try session.world.terminal.confirms("Does the sheet say that?")
    }

    /// Has shares typed until there are enough.
    ///
    /// - Parameter beginning: the first line of the first one.
    private mutating func sharedIdentities(_ beginning: consuming SecretBytes) throws -> [NativeIdentity] {
        var shares = KitShares()
        var next = try share(beginning)
        while true {
            if let problem = shares.add(next) {
                try refuse(problem.words)
            } else if let missing = shares.missing, missing > 0 {
                remark =
                    "That is share \(next.memberIndex + 1) of '\(next.setName) …'; \(counted(missing, "more share")) needed.\n"
            } else {
                let identities = try shares.identities(known: known)
                if !identities.isEmpty {
                    session.typedShares = shares.shares.map { $0.memberIndex + 1 }
                    return identities
                }
                try refuse("These shares do not give the key of a kit. Once more, from the first share:")
                shares = KitShares()
            }
            next = try share()
        }
    }

    /// Has one share typed.
    private mutating func share(_ beginning: consuming SecretBytes? = nil) throws -> SecretShare {
        var beginning = beginning
        while true {
            var entry = ShareEntry()
            while let position = entry.nextWord {
                let line = try beginning.take() ?? ask("Words from \(position) on")
                if line.isEmpty {
                    try refuse("A share has \(SecretShare.usualWordCount) words.")
                } else if let problem = entry.take(line) {
                    try refuse(problem.words)
                }
            }
            switch entry.finish() {
            case .share(let share): return share
            case .repaired(let share, let positions):
                if try confirms(share, positions) { return share }
                try refuse("Once more, from the first word of the share:")
            case .nothing:
                try refuse("At least one word is wrong, though each is in the list. Once more, from the first word:")
            }
        }
    }

    /// Asks whether words are what they may have to be.
    private func confirms(_ share: SecretShare, _ positions: [Int]) throws -> Bool {
        var text = SecretBytes(capacity: 256)
        text.append(utf8: "Together with the others, this would be right:\n")
        let words = share.words
        for position in positions {
            text.append(utf8: "  \(position) ")
            ShareWords.append(words[position - 1], to: &text)
            text.append(utf8: "\n")
        }
        try session.world.terminal.show(text)
        return try session.world.terminal.confirms("Does the sheet say that?")
    }

    private mutating func ask(_ question: String) throws -> SecretBytes {
        let prompt = "\(remark)\(question): "
        remark = ""
        return try session.world.terminal.readVisibleSecret(prompt)
    }

    /// Says what is wrong before the next question, unless it was the last one.
    private mutating func refuse(_ words: String) throws(KitProblem) {
        mistakes += 1
        if mistakes >= Self.mistakeLimit { throw .mistyped(times: mistakes) }
        remark = words + "\n"
    }
}

extension KitEntry.Problem {
    /// The advice where to look, without what was typed.
    fileprivate func words(line number: Int) -> String {
        switch self {
        case .length(let count, let wanted):
            "Line \(number) has \(wanted) characters, including the one at its end; you typed \(count)."
        case .lookalike(let typed, let meant, let offset):
            "Character \(offset) is typed as '\(typed)', which no kit has: '\(meant)' looks like it."
        case .character(let offset): "Character \(offset) is one that no kit has."
        case .check:
            "That line does not fit the character at its end. Type it once more; if the sheet says the same, type the same:"
        case .illegible(let count):
            "\(count) characters are missing; up to \(KitEntry.erasureLimit) in a line can be found by the others."
        }
    }
}

extension ShareEntry.Problem {
    /// The advice where to look, without what was typed.
    fileprivate var words: String {
        switch self {
        case .unknown(let position):
            position == 1
                ? "Word 1 is not in the list of words." : "Word \(position) is not in the list of words; go on with it."
        case .illegible: "More words are missing than can be found by the others."
        case .surplus: "A share has \(SecretShare.usualWordCount) words; the others are left out."
        }
    }
}

extension KitShares.Problem {
    /// The advice about the share.
    fileprivate var words: String {
        switch self {
        case .otherSet(let name): "That is a share of another set: those of this one begin with '\(name)'."
        case .twice(let number): "Share \(number) is there already; another one is needed."
        case .foreign: "That is a share of something else: no kit has several groups, or as much stretching."
        }
    }
}
