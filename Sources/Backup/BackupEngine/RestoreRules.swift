package import KeychainModel

/// What happens when an item is already there.
package enum ConflictPolicy: String, CaseIterable, Hashable, Sendable {
    /// The later modification date wins; on a tie what is there stays.
    case newer
    case keep
    case overwrite
    /// Any conflict stops the restore before it begins.
    case fail
}

/// What a restore does with one item of the archive.
package enum RestoreAction: Hashable, Sendable {
    case create
    case update
    /// The keychain has exactly this item already.
    case same
    /// The keychain has its own version, and the policy says that it stays.
    case keep
    case staysBehind(Verdict.Reason)
    case fail(Problem)
    /// The item was not asked for.
    case notSelected

    /// Why an item cannot be written although it may be restored.
    package enum Problem: String, CaseIterable, Hashable, Sendable {
        /// The keychain has the item's UUID on one item and its unique key on another.
        case identityTaken = "identity-taken"
        /// No key opens its secret.
        case noKey = "no-key"
        /// Its seal is broken: it was damaged in its keychain before the archive was made.
        case broken
        /// The target has no place for items of its class.
        case noPlace = "no-place"
        /// Its accessibility needs a passcode, and the keychain has none.
        case noPasscode = "no-passcode"
        /// With what stays of the keychain's own version it would be over a limit.
        case overLimit = "over-limit"

        /// The problem in words.
        package var words: String {
            switch self {
            case .identityTaken: "its UUID belongs to one item of the keychain and its key to another"
            case .noKey: "no key opens its secret"
            case .noPlace: "the Secret Service has no place for certificates and keys"
            case .noPasscode:
                "WhenPasscodeSetThisDeviceOnly items need a keychain with a passcode: 'kcbackup keychain set-passcode'"
            case .overLimit: "together with what the keychain has beside it, it is over a limit"
            case .broken: "it was damaged before the archive was made: its seal is broken"
            }
        }
    }

    /// The stable name in tables and JSON.
    package var name: String {
        switch self {
        case .create: "create"
        case .update: "update"
        case .same: "same"
        case .keep: "keep"
        case .staysBehind: "stay-behind"
        case .fail: "fail"
        case .notSelected: "not-selected"
        }
    }

    /// True when the keychain is written to.
    var writes: Bool { self == .create || self == .update }
}

/// The rules for one restore, as pure functions.
package struct RestoreRules: Sendable {
    /// The archive's mode.
    let mode: ArchiveMode
    /// True when this device made the archive.
    let isSameDevice: Bool
    /// What happens to items that are there already.
    let policy: ConflictPolicy
    /// For Apple's device restore: the local items that go first.
    let replaced: LocalItems?
    /// Which items are restored; nil for all of them.
    var filter: ItemFilter?
    /// Decides what may be restored; replaced only by the test that shows that keys, not this function, protect.
    let verdict: @Sendable (Accessibility, ArchiveMode, Bool) -> Verdict

    /// What to do with `item`, whose counterparts in the keychain are given.
    ///
    /// - Parameters:
    ///   - byKey: the live item with the same unique key.
    ///   - byUUID: the live item with the same UUID; when only this one is there, the item was renamed since.
    ///   - problem: why its secret cannot be had, if so.
    ///   - isProvedWhole: false when the secret is stored ciphertext that no key was there to open.
    ///   - isHeld: tells whether an existing item is `item` as far as the target can hold it; its dates may be others.
    ///   - hasSecret: tells whether an existing item has the secret of `item`; asked only when all else is equal.
    func action(
        for item: Item, byKey: Item?, byUUID: Item?, problem: RestoreAction.Problem?, isProvedWhole: Bool = true,
        isHeld: (Item) -> Bool = { _ in false }, hasSecret: (Item) throws -> Bool
    ) rethrows -> RestoreAction {
        if case .staysBehind(let reason) = verdict(item.accessibility, mode, isSameDevice) {
            return .staysBehind(reason)
        }
        if let problem { return .fail(problem) }
        // What a replacing restore removes first cannot conflict with anything.
        let byKey = remains(byKey)
        let byUUID = remains(byUUID)
        if let byKey, let byUUID, byKey.uuid != byUUID.uuid { return .fail(.identityTaken) }
        guard let existing = byKey ?? byUUID else { return .create }
        if existing == item || isHeld(existing) {
            if try hasSecret(existing) { return .same }
            // A secret changes together with its date. Where only the secret differs it was damaged since, and nothing
            // of the keychain's own version is worth keeping; unless the archive's may be the damaged one.
            if policy == .newer, existing == item { return isProvedWhole ? .update : .keep }
        }
        switch policy {
        case .newer: return item.modified > existing.modified ? .update : .keep
        case .keep: return .keep
        case .overwrite, .fail: return .update
        }
    }

    /// True if `item` is asked for.
    func selects(_ item: Item) -> Bool {
        filter?.matches(item) ?? true
    }

    private func remains(_ existing: Item?) -> Item? {
        existing.flatMap { replaced?.includes($0) == true ? nil : $0 }
    }
}

/// Actions for all items of an archive in its order, one code a byte (0 leave, 1 create, 2 update), and their counts.
struct ActionList {
    private var codes: [UInt8] = []
    private(set) var counts = RestoreCounts()

    mutating func append(_ action: RestoreAction) {
        let writes: UInt8 = action == .create ? 1 : action == .update ? 2 : 0
        codes.append(writes)
        counts.add(action)
    }

    /// True when the item with this ordinal is to be written; false also beyond the end.
    func writes(_ ordinal: Int) -> Bool {
        ordinal < codes.count && codes[ordinal] != 0
    }

    /// True when the item with this ordinal replaces another.
    func updates(_ ordinal: Int) -> Bool {
        ordinal < codes.count && codes[ordinal] == 2
    }

    var count: Int { codes.count }
}

/// How many items meet which fate.
package struct RestoreCounts: Hashable, Sendable {
    /// Items written that were not there.
    package private(set) var create = 0
    /// Items written over what was there.
    package private(set) var update = 0
    /// Items that were there already.
    package private(set) var same = 0
    /// Items of which the keychain's own version stays.
    package private(set) var keep = 0
    /// Items that the rules leave behind.
    package private(set) var stayBehind = 0
    /// Items that cannot be written.
    package private(set) var fail = 0
    /// Items that were not asked for.
    package private(set) var notSelected = 0
    /// Local items that a replacing restore removes first.
    package var remove = 0

    mutating func add(_ action: RestoreAction) {
        switch action {
        case .create: create += 1
        case .update: update += 1
        case .same: same += 1
        case .keep: keep += 1
        case .staysBehind: stayBehind += 1
        case .fail: fail += 1
        case .notSelected: notSelected += 1
        }
    }
}
