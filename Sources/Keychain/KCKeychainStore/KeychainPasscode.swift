package import KCByteStreams
package import KCCryptography
internal import KCDeviceIdentity
package import KCKeychainKeys
package import KCKeychainModel

extension Keychain {
    /// Opens all class keys.
    ///
    /// A keychain without a passcode needs none and ignores a given one. Wrong passcodes are counted, and after several
    /// there is a delay; that slows down a person at this machine, not an attacker with a copy of the file.
    ///
    /// - Parameter memory: spares the derivation of a key if it has the passcode, and gets it if it is right.
    /// - Throws: `wrongPasscode`, `tooManyAttempts`, `locked` if a passcode is needed and none is given, `limit`,
    ///   `escrow` and `token` (`forged`), `busy` if the passcode was changed in the meantime.
    package func unlock(
        passcode: borrowing SecretBytes?, now: Timestamp, remembering memory: PasscodeMemory? = nil
    ) throws(KeychainStoreError) {
        try withReadTransaction { _ throws(KeychainStoreError) in }
        guard keybag.hasPasscode else {
            let keys = try withKeys(keybag.deviceOnlyKeys(deviceKey))
            classKeys.merge(keys)
            return
        }
        let opened = keybag
        let keys = try tried(passcode, now, memory)
        // Counting may have noticed a new passcode, which comes with different class keys, or a record that has not been
        // checked.
        guard keybag.hasKeys(of: opened), keybag.escrow == opened.escrow, keybag.tokens == opened.tokens else {
            throw .busy
        }
        classKeys.merge(keys)
    }

    /// Tells whether a passcode is the right one; a wrong one is not counted, and nothing is opened.
    ///
    /// For a passcode that is tried without anybody having asked for the keychain to be opened. Where a chip counts, each
    /// try is one, so nothing is tried there.
    ///
    /// - Returns: nil if a chip counts.
    /// - Throws: `tooManyAttempts` while wrong ones delay the next try, `limit`, `damaged`, `busy`, `sqlite`.
    package func isRight(passcode: borrowing SecretBytes, now: Timestamp) throws(KeychainStoreError) -> Bool? {
        let attempts = try withReadTransaction { database throws(KeychainStoreError) in try Attempts(database) }
        guard keybag.counter == .file else { return nil }
        if let seconds = attempts.wait(now) { throw .tooManyAttempts(retryAfter: seconds) }
        do throws(KeychainStoreError) {
            _ = try withKeys(keybag.passcodeKeys(passcode, deviceKey, minimumCost: minimumCost))
            return true
        } catch {
            if error == .wrongPasscode { return false }
            throw error
        }
    }

    /// Drops the keys that only a given passcode or a security token opens, which the secrets of items with a constraint need.
    package func forgetPresence() { classKeys.forgetPresence() }

    /// Drops the class keys that only an unlocked keychain has.
    ///
    /// - Parameter untilFirstUnlock: true to drop also those of items that stay readable after the first unlock.
    package func lock(untilFirstUnlock: Bool = false) {
        forgetPresence()
        classKeys.forget { accessibility in
            switch accessibility {
            case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: true
            case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: untilFirstUnlock
            case .always, .alwaysThisDeviceOnly: false
            }
        }
    }

    /// Sets, changes or (with nil) removes the passcode; the keychain is unlocked afterwards.
    ///
    /// All class keys are replaced and every item is resealed, so that the old passcode and an old copy of the file do
    /// not open anything added from now on. The keybag keeps the previous keys, wrapped under the new ones, for
    /// archives made with them. Removing the passcode removes WhenPasscodeSetThisDeviceOnly items (`passcodeBoundItems`
    /// lists them); items with a constraint prevent it. Items with a broken seal are left unchanged and reported. Escrow and token records are renewed, or
    /// removed together with the passcode. Keys of files are kept, and files that are protected from now on have others.
    ///
    /// The change is one transaction: if the process is killed, either the old passcode works or the new one. The
    /// change temporarily needs as much additional disk space as the file has.
    ///
    /// - Parameters:
    ///   - counter: who counts wrong passcodes; nil for who did before.
    ///   - step: called once for each item.
    /// - Returns: the keys and items that were left out.
    /// - Throws: `wrongPasscode`, `tooManyAttempts`, `locked`, `passcodeEmpty`, `itemsAskForPasscode`, `busy`,
    ///   `diskFull`, `sqlite`, `escrow` and `token` (`forged`).
    @discardableResult
    package func setPasscode(
        current: borrowing SecretBytes?, new: borrowing SecretBytes?, countedBy counter: PasscodeCounter? = nil,
        cost: ScryptCost? = defaultCost, now: Timestamp, step: () -> Void = {}
    ) throws(KeychainStoreError) -> PasscodeChange {
        try setPasscode(current: current, new: new, countedBy: counter, cost: cost, now: now, step: step) {
            _, _ throws(KeychainStoreError) in
        }
    }

    /// The same, but runs `beforeCommit` with the new keybag and class keys under the lock, when only the commit is
    /// left.
    ///
    /// At that point this object still has the old ones.
    func setPasscode(
        current: borrowing SecretBytes?, new: borrowing SecretBytes?, countedBy counter: PasscodeCounter? = nil,
        cost: ScryptCost?, now: Timestamp, step: () -> Void,
        beforeCommit: (Keybag, ClassKeys) throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) -> PasscodeChange {
        let hasNew = try Self.checked(new)
        guard let cost = cost ?? Self.defaultCost else { throw .limit("work factor", found: 0, allowed: 20) }
        try unlock(passcode: current, now: now)
        let before = keybag
        let earlier =
            [classKeys] + (try withKeys(before.retiredKeys(under: classKeys)))
        let kept = Array(earlier.prefix(Keybag.retiredLimit))
        let keys = try sealing(ClassKeys(generatingWithPasscode: hasNew))
        let files = try withKeys(before.renewedFileKeys(from: classKeys, to: keys))
        let after: Keybag
        do {
            after = try Keybag.wrapping(
                keys, retired: kept, uuid: before.uuid, generation: before.generation + 1, deviceKey: deviceKey,
                passcode: new, cost: cost, lockSettings: before.lockSettings,
                escrow: before.escrow, tokens: before.tokens, files: files, counter: counter ?? before.counter)
        } catch {
            throw .cryptography(error)
        }
        let damaged = try change { database throws(KeychainStoreError) in
            // Another process changed the passcode first, and these keys are not derived from its keys.
            guard keybag == before else { throw .busy }
            if !hasNew {
                try Self.removePasscodeBoundItems(database)
                let asking = try Self.constrainedProtections(database).values.reduce(0, +)
                guard asking == 0 else { throw .itemsAskForPasscode(asking) }
            }
            let damaged = try resealAllItems(under: keys, in: database, step)
            try StoreRecord.replace(with: after, in: database)
            try beforeCommit(after, keys)
            return damaged
        }
        adopt(after, keys)
        return PasscodeChange(droppedKeys: earlier.count - kept.count, damaged: damaged)
    }

    /// The WhenPasscodeSetThisDeviceOnly items: never archived, and removed with the passcode.
    package func passcodeBoundItems() throws(KeychainStoreError) -> ItemMatches {
        try find(ItemQuery(attributes: [.pdmn: .text(Accessibility.whenPasscodeSetThisDeviceOnly.rawValue)]))
    }

    /// Runs `body`, which tries several readings of one passcode: all that are wrong count once, and none waits for another.
    ///
    /// A chip counts each of them.
    package func asOneTry<Result: ~Copyable>(_ body: () throws -> Result) rethrows -> Result {
        isTryCounted = false
        defer { isTryCounted = nil }
        return try body()
    }

    /// The number of wrong passcodes since the last right one.
    package func wrongPasscodeCount() throws(KeychainStoreError) -> Int {
        try withReadTransaction { database throws(KeychainStoreError) in try Attempts(database).failed }
    }

    /// Seconds until the next passcode is accepted; nil if it is accepted now.
    package func secondsUntilNextTry(now: Timestamp) throws(KeychainStoreError) -> Int? {
        try withReadTransaction { database throws(KeychainStoreError) in try Attempts(database) }.wait(now)
    }

    /// True if a chip counts the passcode that is not the one of this machine: the passcode then opens nothing here.
    ///
    /// - Throws: `cryptography` if the chip of this machine cannot be asked.
    package func isCountedElsewhere() throws(KeychainStoreError) -> Bool {
        try sealing(keybag.isCountedElsewhere(deviceKey))
    }

    /// Checks that the chip that counts the passcode, if one does, takes a guess now.
    ///
    /// - Throws: `cryptography` if not.
    package func requireGuess() throws(KeychainStoreError) { try sealing(keybag.requireGuess(deviceKey)) }

    private func tried(
        _ passcode: borrowing SecretBytes?, _ now: Timestamp, _ memory: PasscodeMemory?
    ) throws(KeychainStoreError) -> ClassKeys {
        let attempts = try withReadTransaction { database throws(KeychainStoreError) in try Attempts(database) }
        if isTryCounted != true, let seconds = attempts.wait(now) { throw .tooManyAttempts(retryAfter: seconds) }
        do throws(KeychainStoreError) {
            let keys: ClassKeys
            switch passcode {
            case .some(let passcode):
                keys = try withKeys(
                    keybag.passcodeKeys(passcode, deviceKey, minimumCost: minimumCost, remembering: memory))
            case .none: throw .locked(.whenUnlocked)
            }
            if attempts.failed > 0 { count { _ in Attempts(failed: 0, last: now) } }
            return keys
        } catch {
            if error == .wrongPasscode, isTryCounted != true {
                count { Attempts(failed: $0.failed + 1, last: now) }
                if isTryCounted == false { isTryCounted = true }
            }
            throw error
        }
    }

    /// Stores the count, if possible.
    ///
    /// A read-only disk or a busy file must not hide whether the passcode was right, and counting is advisory.
    private func count(_ next: (Attempts) -> Attempts) {
        try? change { database throws(KeychainStoreError) in try next(Attempts(database)).write(database) }
    }

    private static func removePasscodeBoundItems(_ database: Database) throws(KeychainStoreError) {
        for itemClass in ItemClass.allCases {
            let statement = try SQLStatement("DELETE FROM \(itemClass.rawValue) WHERE \"pdmn\"=?", on: database)
            try statement.bindBytes(of: Accessibility.whenPasscodeSetThisDeviceOnly.rawValue, 1)
            try statement.run()
        }
    }
}

/// The keys and items that a passcode change left out.
package struct PasscodeChange: Sendable {
    /// The number of earlier class key sets that were dropped, beyond `Keybag.retiredLimit`.
    package let droppedKeys: Int
    /// Items that could not be opened and were left unchanged; nil for a row that is not a valid item.
    package let damaged: [Item?]
}

/// The wrong passcodes since the last right one.
struct Attempts {
    var failed: Int
    var last: Timestamp

    /// The number of wrong passcodes without a delay, for typing errors.
    static let free = 5
    /// The delay in seconds after the first wrong passcode beyond `free`; each further one doubles it.
    static let firstDelay = 2
    /// The longest delay in seconds, so that a forgotten passcode can still be tried when remembered.
    static let longestDelay = 300

    init(failed: Int, last: Timestamp) {
        self.failed = failed
        self.last = last
    }

    init(_ database: Database) throws(KeychainStoreError) {
        let row = try SQLStatement("SELECT failed, last FROM attempts WHERE id = 1", on: database)
        guard try row.step(), let last = Timestamp(microseconds: row.integer(1)) else {
            throw .damaged("the count of wrong passcodes is missing")
        }
        self.init(failed: Int(max(0, row.integer(0))), last: last)
    }

    func write(_ database: Database) throws(KeychainStoreError) {
        let statement = try SQLStatement("UPDATE attempts SET failed=?, last=? WHERE id = 1", on: database)
        try statement.bind(Int64(min(failed, 1_000_000)), 1)
        try statement.bind(last.microseconds, 2)
        try statement.run()
    }

    /// Seconds until the next attempt is allowed; nil if it is allowed now, which includes a clock that was set back.
    func wait(_ now: Timestamp) -> Int? {
        guard failed >= Self.free, now >= last else { return nil }
        let doublings = min(failed - Self.free, 30)
        let delay = min(Self.longestDelay, Self.firstDelay << doublings)
        let elapsed = (now.microseconds - last.microseconds) / 1_000_000
        return elapsed < Int64(delay) ? delay - Int(elapsed) : nil
    }
}
