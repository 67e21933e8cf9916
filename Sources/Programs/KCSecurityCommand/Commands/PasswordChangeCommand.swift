internal import KCByteStreams
internal import KCConsole
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecurityStatus

extension Command {
    static let setKeychainPassword = Command(
        "set-keychain-password", "Change the password of a keychain.",
        flags: [
            Flag("o", .secret("password"), "The old password"),
            Flag("p", .secret("password"), "The new password; an empty one makes a keychain that needs none"),
        ],
        operands: "[keychain]",
        notes: ["Other users can see a password on the command line: leave -o and -p out, to be asked for both."]
    ) { words, session in
        if words.operands.count > 1 { throw UsageProblem() }
        return try session.calling("SecKeychainChangePassword \(words.operands.first ?? "<NULL>")") {
            let isAsked = words.value("o") == nil || words.value("p") == nil
            return try isAsked
                ? session.quietly { try session.changePassword(words) } : session.changePassword(words)
        }
    }
}

extension Session {
    fileprivate func changePassword(_ words: Words) throws -> ExitStatus {
        let local = try namedOrDefault(words.operands.first)
        let keychain = try open(local)
        let current = try currentPassword(of: keychain, words)
        var new = try password(words, "p")
        if new == nil {
            guard world.terminal.isAttended else { throw SecurityStatus.interactionNotAllowed }
            // Check it before asking for the new one, so that a typing error is noticed right away.
            try checking {
                try world.keychainSession.unlock(keychain, passcode: current, now: now, keepsSession: false)
            }
            new = try askForNewPassword("New Password: ", "Retype New Password: ", mismatch: "try again")
        }
        if new?.isEmpty == true {
            try confirmRemoval(keychain)
            new = nil
        }
        let change = try world.keychainSession.setPasscode(
            keychain, current: current, new: new, cost: world.cost, now: now)
        do {
            let (count, kept) = try KeptStates(of: keychain, in: world.dataFolder).removeAll()
            for states in kept { note(wordsOfKept(states), evenIfQuiet: true) }
            if count > 0 {
                note(
                    "\(count) earlier \(count == 1 ? "state" : "states") of 'kcbackup undo' removed: "
                        + "the old password opened \(count == 1 ? "it" : "them")")
            }
        } catch {
            // The password has been changed by now.
            note("a state that the old password opens is left in the folder 'undo'", evenIfQuiet: true)
        }
        if change.droppedKeys > 0 {
            note(
                "more than \(Keybag.retiredLimit) earlier passwords: 'kcbackup restore' of unencrypted archives from "
                    + "before them now takes '--archive-passcode'", evenIfQuiet: true)
        }
        if change.damaged.isEmpty { return .ok }
        note(
            "\(change.damaged.count) damaged in \(shownInMessages(local.path)) and left as they were, see 'kcbackup create'",
            evenIfQuiet: true)
        return .failed
    }

    private func currentPassword(of keychain: Keychain, _ words: Words) throws -> SecretBytes? {
        guard keychain.hasPasscode else { return nil }
        if let given = try password(words, "o") { return given }
        guard world.terminal.isAttended else {
            // As in Apple's tests: an unlocked keychain was given the wrong password; a locked one has no user to ask.
            let state = try world.keychainSession.resume(keychain)
            throw state == .unlocked ? SecurityStatus.authFailed : SecurityStatus.interactionNotAllowed
        }
        return try askForPassword("Old Password: ")
    }

    /// Names what is deleted along with the password, and asks for confirmation if there is anything.
    private func confirmRemoval(_ keychain: Keychain) throws {
        warnOfNoPassword()
        let bound = try keychain.passcodeBoundItems()
        let count = bound.items.count + bound.damaged
        if count == 0 { return }
        let items = "\(count) \(count == 1 ? "item" : "items") of WhenPasscodeSetThisDeviceOnly"
        guard world.terminal.isAttended else {
            throw Failure(saying: "\(items) would be deleted with the password; see 'kcbackup keychain set-passcode'")
        }
        guard try world.terminal.confirms("Remove the password, and delete \(items)?") else {
            throw SecurityStatus.userCanceled
        }
    }
}
