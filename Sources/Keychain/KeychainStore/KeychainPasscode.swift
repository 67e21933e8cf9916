package import ByteStreams
package import Cryptography
internal import DeviceIdentity
internal import KeychainKeys
package import KeychainModel

extension Keychain {
    /// Opens all class keys.
    ///
    /// A keychain without a passcode takes none, and ignores one that is given. Wrong passcodes are counted, and after
    /// some the next one has to wait; that hinders a person at this machine, not somebody with a copy of the file.
    ///
    /// - Throws: `wrongPasscode`, `tooManyAttempts`, `locked` when a passcode is needed and none given, `limit`, `busy`
    ///   when the passcode was changed meanwhile.
    package func unlock(passcode: borrowing SecretBytes?, now: Timestamp) throws(KeychainStoreError) {
        try look { _ throws(KeychainStoreError) in }
        guard keybag.hasPasscode else {
            let keys = try withKeys { () throws(KeybagFailure) in try keybag.deviceOnlyKeys(deviceKey) }
            classKeys.merge(keys)
            return
        }
        let opened = keybag
        let keys = try tried(passcode, now)
        // Counting may have noticed another passcode, under which the class keys are others.
        guard keybag.hasKeys(of: opened) else { throw .busy }
        classKeys.merge(keys)
    }

    /// Forgets class keys: those that only an unlocked keychain has, or with `untilFirstUnlock` also those of items
    /// that stay readable after the first unlock.
    package func lock(untilFirstUnlock: Bool = false) {
        classKeys.forget { accessibility in
            switch accessibility {
            case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: true
            case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: untilFirstUnlock
            case .always, .alwaysThisDeviceOnly: false
            }
        }
    }

    /// Sets, changes or with a new passcode of nil removes the passcode; leaves the keychain unlocked.
    ///
    /// All class keys are made new and every item is sealed again, so that the old passcode, with an old copy of the
    /// file, opens nothing that is added from now on. The keybag keeps the earlier keys under the new ones, for archives
    /// of their time. Removing the passcode removes WhenPasscodeSetThisDeviceOnly items (`passcodeBoundItems` lists
    /// them). Items whose seal is broken stay as they are, and are named. It is one transaction: killed at any point, either the old
    /// passcode works or the new one. For that time the disk needs as much room again as the file has.
    ///
    /// - Parameter step: called once an item.
    /// - Returns: what was left out.
    /// - Throws: `wrongPasscode`, `tooManyAttempts`, `locked`, `passcodeEmpty`, `busy`, `diskFull`, `sqlite`.
    @discardableResult
    package func setPasscode(
        current: borrowing SecretBytes?, new: borrowing SecretBytes?, cost: ScryptCost? = defaultCost, now: Timestamp,
        step: () -> Void = {}
    ) throws(KeychainStoreError) -> PasscodeChange {
        try setPasscode(current: current, new: new, cost: cost, now: now, step: step) {
            _, _ throws(KeychainStoreError) in
        }
    }

    /// Does so, and runs `beforeCommit` with the new keybag and its class keys, as the one process that changes the
    /// file, when nothing but the commit is left; while it runs, this object still has the old ones.
    func setPasscode(
        current: borrowing SecretBytes?, new: borrowing SecretBytes?, cost: ScryptCost?, now: Timestamp,
        step: () -> Void, beforeCommit: (Keybag, ClassKeys) throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) -> PasscodeChange {
        let hasNew = try Self.checked(new)
        guard let cost = cost ?? Self.defaultCost else { throw .limit("work factor", found: 0, allowed: 20) }
        try unlock(passcode: current, now: now)
        let before = keybag
        let earlier =
            [classKeys] + (try withKeys { () throws(KeybagFailure) in try before.retiredKeys(under: classKeys) })
        let kept = Array(earlier.prefix(Keybag.retiredLimit))
        let keys: ClassKeys
        let after: Keybag
        do {
            keys = try ClassKeys(generatingWithPasscode: hasNew)
            after = try Keybag.wrapping(
                keys, retired: kept, uuid: before.uuid, generation: before.generation + 1, deviceKey: deviceKey,
                passcode: new, cost: cost, lockSettings: before.lockSettings)
        } catch {
            throw .cryptography(error)
        }
        let damaged = try change { database throws(KeychainStoreError) in
            // Another process was first: what was made here does not follow what was made there.
            guard keybag == before else { throw .busy }
            if !hasNew { try Self.removePasscodeBoundItems(database) }
            let damaged = try sealAgain(under: keys, in: database, step)
            try StoreRecord.replace(with: after, in: database)
            try beforeCommit(after, keys)
            return damaged
        }
        adopt(after, keys)
        return PasscodeChange(droppedKeys: earlier.count - kept.count, damaged: damaged)
    }

    /// The WhenPasscodeSetThisDeviceOnly items: in no archive, and gone when the passcode is removed.
    package func passcodeBoundItems() throws(KeychainStoreError) -> ItemMatches {
        try find(ItemQuery(attributes: [.pdmn: .text(Accessibility.whenPasscodeSetThisDeviceOnly.rawValue)]))
    }

    /// How many wrong passcodes were given since the last right one.
    package func wrongPasscodeCount() throws(KeychainStoreError) -> Int {
        try look { database throws(KeychainStoreError) in try Attempts(database).failed }
    }

    private func tried(_ passcode: borrowing SecretBytes?, _ now: Timestamp) throws(KeychainStoreError) -> ClassKeys {
        let attempts = try look { database throws(KeychainStoreError) in try Attempts(database) }
        if let seconds = attempts.wait(now) { throw .tooManyAttempts(retryAfter: seconds) }
        do throws(KeychainStoreError) {
            let keys: ClassKeys
            switch passcode {
            case .some(let passcode):
                keys = try withKeys { () throws(KeybagFailure) in
                    try keybag.passcodeKeys(passcode, deviceKey, minimumCost: minimumCost)
                }
            case .none: throw .locked(.whenUnlocked)
            }
            if attempts.failed > 0 { count { _ in Attempts(failed: 0, last: now) } }
            return keys
        } catch {
            if error == .wrongPasscode { count { Attempts(failed: $0.failed + 1, last: now) } }
            throw error
        }
    }

    /// Writes the count, if that is possible.
    ///
    /// A read-only disk or a busy file must hide neither a right passcode nor a wrong one, and counting is advisory.
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

/// What a change of the passcode left out.
package struct PasscodeChange: Sendable {
    /// Sets of earlier class keys that were dropped, beyond `Keybag.retiredLimit`.
    package let droppedKeys: Int
    /// Items that could not be opened and stay as they were, nil for a row that makes no item.
    package let damaged: [Item?]
}

/// The wrong passcodes since the last right one.
struct Attempts {
    var failed: Int
    var last: Timestamp

    /// Typing errors that cost nothing.
    static let free = 5
    /// Seconds to wait after the first wrong passcode that is not free; each further one doubles it.
    static let firstDelay = 2
    /// The longest delay in seconds, so that a forgotten passcode that comes back to mind is of use.
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

    /// Seconds until the next try is heard; nil when it is heard now, as it is when the clock was set back.
    func wait(_ now: Timestamp) -> Int? {
        guard failed >= Self.free, now >= last else { return nil }
        let doublings = min(failed - Self.free, 30)
        let delay = min(Self.longestDelay, Self.firstDelay << doublings)
        let elapsed = (now.microseconds - last.microseconds) / 1_000_000
        return elapsed < Int64(delay) ? delay - Int(elapsed) : nil
    }
}
