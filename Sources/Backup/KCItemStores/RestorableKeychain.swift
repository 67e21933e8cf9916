package import KCBackupEngine
package import KCByteStreams
package import KCCryptography
internal import KCKeychainKeys
package import KCKeychainModel
internal import KCKeychainStore
package import KCLocalKeychains

/// A keychain as it is restored into: its file may be missing or damaged.
package final class RestorableKeychain: RestorableStore {
    private let local: LocalKeychain
    private let file: FileIdentity?
    private let access: KeychainAccess
    private let minimumCost: ScryptCost?
    private let setting: StateSetting
    /// The keychain and, if its keys need it, the archive, opened for a restore.
    private var opened: Keychain?

    /// - Parameter minimumCost: the lowest scrypt cost that is accepted; for tests.
    package init(
        _ local: LocalKeychain, minimumCost: ScryptCost?, _ setting: StateSetting, _ access: KeychainAccess
    ) throws(FileFailure) {
        self.local = local
        // Before it is opened, so that a file that another process puts there since is not replaced.
        file = try local.fileIdentity()
        self.minimumCost = minimumCost
        self.setting = setting
        self.access = access
    }

    package func newStore(for source: RestoreSource) -> NewStore? {
        file == nil ? NewStore(needsPasscode: adopted(source.archive) == nil && !access.isChosen) : nil
    }

    package func restore(_ request: RestoreRequest, _ observer: RestoreObserver) throws -> RestoreReport {
        let backup = try Bring(request.source, options: request.options)
        func run(into target: some ItemTarget, keep: () throws -> Void = {}) throws -> RestoreReport {
            try backup.run(into: target, keep: keep, observer)
        }
        if file != nil {
            let keychain = try existing(for: request)
            let keepsState = request.keepsState && !request.options.isDryRun
            let states = KeychainStates(of: keychain, setting)
            let report = try states.keeping(before: request.change, isKept: keepsState) { keep in
                try run(into: keychain, keep: keep)
            }
            if request.options.isDryRun, report.writesSomething {
                try local.requireChangeable()
                if request.keepsState { try states.requireKeepable() }
            }
            return report
        }
        try Keychain.requireFree(at: local.path)
        let adopted = adopted(request.source.archive)
        try request.openArchive(adopted == nil)
        if request.options.isDryRun {
            let report = try run(into: EmptyTarget(form: adopted == nil ? .plain : .stored))
            try local.requireReplaceable(makesFolder: local.isNamed)
            return report
        }
        do {
            return try access.make(adopted) { keychain in
                let report = try run(into: keychain)
                if !report.makesKeychain { throw NothingWritten(report: report) }
                return report
            }
        } catch let nothing as NothingWritten {
            return nothing.report
        }
    }

    /// Carries the report out of the making of a keychain that is then abandoned.
    private struct NothingWritten: Error {
        let report: RestoreReport
    }

    /// Nil: a keychain stores items unchanged.
    package func loss(of item: Item) -> ItemLoss? { nil }

    /// The unencrypted archive whose class keys a new keychain takes over, and with them the archived passcode, because the
    /// user did not say what opens it; nil if it takes over none.
    private func adopted(_ archive: ProvenArchive?) -> ProvenArchive? {
        archive?.stored != nil && !access.isChosen ? archive : nil
    }

    /// Opens the keychain and, if needed, the archive.
    ///
    /// Secrets stored under the same class keys are written unchanged, without a key; all others are resealed.
    private func existing(for request: RestoreRequest) throws -> Keychain {
        if let opened { return opened }
        // Keys that are unlocked anyway are used to check seals. A restore that removes items checks all seals.
        let keychain = try request.source.archive == nil ? access.open() : access.opened()
        if let stored = request.source.archive?.stored {
            let isForeign = try keychain.form(ofSecretsUnder: stored.keybag) == .plain
            if isForeign {
                try unlock(keychain, for: request)
            } else if request.options.replacing != nil || access.hasPasscode {
                try access.unlock(keychain)
            }
            // Ask the keychain again: it can now lend the keys that have just been unlocked.
            try request.openArchive(keychain.form(ofSecretsUnder: stored.keybag) == .plain)
        } else {
            try request.openArchive(false)
            try unlock(keychain, for: request)
        }
        opened = keychain
        return keychain
    }

    /// Makes the class keys available, unless a passcode was not given and no selected item needs one.
    ///
    /// An imported item may need one to be told from others in the keychain, by their secrets.
    private func unlock(_ keychain: Keychain, for request: RestoreRequest) throws {
        if !access.hasPasscode, let archive = request.source.archive, let filter = request.options.filter {
            let alike = try archive.alikeItems()
            let needsKeys = try keychain.readItems { existing in
                try archive.hasItem(in: filter) { item in
                    if !keychain.canOpen(item.protection) { return true }
                    guard item.uuid.isDerived else { return false }
                    return try existing.hasOthersInSeries(of: item)
                        || alike.contains(item.uuid.with(ordinal: 0)) && !existing.series(of: item).isEmpty
                }
            }
            if !needsKeys { return }
        }
        try access.unlock(keychain)
    }

    package func states() throws -> StateList {
        let known: [KeptStates.State]
        var damage: (any Error)?
        do {
            known = try KeptStates(of: access.opened(), in: setting.folder).listEverywhere()
        } catch let error as KeychainStoreError where error.isOfTheFile {
            known = try statesAtPath().map(\.state)
            if known.isEmpty { throw error }
            damage = error
        }
        let listed = try known.map { found in
            let state = KeptState(found)
            return (state, try state.contents { try read(found).itemCount() })
        }
        return StateList(states: listed, damage: damage, ofOthers: damage == nil ? try statesOfOthers() : 0)
    }

    /// Counts the states of keychains that were lost, and others made in their place.
    private func statesOfOthers() throws -> Int {
        var count = 0
        for folder in try StateFolder.all(at: local, in: setting.folder) where try folder.isFollowed() {
            let place = try folder.otherPlace(
                than: local, in: setting.folder, deviceKey: setting.device.key(), minimumCost: minimumCost)
            if place == nil { count += try folder.list().count }
        }
        return count
    }

    package func planUndo(to name: String?) throws -> UndoPlan {
        let keychain = try access.opened()
        // Else the state that a running change has kept, which is the present one until its end, would be passed over.
        try keychain.awaitChange()
        let states = KeptStates(of: keychain, in: setting.folder)
        let known = try states.list()
        // States from before a move of the keychain are no longer its last changes once it was changed at its new
        // place.
        let candidates = try name == nil && !known.isEmpty ? known : states.listEverywhere()
        for candidate in candidates where name == nil || name?.exact == candidate.name.exact {
            let state = KeptState(candidate)
            let copy = try state.reading { try states.open(candidate) }
            guard keychain.hasKeys(of: copy) else { throw StateFailure.otherPasscode(path: candidate.path) }
            let difference = try KeychainDifference(
                from: keychain, to: copy, written: states.written(after: candidate),
                spoolingIn: setting.temporaryFolder)
            // A change that was killed leaves the state that it kept, which is the present one.
            if difference.isNone {
                if name != nil { throw StateFailure.present(name: candidate.name) }
                continue
            }
            return UndoPlan(
                state: state, isOlder: name != nil && candidate != candidates.first,
                effect: .changes(difference.changes), itemsAfter: difference.itemsAfter,
                check: { [local, setting] keepsState in
                    try states.requireLockable()
                    try local.requireChangeable()
                    if keepsState { try KeychainStates(of: keychain, setting).requireKeepable() }
                }
            ) { [setting] keepsState in
                // Another run may be waiting to restore the same state.
                try states.exclusively(knowing: known) {
                    let keeper = KeychainStates(of: keychain, setting)
                    try keeper.keeping(before: .undo, isKept: keepsState, using: candidate) { keep in
                        try keychain.write { writer in
                            try difference.requireCurrent(writer)
                            try keep()
                            try writer.replaceAll(with: copy)
                        }
                    }
                }
                return nil
            }
        }
        guard let newest = candidates.first else { throw StateFailure.none(named: nil) }
        throw name == nil ? StateFailure.present(name: newest.name) : .none(named: name)
    }

    package func planRepair(after error: any Error, to name: String?) throws -> UndoPlan? {
        guard let error = error as? KeychainStoreError, error.isOfTheFile else { return nil }
        let known = try statesAtPath()
        if known.isEmpty { return nil }
        let (folder, chosen) = try choose(name, from: known)
        let state = KeptState(chosen)
        let items = try state.reading { try read(chosen).itemCount() }
        return UndoPlan(
            state: state, isOlder: name != nil && chosen != known.first?.state, effect: .repair(of: error),
            itemsAfter: items,
            check: { [local] _ in try local.requireReplaceable(makesFolder: true) }
        ) { [local, file, setting] _ in
            try folder.claim(local, in: setting.folder)
            let old = try local.replaceFile(
                by: chosen, insteadOf: file, deviceKey: setting.device.key(), now: setting.now)
            setting.removing { try StateFolder.remove(chosen) }
            return old
        }
    }

    /// A state and the folder that has it.
    private typealias FoundState = (folder: StateFolder, state: KeptStates.State)

    /// The states of all keychains that were at the path, the newest first.
    private func statesAtPath() throws(FileFailure) -> [FoundState] {
        var known: [FoundState] = []
        for folder in try StateFolder.all(at: local, in: setting.folder) {
            for state in try folder.list() { known.append((folder, state)) }
        }
        return known.sorted { $0.state.name > $1.state.name }
    }

    /// The state that the user named, or else the newest one of the keychain that was last at the path.
    ///
    /// - Throws: `StateFailure.none`; without a name, `StateFailure.otherKeychain` if the states are of a keychain that was
    ///   there before, or that was moved: what would come back is not what the user lost.
    private func choose(_ name: String?, from known: [FoundState]) throws -> FoundState {
        if let name {
            guard let named = known.first(where: { $0.state.name.exact == name.exact }) else {
                throw StateFailure.none(named: name)
            }
            return named
        }
        var newest: FoundState?
        for found in known where try !found.folder.isFollowed() {
            if let newest, newest.folder.path.exact != found.folder.path.exact {
                throw StateFailure.otherKeychain(nowAt: nil)
            }
            if newest == nil { newest = found }
        }
        guard let newest else { throw StateFailure.otherKeychain(nowAt: nil) }
        // Beside a damaged file, one with the same ID is a copy of it.
        if file != nil { return newest }
        let place = try newest.folder.otherPlace(
            than: local, in: setting.folder, deviceKey: setting.device.key(), minimumCost: minimumCost)
        if let place { throw StateFailure.otherKeychain(nowAt: place) }
        return newest
    }

    private func read(_ state: KeptStates.State) throws -> Keychain {
        try StateFolder.open(state, deviceKey: setting.device.key(), minimumCost: minimumCost)
    }
}

extension KeptState {
    init(_ state: KeptStates.State) {
        self.init(name: state.name, path: state.path, date: state.date, before: state.before)
    }

    /// Measures a state; one that cannot be read does not hide the others.
    func contents(_ items: () throws -> Int) throws -> Result<StateContents, StateFailure> {
        do {
            return .success(
                try reading { try StateContents(items: items(), size: OpenFile.reading(path).size()) })
        } catch let failure as StateFailure {
            return .failure(failure)
        }
    }
}

extension KeychainStoreError {
    /// True if the keychain file is damaged or missing, so that a kept state can replace it.
    fileprivate var isOfTheFile: Bool {
        switch self {
        case .damaged, .notAKeychain, .notFound: true
        default: false
        }
    }
}
