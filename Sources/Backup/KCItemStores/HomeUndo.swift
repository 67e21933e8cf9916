internal import KCByteStreams
internal import KCHomeFiles
internal import KCKeychainModel
internal import KCLocalKeychains

/// Takes changes of a home back, the newest first.
struct HomeUndo {
    private let home: WritableHome
    private let states: HomeStates
    private let spoolFolder: String
    /// The file that was at a path before the oldest change that is taken back; nil for none.
    private var before: [HomePath: KeptFile?] = [:]
    /// The code of what the newest change left there; nil for nothing.
    private var after: [HomePath: [UInt8]?] = [:]
    /// The folders that the changes made.
    private var made: Set<HomePath> = []

    /// - Parameter folder: where items wait that are too many or too large for the memory.
    init(_ home: WritableHome, _ states: HomeStates, spoolingIn folder: String) {
        self.home = home
        self.states = states
        spoolFolder = folder
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

    /// The undo of one file.
    struct Step {
        let path: HomePath
        let rule: HomeFileRule
        /// The entry that is there now; nil for none.
        let present: EntryStatus?
        /// The file that will be there; nil for none.
        let kept: KeptFile?
    }

    struct Plan {
        var steps: [Step] = []
        /// The files that cannot be taken back now.
        var blocked: [HomePath] = []
        /// The folders that the changes made and that may not be removed now.
        var blockedFolders: [HomePath] = []
        var changes = UndoneChanges()
        var itemsAfter = 0

        mutating func block(_ path: HomePath, _ problem: HomeFile.Failure?) {
            blocked.append(path)
            changes.blocked.append(.init(path: path.shown, problem: problem))
        }
    }

    /// - Throws: `HomeFailure.inTheWay` if nothing can be taken back but what something is in the way of.
    func plan() throws -> Plan {
        var plan = Plan()
        let code = try states.coding()
        let log = UndoneChanges.Log(spoolingIn: spoolFolder, knowsSince: true)
        for (path, kept) in before.sorted(by: { $0.key < $1.key }) {
            guard let rule = HomeTable.rule(for: path) else { continue }
            let entry = try home.entry(at: path, rule)
            if case .inTheWay(let problem) = entry {
                plan.block(path, problem)
                continue
            }
            switch (entry, kept) {
            case (.inTheWay, _), (.missing, nil): continue
            case (.missing, let kept?):
                if let problem = try home.obstacle(at: path, nil) {
                    plan.block(path, problem)
                    continue
                }
                plan.itemsAfter += 1
                try log.bringBack(kept.item)
                plan.steps.append(Step(path: path, rule: rule, present: nil, kept: kept))
            case (.file(let file), let kept):
                plan.changes.itemsBefore += 1
                let own = HomeItem(path, file)
                let present = try code(own.permissions, file.bytes)
                let isThere = try kept.map { try code($0.file.restoredPermissions(rule), $0.bytes) == present } ?? false
                let problem = isThere ? nil : try home.obstacle(at: path, file.status)
                if let problem { plan.block(path, problem) }
                if kept != nil || problem != nil { plan.itemsAfter += 1 }
                if isThere || problem != nil { continue }
                let item = try own.draft.completed(now: own.modified, secretSize: file.bytes.count)
                let isAsLeft = after[path] == .some(present)
                if kept != nil {
                    try log.change(item, isAsLeft ? nil : .changed)
                } else if case .some(.some(_)) = after[path] {
                    try log.remove(item, isAsLeft ? nil : .rewritten)
                } else {
                    // Without a code of it, the newest change had removed it.
                    try log.remove(item, isAsLeft ? nil : .added)
                }
                plan.steps.append(Step(path: path, rule: rule, present: file.status, kept: kept))
            }
        }
        try log.finish(&plan.changes)
        try blockFolders(in: &plan)
        if plan.steps.isEmpty, let first = plan.changes.blocked.first {
            throw HomeFailure.inTheWay(of: first.path, count: plan.changes.blocked.count)
        }
        if plan.steps.isEmpty { plan.changes.emptyFolders = try emptyFolders().count }
        return plan
    }

    /// Finds the folders that may not be removed, unless a file in them stays anyway.
    private func blockFolders(in plan: inout Plan) throws {
        for folder in made.sorted() where !plan.blocked.contains(where: { $0.folders.contains(folder) }) {
            guard let problem = try home.obstacle(toRemovingFolder: folder) else { continue }
            plan.blockedFolders.append(folder)
            plan.changes.blocked.append(.init(path: folder.shown, problem: problem))
        }
    }

    /// The folders that the changes made and that are empty.
    private func emptyFolders() throws(FileFailure) -> Set<HomePath> {
        var found: Set<HomePath> = []
        // The innermost first, as they are removed.
        for folder in made.sorted(by: >) {
            do throws(FileFailure) {
                if try home.isFolder(folder, emptyBut: found) { found.insert(folder) }
            } catch {
                // The contents of the folder cannot be known; the run removes it only if it is empty.
                guard HomeFile.Failure.file(error).isOfRights else { throw error }
            }
        }
        return found
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
        if !plan.changes.blocked.isEmpty {
            let blocked = Set(plan.blocked)
            var rest = HomeRecord()
            rest.files = after.filter { blocked.contains($0.key) }
            rest.folders = made.intersection(blocked.flatMap(\.folders) + plan.blockedFolders)
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
        let staying = Set(plan.blocked.flatMap(\.folders) + plan.blockedFolders)
        for folder in made.subtracting(staying).sorted(by: >) { try home.removeEmptyFolder(folder) }
    }
}
