internal import KCBackupArchive
package import KCBackupEngine
internal import KCByteStreams
package import KCHomeFiles
package import KCKeychainModel
internal import KCLocalKeychains

/// A home as archives of its files are restored into it.
package final class RestorableHome: RestorableStore {
    private let root: HomeRoot
    let home: String
    let kept: HomeStates
    private let setting: StateSetting
    private var isOpen = false

    /// - Parameter path: the path of the home, or of the system's root.
    package init(_ root: HomeRoot, _ path: String, _ setting: StateSetting) {
        self.root = root
        home = path
        self.setting = setting
        kept = HomeStates(root, path, setting)
    }

    /// Nil: a home is there.
    package func newStore(for source: RestoreSource) -> NewStore? { nil }

    /// See `RestorableStore`; running a restore again finishes one that was broken off.
    ///
    /// - Throws: `HomeFailure.changedMeanwhile`, `BrokenOffWrite` after files were written.
    package func restore(_ request: RestoreRequest, _ observer: RestoreObserver) throws -> RestoreReport {
        let backup = try Bring(request.source, options: request.options)
        if !isOpen { try request.openArchive(true) }
        isOpen = true
        let home = try WritableHome(self.home)
        let code = try kept.coding()
        let target = HomeTarget(root, home) { file, rule, bytes in try code(file.restoredPermissions(rule), bytes) }
        if request.options.isDryRun {
            let report = try backup.run(into: target, observer)
            try kept.folder.requireKeepable(request.keepsState && report.writesSomething)
            return report
        }
        return try kept.folder.alone {
            var written: [HomePath: HomeTarget.Place] = [:]
            let keep = { [kept] in
                guard request.keepsState else { return }
                try kept.keep(before: request.change, written.mapValues { $0.code }, in: home) {
                    written[$0]?.status
                }
            }
            let observer = observer.observing { item, action in
                if action == .create || action == .update, let place = target.place(of: item) {
                    written[place.file.path] = place
                }
            }
            let report = try backup.run(into: target, keep: keep, observer)
            kept.tidy()
            return report
        }
    }

    /// Nil: a file is restored with all that its item has.
    package func loss(of item: Item) -> ItemLoss? { nil }

    package func states() throws -> StateList {
        StateList(
            states: try kept.folder.names().map { name in
                let state = kept.folder.state(name)
                return (state, try state.contents { try kept.contents(of: state).record.files.count })
            })
    }

    package func planUndo(to name: String?) throws -> UndoPlan {
        let known = try kept.folder.names()
        guard let newest = known.first else { throw StateFailure.none(named: nil) }
        let named = known.first { name?.exact == $0.text.exact }
        if name != nil, named == nil { throw StateFailure.none(named: name) }
        // An undo that broke off is finished first. Its own states are then no changes to take back.
        var unfinished = try kept.contents(of: kept.folder.state(newest)).record.target
        if let target = unfinished, !known.contains(target) || named.map({ $0 > target }) ?? false { unfinished = nil }
        let wanted = named ?? unfinished
        var undo = HomeUndo(try WritableHome(home), kept, spoolingIn: setting.temporaryFolder)
        var (rests, added): ([ArchivedStateName], [ArchivedStateName]) = ([], [])
        for candidate in known {
            let state = kept.folder.state(candidate)
            let (files, record) = try kept.contents(of: state)
            let isRest = record.target != nil && candidate.before != .undo
            if let unfinished, record.target == unfinished {
                if isRest { rests.append(candidate) }
                continue
            }
            undo.add(files, record)
            added.append(candidate)
            if let wanted, candidate != wanted { continue }
            var plan = try undo.plan()
            if plan.steps.isEmpty {
                if name != nil { throw StateFailure.present(name: candidate.text) }
                // States before an undo that has nothing left to do were not asked for.
                guard isRest || candidate == unfinished else { continue }
                plan.changes.isFinished = plan.changes.emptyFolders == 0
            }
            return UndoPlan(
                state: state, isOlder: wanted != nil && added.count > 1,
                effect: .changes(plan.changes), itemsAfter: plan.itemsAfter,
                check: { [kept, plan] keepsState in
                    let keepsPresent = keepsState && !plan.steps.isEmpty
                    try kept.folder.requireKeepable(keepsPresent || !plan.changes.blocked.isEmpty)
                }
            ) { [kept, root, undo, plan, rests, added] keepsState in
                try kept.folder.alone {
                    guard try kept.folder.names() == known else { throw HomeFailure.changedMeanwhile(root.start) }
                    try undo.apply(plan, to: candidate, keepsState: keepsState)
                    // The target is the last one.
                    kept.tidy(used: rests + added)
                }
                return nil
            }
        }
        throw name == nil ? StateFailure.present(name: newest.text) : .none(named: name)
    }

    /// Nil: a state has only the files that one change replaced.
    package func planRepair(after error: any Error, to name: String?) -> UndoPlan? { nil }
}
