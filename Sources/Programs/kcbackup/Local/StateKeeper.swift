internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText

/// Keeps the state of a keychain while it is changed, and reports about kept states.
struct StateKeeper {
    private let states: KeptStates
    private let change: KeptStates.Change
    private let session: Session

    /// - Parameter change: what follows, for the list of states.
    init(_ keychain: Keychain, before change: KeptStates.Change, in session: Session) {
        states = KeptStates(of: keychain, in: session.world.dataFolder)
        self.change = change
        self.session = session
    }

    /// Runs `change`, which must call `keep` in its transaction before it changes anything.
    ///
    /// If the change fails, or leaves everything as it was, the state that was kept for it is removed again.
    ///
    /// - Parameter used: a state that is no longer needed after the change.
    /// - Throws: `Failure.notKept`, and what `change` throws.
    func keeping<Result>(
        using used: KeptStates.State? = nil, _ change: (_ keep: @escaping () throws -> Void) throws -> Result
    ) throws -> Result {
        var kept: KeptStates.State?
        var changesSomething = true
        let result: Result
        do {
            result = try change { kept = try keep { changesSomething = false } }
        } catch {
            if let kept { remove(kept) }
            throw error
        }
        if let used { remove(used) }
        guard let kept else { return result }
        if !changesSomething {
            remove(kept)
            return result
        }
        session.keptState = true
        do throws(FileFailure) {
            try states.prune()
        } catch {
            session.warn("an old state could not be removed: \(explainFile(error).message)")
        }
        return result
    }

    /// Changes items in one transaction, before which the state is kept if `isKept`.
    ///
    /// - Throws: `Failure.notKept`, and what `Keychain.write` throws.
    static func changing<Result>(
        _ keychain: Keychain, _ change: KeptStates.Change, isKept: Bool, in session: Session,
        _ body: (KeychainWriter) throws -> Result
    ) throws -> Result {
        guard isKept else { return try keychain.write(body) }
        return try StateKeeper(keychain, before: change, in: session).keeping { keep in
            try keychain.write { writer in
                try keep()
                return try body(writer)
            }
        }
    }

    /// Asks before the passcode is changed, which removes all states; without a terminal, only warns.
    ///
    /// States that have nothing else than the keychain has are not worth a question.
    ///
    /// - Throws: `Refusal.declined`, `TerminalFailure`.
    static func confirmRemoval(of keychain: Keychain, isGiven: Bool, in session: Session) throws {
        let states: [KeptStates.State]
        do throws(FileFailure) {
            states = try KeptStates(of: keychain, in: session.world.dataFolder).list()
                .filter { $0.before?.onlyAdds != true }
        } catch {
            // They cannot be removed either, of which `removeAll` warns.
            return
        }
        guard let newest = states.first, !isGiven else { return }
        let time = session.calendar.moment(newest.date)
        let words =
            states.count == 1
            ? "the earlier state of \(time), which the old passcode opens,"
            : "\(states.count) earlier states, the newest of \(time), which the old passcode opens,"
        if session.world.terminal.isAttended {
            session.warn("\(words) will be removed; 'undo' cannot bring them back then")
            try session.confirm("Go on?", isGiven: false)
        } else {
            session.warn("\(words) will be removed")
        }
    }

    /// Removes all states after the keys were changed.
    ///
    /// The new keys are already in place, so a failure is only a warning.
    static func removeAll(
        of keychain: Keychain, because reason: String = "an earlier passcode opened them", in session: Session
    ) {
        do throws(FileFailure) {
            let count = try KeptStates(of: keychain, in: session.world.dataFolder).removeAll()
            if count > 0 {
                session.note("\(counted(count, "earlier state")) removed: \(reason)")
            }
        } catch {
            session.warn(
                "the passcode is set; a state that an earlier one opens is left: \(explainFile(error).message)")
        }
    }

    private func keep(_ onNothing: @escaping () -> Void) throws(Failure) -> KeptStates.State {
        do {
            return try states.keep(before: change, now: session.now, onNothing: onNothing)
        } catch {
            throw .notKept(Failure(error, Failure.Subjects()))
        }
    }

    private func remove(_ state: KeptStates.State) {
        do throws(FileFailure) {
            try states.remove(state)
        } catch {
            session.warn("a kept state could not be removed: \(explainFile(error).message)")
        }
    }
}
