internal import KCByteStreams
package import KCKeychainStore
package import KCLocalKeychains

/// Keeps the states of a keychain while it is changed.
package struct KeychainStates: StateKeeping {
    private let states: KeptStates
    private let setting: StateSetting

    package init(of keychain: Keychain, _ setting: StateSetting) {
        states = KeptStates(of: keychain, in: setting.folder)
        self.setting = setting
    }

    /// Runs `change`, which must call `keep` in its transaction before it changes anything.
    ///
    /// If the change fails, or leaves everything as it was, the state that was kept for it is removed again.
    ///
    /// - Throws: `StateFailure.notKept`, and what `change` throws.
    package func keeping<Result>(
        before command: KeptStates.Change, isKept: Bool,
        _ change: (_ keep: @escaping () throws -> Void) throws -> Result
    ) throws -> Result {
        try keeping(before: command, isKept: isKept, using: nil, change)
    }

    /// - Parameter used: a state that is no longer needed after the change.
    func keeping<Result>(
        before command: KeptStates.Change, isKept: Bool, using used: KeptStates.State?,
        _ change: (_ keep: @escaping () throws -> Void) throws -> Result
    ) throws -> Result {
        var kept: KeptStates.State?
        var changesSomething = true
        let result: Result
        do {
            result = try change {
                if isKept { kept = try keep(before: command) { changesSomething = false } }
            }
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
        setting.didKeep()
        setting.removing { try states.prune() }
        return result
    }

    /// Checks that a state could be kept, as far as that can be known without doing it.
    ///
    /// - Throws: `notKept` if it could not.
    package func requireKeepable() throws(StateFailure) {
        do throws(FileFailure) {
            try states.requireKeepable()
        } catch {
            throw .notKept(error)
        }
    }

    private func keep(
        before command: KeptStates.Change, _ onNothing: @escaping () -> Void
    ) throws(StateFailure) -> KeptStates.State {
        do {
            return try states.keep(before: command, now: setting.now, onNothing: onNothing)
        } catch {
            throw .notKept(error)
        }
    }

    package func count() throws -> Int { try states.listEverywhere().count }

    package func removeAll() -> Int {
        var count = 0
        setting.removing {
            let removed = try states.removeAll()
            count = removed.count
            for states in removed.kept { setting.warn(.kept(states)) }
        }
        return count
    }

    private func remove(_ state: KeptStates.State) {
        setting.removing { try states.remove(state) }
    }
}
