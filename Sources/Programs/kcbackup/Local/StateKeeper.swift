internal import KCByteStreams
internal import KCConsole
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// Asks and tells about the states of a keychain.
enum StateKeeper {
    /// Changes items in one transaction, before which the state is kept if `isKept`.
    ///
    /// - Throws: `StateFailure.notKept`, and what `Keychain.write` throws.
    static func changing<Result>(
        _ keychain: Keychain, _ change: KeptStates.Change, isKept: Bool, in session: Session,
        _ body: (KeychainWriter) throws -> Result
    ) throws -> Result {
        try session.context.states(of: keychain).keeping(before: change, isKept: isKept) { keep in
            try keychain.write { writer in
                try keep()
                return try body(writer)
            }
        }
    }

    /// Why all states of a keychain are removed: its keys were changed.
    enum Removal {
        case passcode
        case deviceKey

        fileprivate var reason: String {
            switch self {
            case .passcode: "an earlier passcode opened them"
            case .deviceKey: "they belong to the key of before"
            }
        }

        fileprivate var whatIsLeft: String {
            switch self {
            case .passcode: "the passcode is set; a state that an earlier one opens is left"
            case .deviceKey: "the keychain is moved; a state that the key of before opens is left"
            }
        }
    }

    /// Asks before the passcode is changed, which removes all states; without a terminal, only warns.
    ///
    /// - Throws: `Refusal.declined`, `TerminalFailure`.
    static func confirmRemoval(of keychain: Keychain, isGiven: Bool, in session: Session) throws {
        guard !isGiven,
            let (count, words) = lostStates(of: keychain, ", which the old passcode opens,", in: session)
        else { return }
        if session.world.terminal.isAttended {
            session.warn("\(words) will be removed; 'undo' cannot bring them back then")
            try session.confirm(
                "Change the passcode, and remove \(counted(count, "earlier state"))?", isGiven: false)
        } else {
            session.warn("\(words) will be removed")
        }
    }

    /// Warns before a question that the move of a keychain to another device key removes its states.
    static func warnOfRemoval(of keychain: Keychain, named name: String, in session: Session) {
        guard let (_, words) = lostStates(of: keychain, " of keychain \(quoted(name))", in: session) else { return }
        session.warn("\(words) will be removed; 'undo' cannot bring them back then")
    }

    /// The number of states that are lost with a removal, and words for them; nil if there are none.
    ///
    /// States that have nothing else than the keychain has are not worth a question, but are counted in one.
    private static func lostStates(
        of keychain: Keychain, _ ending: String, in session: Session
    ) -> (count: Int, words: String)? {
        let states: [KeptStates.State]
        do throws(FileFailure) {
            states = try KeptStates(of: keychain, in: session.machine.dataFolder).listEverywhere()
        } catch {
            // They cannot be removed either, of which `removeAll` warns.
            return nil
        }
        guard let newest = states.first, !states.allSatisfy({ $0.before?.onlyAdds == true }) else { return nil }
        let time = session.calendar.moment(newest.date)
        let words =
            states.count == 1
            ? "the earlier state of \(time)" : "\(states.count) earlier states, the newest of \(time)"
        return (states.count, words + ending)
    }

    /// Removes all states after the keys were changed.
    ///
    /// The new keys are already in place, so a failure is only a warning.
    static func removeAll(of keychain: Keychain, after removal: Removal = .passcode, in session: Session) {
        do throws(FileFailure) {
            let (count, kept) = try KeptStates(of: keychain, in: session.machine.dataFolder).removeAll()
            if count > 0 {
                session.note("\(counted(count, "earlier state")) removed: \(removal.reason)")
            }
            for states in kept { session.warn("\(removal.whatIsLeft): \(states.words)") }
        } catch {
            session.warn("\(removal.whatIsLeft): \(explainFile(error).message)")
        }
    }
}
