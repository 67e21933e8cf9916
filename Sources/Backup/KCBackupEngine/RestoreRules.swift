package import KCKeychainModel

/// The policy of a restore for items that already exist.
package enum ConflictPolicy: String, CaseIterable, Hashable, Sendable {
    /// The item with the later modification date wins; on a tie, the existing item stays.
    case newer
    case keep
    case overwrite
    /// Refuse the restore if there is any conflict.
    case fail
}

/// The action of a restore for one item of the archive.
package enum RestoreAction: Hashable, Sendable {
    case create
    case update
    /// The keychain already has exactly this item.
    case same
    /// The keychain has its own version, which the policy keeps.
    case keep
    case staysBehind(Verdict.Reason)
    case fail(Problem)
    /// The item was not selected.
    case notSelected

    /// Why an item cannot be written although the rules allow it.
    package enum Problem: String, CaseIterable, Hashable, Sendable {
        /// Its unique key belongs to an item that is another one of the archive and stays as it is.
        case identityTaken = "identity-taken"
        /// No available key opens its secret.
        case noKey = "no-key"
        /// Its seal is broken: it was damaged in the keychain before the archive was made.
        case broken
        /// The target cannot store items of its class.
        case noPlace = "no-place"
        /// The item is no file that may be written into a home.
        case notAHomeFile = "not-a-home-file"
        /// Where it goes, or on the way there, is something that is not written over.
        case inTheWay = "in-the-way"
        /// The user may not read or write where it goes.
        case notPermitted = "not-permitted"
        /// Its accessibility needs a passcode, and the keychain has none.
        case noPasscode = "no-passcode"
        /// With what stays of the keychain's own version it would be over a limit.
        case overLimit = "over-limit"

        /// The problem that an obstacle is.
        init(_ obstacle: ItemObstacle) {
            self =
                switch obstacle {
                case .noPasscode: .noPasscode
                case .noPlace: .noPlace
                case .notAHomeFile: .notAHomeFile
                case .inTheWay: .inTheWay
                case .notPermitted: .notPermitted
                }
        }
    }

    /// The stable name used in tables and JSON.
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

    /// True if the action writes to the keychain.
    var writes: Bool { self == .create || self == .update }
}

/// The rules for one restore, as pure functions.
package struct RestoreRules: Sendable {
    /// The mode of the archive.
    let mode: ArchiveMode
    /// True if this device made the archive.
    let isSameDevice: Bool
    /// The policy for items that already exist.
    let policy: ConflictPolicy
    /// The local items that are removed first, unless they equal those of the archive, as in Apple's device restore.
    let replaced: LocalItems?
    /// True if items that are removed are compared with those of the archive, since only the others are removed.
    var replacesInPlace = false
    /// Which items are restored; nil for all of them.
    var filter: ItemFilter?
    /// Where the items come from.
    var source = Passage.Source.keychain
    /// True if items that are bound to this device go to a target that cannot bind them, too.
    var givesUpBinding = false
    /// Decides what may be restored; replaced only in the test that shows that keys, not this function, protect items.
    let verdict: @Sendable (Accessibility, ArchiveMode, Bool) -> Verdict

    init(
        mode: ArchiveMode, isSameDevice: Bool, _ options: RestoreOptions,
        verdict: @escaping @Sendable (Accessibility, ArchiveMode, Bool) -> Verdict
    ) {
        (self.mode, self.isSameDevice, self.verdict) = (mode, isSameDevice, verdict)
        (policy, replaced, filter) = (options.conflictPolicy, options.replacing, options.filter)
        givesUpBinding = options.givesUpBinding
    }

    /// Decides what to do with `item`, given its counterparts in the keychain.
    ///
    /// - Parameters:
    ///   - byKey: the live item with the same unique key.
    ///   - byUUID: the live item with the same UUID; if only this one exists, the item was renamed since.
    ///   - problem: why its secret is not available, if it is not.
    ///   - isProvedWhole: false if the secret is stored ciphertext that could not be opened for lack of a key.
    ///   - isHeld: returns whether an existing item equals `item` as far as the target can store it; its dates may
    ///     differ.
    ///   - hasSecret: returns whether an existing item has the secret of `item`, nil if that takes a passcode; called
    ///     only if everything else is equal.
    func action(
        for item: Item, byKey: Item?, byUUID: Item?, problem: RestoreAction.Problem?, isProvedWhole: Bool = true,
        isHeld: (Item) -> Bool = { _ in false }, hasSecret: (Item) throws -> Bool?
    ) rethrows -> RestoreAction {
        if case .staysBehind(let reason) = verdict(item.sealingAccessibility, mode, isSameDevice) {
            return .staysBehind(reason)
        }
        if let problem { return .fail(problem) }
        // An item that is there already, and would be removed first, stays.
        if let byKey, !replacesInPlace, isReplaced(byKey), byKey == item, try hasSecret(byKey) == true { return .same }
        // Items that are removed first cannot conflict.
        let byKey = remains(byKey)
        let byUUID = remains(byUUID)
        if let byKey, let byUUID, byKey.uuid != byUUID.uuid { return .fail(.identityTaken) }
        guard let existing = byKey ?? byUUID else { return .create }
        if existing == item || isHeld(existing) {
            switch try hasSecret(existing) {
            case true?: return .same
            case false?: break
            case nil: if !isReplaced(existing), policy != .overwrite { return .keep }
            }
            // A changed secret has a changed date. If only the secret differs, one of the two is damaged: the
            // keychain's, unless the archive's secret could not be checked.
            if policy == .newer, existing == item { return isProvedWhole ? .update : .keep }
        }
        switch isReplaced(existing) ? .overwrite : policy {
        case .newer: return item.modified > existing.modified ? .update : .keep
        case .keep: return .keep
        case .overwrite, .fail: return .update
        }
    }

    /// Why `item`, whose verdict is that it restores, does not go to `target`; nil if it does.
    func reason(against item: Item, in target: Passage.Target) -> Verdict.Reason? {
        switch Passage.decide(item, from: source, to: target) {
        case .moves: nil
        case .givesUpBinding: givesUpBinding ? nil : .notBoundThere
        case .stays(.passcodeBound): .inNoArchive
        case .stays(.asksForPasscode): .asksForPasscode
        case .stays(.thisDeviceOnly), .stays(.boundElsewhere): .notBoundThere
        }
    }

    /// True if `item` is selected.
    func selects(_ item: Item) -> Bool {
        filter?.matches(item) ?? true
    }

    /// The item, unless it is removed first.
    func remains(_ existing: Item?) -> Item? {
        existing.flatMap { isReplaced($0) && !replacesInPlace ? nil : $0 }
    }

    private func isReplaced(_ existing: Item) -> Bool { replaced?.includes(existing) == true }
}

/// The actions for all items of an archive, in order, one byte each (0 leave, 1 create, 2 update), and their counts.
struct ActionList {
    private var codes: [UInt8] = []
    private(set) var counts = RestoreCounts()

    /// - Parameters:
    ///   - action: nil for a decision that `settle` makes.
    ///   - isWritten: true to write an item that is there already, as if it were updated.
    mutating func append(_ action: RestoreAction?, isWritten: Bool = false) {
        codes.append(isWritten ? 2 : action.map(Self.code) ?? 0)
        if let action { counts.add(action) }
    }

    private static func code(_ action: RestoreAction) -> UInt8 { action == .create ? 1 : action == .update ? 2 : 0 }

    /// Makes the decision that was left open about the item with this ordinal.
    mutating func settle(_ action: RestoreAction, at ordinal: Int) {
        codes[ordinal] = Self.code(action)
        counts.add(action)
    }

    /// True if the item with this ordinal is to be written; false beyond the end.
    func writes(_ ordinal: Int) -> Bool {
        ordinal < codes.count && codes[ordinal] != 0
    }

    /// True if the item with this ordinal replaces another one.
    func updates(_ ordinal: Int) -> Bool {
        ordinal < codes.count && codes[ordinal] == 2
    }

    /// True if any item is to be written.
    var writesAny: Bool { codes.contains { $0 != 0 } }

    var count: Int { codes.count }
}

/// The number of items for each action.
package struct RestoreCounts: Hashable, Sendable {
    /// Items written that did not exist before.
    package private(set) var create = 0
    /// Items written over existing ones.
    package private(set) var update = 0
    /// Items that already existed, unchanged.
    package private(set) var same = 0
    /// Items for which the keychain's own version stays.
    package private(set) var keep = 0
    /// Items that the rules leave behind.
    package private(set) var stayBehind = 0
    /// Items that cannot be written.
    package private(set) var fail = 0
    /// Items that were not selected.
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
