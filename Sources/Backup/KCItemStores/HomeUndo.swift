internal import KCByteStreams
internal import KCHomeFiles
internal import KCKeychainModel
internal import KCLocalKeychains

/// Takes changes of a home back, the newest first.
struct HomeUndo {
    private let home: WritableHome
    private let states: HomeStates
    /// What was at a path before the oldest change that is taken back; nil for nothing.
    private var before: [HomePath: KeptFile?] = [:]
    /// The code of what the newest change left there; nil for nothing.
    private var after: [HomePath: [UInt8]?] = [:]
    /// The folders that the changes made.
    private var made: Set<HomePath> = []

    init(_ home: WritableHome, _ states: HomeStates) {
        self.home = home
        self.states = states
    }

    /// Takes back the change after a state, too, which is older than those before.
    ///
    /// - Parameter files: those that the state has.
    mutating func add(_ files: [HomePath: KeptFile], _ record: HomeRecord) {
        made.formUnion(record.folders)
        for (path, code) in record.files {
            before[path] = .some(files[path])
            if after[path] == nil { after[path] = .some(code) }
        }
    }

    /// What happens to one file.
    struct Step {
        let path: HomePath
        let rule: HomeFileRule
        /// What is there now; nil for nothing.
        let present: EntryStatus?
        /// What will be there; nil for nothing.
        let kept: KeptFile?
    }

    struct Plan {
        var steps: [Step] = []
        /// The files that cannot be taken back now.
        var blocked: [HomePath] = []
        var changes = UndoneChanges()
        var itemsAfter = 0
    }

    /// - Throws: `HomeFailure.inTheWay` if nothing can be taken back but what something is in the way of.
    func plan() throws -> Plan {
        var plan = Plan()
        let code = try states.coding()
        var since = UndoneChanges.Since(added: [], changed: [])
        for (path, kept) in before.sorted(by: { $0.key < $1.key }) {
            guard let rule = HomeTable.rule(for: path) else { continue }
            let entry = try home.entry(at: path, rule)
            if case .inTheWay(let problem) = entry {
                plan.blocked.append(path)
                plan.changes.blocked.append(.init(path: path.shown, problem: problem))
                continue
            }
            if kept != nil { plan.itemsAfter += 1 }
            switch (entry, kept) {
            case (.inTheWay, _), (.missing, nil): continue
            case (.missing, let kept?):
                plan.changes.returning.append(kept.item)
                plan.steps.append(Step(path: path, rule: rule, present: nil, kept: kept))
            case (.file(let file), let kept):
                plan.changes.itemsBefore += 1
                let own = HomeItem(path, file)
                let present = try code(own.permissions, file.bytes)
                if let kept, try code(kept.file.restoredPermissions(rule), kept.bytes) == present { continue }
                let item = try own.draft.completed(now: own.modified, secretSize: file.bytes.count)
                let isAsLeft = after[path] == .some(present)
                if kept == nil {
                    plan.changes.vanishing.append(item)
                    // Without a code of it, the newest change had removed it.
                    if case .some(.some(_)) = after[path], !isAsLeft {
                        since.rewritten.append(item)
                    } else if !isAsLeft {
                        since.added.append(item)
                    }
                } else {
                    plan.changes.changing.append(item)
                    if !isAsLeft { since.changed.append(item) }
                }
                plan.steps.append(Step(path: path, rule: rule, present: file.status, kept: kept))
            }
        }
        plan.changes.since = since
        if plan.steps.isEmpty, let first = plan.blocked.first {
            throw HomeFailure.inTheWay(of: first.shown, count: plan.blocked.count)
        }
        return plan
    }

    /// Carries a plan out, if every file is still as it was planned for.
    ///
    /// The state of the undo names its target, and what is blocked becomes a state of its own, the newest one, before
    /// anything changes. The target is removed at the end: while it is there, the next undo finishes this one.
    ///
    /// - Parameter target: the oldest of the states that are brought back.
    /// - Throws: `StateFailure.notKept`, `HomeFailure.changedMeanwhile`, `FileFailure`, `StreamFailure`.
    func apply(_ plan: Plan, to target: ArchivedStateName, keepsState: Bool) throws {
        if keepsState, !plan.steps.isEmpty {
            let code = try states.coding()
            var files: [HomePath: [UInt8]?] = [:]
            var present: [HomePath: EntryStatus] = [:]
            for step in plan.steps {
                files[step.path] = .some(
                    try step.kept.map { try code($0.file.restoredPermissions(step.rule), $0.bytes) })
                present[step.path] = step.present
            }
            try states.keep(before: .undo, files, target: target, in: home) { present[$0] }
        }
        if !plan.blocked.isEmpty {
            let blocked = Set(plan.blocked)
            var rest = HomeRecord()
            rest.files = after.filter { blocked.contains($0.key) }
            rest.folders = made.intersection(blocked.flatMap(\.folders))
            rest.target = target
            try states.keep(
                rest: rest, before.filter { blocked.contains($0.key) }, of: states.folder.state(target))
        }
        defer { home.synchronize() }
        for step in plan.steps {
            if let kept = step.kept {
                try home.write(kept.file, step.rule, kept.bytes, replacing: step.present)
            } else if let present = step.present {
                try home.remove(step.path, present)
            }
        }
        // The innermost first: a folder is greater than the one that it is in.
        for folder in made.sorted(by: >) { try home.removeEmptyFolder(folder) }
    }
}
