internal import KCBackupEngine
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// A file out of which records are to be taken, as it was before it was read for its items.
struct RemovableFile {
    /// The file; nil for a folder or a pipe.
    let file: ForeignFile?

    /// - Throws: `FileFailure`, `StreamFailure`.
    init(_ path: String, in session: Session) throws {
        let resolved = session.machine.resolve(path)
        guard InputFile.descriptor(path) == nil, Path.isFile(resolved),
            case .file(let open) = try InputFile.open(resolved)
        else {
            file = nil
            return
        }
        file = try ForeignFile(reading: open)
    }
}

/// Takes imported records out of their file, once the keychain is known to have them.
struct FileRemoval {
    /// The fate of the file: the same for the run and for a dry run, which foretells it.
    private enum Plan: ~Copyable {
        /// The keychain does not have the secrets of all of its records.
        case stays
        case changes(FileRemainder)
    }

    /// The file as the user named it.
    private let path: String
    private let place: HomePath
    private let kind: ForeignKind
    private let file: ForeignFile
    private let records: SeparableRecords
    /// How many other names the file has, under which it stays as it is.
    private let otherNames: Int
    private let session: Session

    /// - Throws: `UsageProblem` for a file of another format, or one that is not in the list of docs/home.md;
    ///   `HomeFailure.notReplaceable`, `FileFailure`, `StreamFailure`.
    init(_ path: String, _ reading: ForeignReading, _ removable: RemovableFile, in session: Session) throws {
        guard let file = removable.file, reading.kind.isSeparable, let records = reading.records,
            records.fit(size: file.bytes.count)
        else {
            throw UsageProblem(
                "'\(OptionName.removeFromFile.spelling)' is for .netrc files and git credentials files",
                hint: "leave it out, and remove the file by hand once its program does without it")
        }
        let resolved = session.machine.resolve(path)
        let place = HomePath(of: resolved, in: session.machine.home)
        // A link is not followed: the file that it leads to is elsewhere.
        guard reading.remains, let place, let rule = HomeTable.rule(for: place), try Path.kind(of: resolved) == .file
        else {
            throw UsageProblem(
                "'\(OptionName.removeFromFile.spelling)' is for ~/.netrc and the files of git that 'man kcbackup-import' names",
                hint: "leave it out, and remove the file by hand")
        }
        // A file that cannot be changed is refused before anything is imported.
        let home = try WritableHome(session.machine.home)
        switch try home.entry(at: place, rule) {
        case .file(let found):
            if let problem = try home.obstacle(at: place, found.status) {
                throw HomeFailure.notReplaceable(place.shown, problem)
            }
            otherNames = found.status.names - 1
        case .missing: throw HomeFailure.changedMeanwhile(place.shown)
        case .inTheWay(let problem): throw HomeFailure.notReplaceable(place.shown, problem)
        }
        try RestorableHome.requireUnlocked(place, in: session.machine.home, by: reading.kind.lockEnding)
        self.path = path
        self.place = place
        kind = reading.kind
        self.file = file
        self.records = records
        self.session = session
    }

    /// Says that an earlier run has taken the records out of a file, if that is why it cannot be read.
    ///
    /// - Parameter path: the file as the user named it.
    static func explain(_ failure: any Error, of path: String, in session: Session) throws -> any Error {
        guard let place = HomePath(of: session.machine.resolve(path), in: session.machine.home) else { return failure }
        let home = RestorableHome(.home, session.machine.home, session.context.stateSetting)
        guard try home.hasRewritten(place, lockedBy: ForeignKind.gitCredentials.lockEnding) else { return failure }
        let found = session.failure(of: failure).explanation
        let told = Explanation(
            found.status, found.message,
            hint: "an earlier run took the records out of the file, and nothing is left to do; 'kcbackup undo "
                + "\(OptionName.keychain.spelling) \(HomeRoot.home.storeName)' puts them back")
        return Refusal.explained(told)
    }

    /// Says what would be taken out after an import.
    ///
    /// - Parameter report: that of the dry run of the import.
    /// - Returns: the number of records; nil if the file would stay as it is.
    func rehearse(_ report: RestoreReport, of contents: ForeignContents) throws -> Int? {
        let written = report.counts.create + report.counts.update
        switch try plan(contents, held: written + report.presentCount) {
        case .stays:
            session.message(
                "would leave \(quoted(path)) as it is: the keychain would not have the secrets of all of its records\n")
            return nil
        case .changes(let rest):
            if rest.takesNothing {
                session.message("would leave \(quoted(path)) as it is\(Self.staying(rest.staying))\n")
                return nil
            }
            if rest.removed > 0 { try requireKeepable() }
            session.message(
                "would take \(counted(rest.removed, "record")) out of \(quoted(path))\(Self.staying(rest.staying))\n")
            warnOfOtherNames(rest.removed)
            return rest.removed
        }
    }

    /// Checks that the state of the file could be kept.
    private func requireKeepable() throws {
        do {
            try RestorableHome(.home, session.machine.home, session.context.stateSetting).requireKeepable()
        } catch StateFailure.notKept(let cause) {
            warnNotKept()
            throw cause
        }
    }

    /// Says that the file stays: the import stands, and '--no-undo' is about the keychain alone.
    private func warnNotKept() {
        session.warn("\(quoted(path)) stays as it is: its state cannot be kept for 'undo'")
    }

    /// Takes the records out, if the keychain has each of their items with its secret.
    ///
    /// - Returns: the number of records; nil if the file stays as it was, which is said.
    /// - Throws: what reading the keychain throws, and as `RestorableHome.rewrite`.
    func run(_ contents: ForeignContents, in store: any RestorableStore) throws -> Int? {
        var options = RestoreOptions()
        options.conflictPolicy = .keep
        options.isDryRun = true
        let request = RestoreRequest(.items(contents.items), options, keepsState: false)
        let check = try store.restore(request, RestoreObserver())
        switch try plan(contents, held: check.presentCount) {
        case .stays:
            session.warn(
                "\(quoted(path)) stays as it is: the keychain does not have the secrets of all of its records")
            return nil
        case .changes(let rest):
            try change(rest)
            return rest.takesNothing ? nil : rest.removed
        }
    }

    /// - Parameter held: how many of the items the keychain has with their secrets, once they are imported.
    private func plan(_ contents: ForeignContents, held: Int) throws -> Plan {
        guard held == contents.items.count, contents.refused.isEmpty, contents.staying.isEmpty,
            // Each record is an item, or equals another one.
            records.pieces.count <= contents.items.count + contents.duplicates
        else { return .stays }
        return .changes(file.bytes.withBytes { FileRemainder(of: $0, without: records) })
    }

    private func change(_ rest: borrowing FileRemainder) throws {
        if rest.removed > 0 {
            // Other messages about 'undo' are about the keychain.
            let didKeep = session.keptState
            defer { session.keptState = didKeep }
            do {
                try RestorableHome(.home, session.machine.home, session.context.stateSetting).rewrite(
                    place, from: file.bytes, to: rest.bytes, lockedBy: kind.lockEnding, now: session.now)
            } catch StateFailure.notKept(let cause) {
                warnNotKept()
                throw cause
            }
            session.note(
                "took \(counted(rest.removed, "record")) out of \(quoted(path)); "
                    + "'kcbackup undo \(OptionName.keychain.spelling) \(HomeRoot.home.storeName)' puts them back, "
                    + "and has to come before an undo of the import")
            warnOfOtherNames(rest.removed)
        }
        if rest.staying > 0 { session.warn("\(quoted(path)) still holds secrets\(Self.staying(rest.staying))") }
    }

    private func warnOfOtherNames(_ removed: Int) {
        guard removed > 0, otherNames > 0 else { return }
        session.warn(
            "\(quoted(path)) has \(counted(otherNames, "more name")) (hard link), under which the secrets stay in a file"
        )
    }

    private static func staying(_ count: Int) -> String {
        count == 0
            ? "" : ": \(counted(count, "record")) with comments, macros or parts that no item has stay"
    }
}

extension FileRemainder {
    /// True if the file stays as it is with all its secrets.
    fileprivate var takesNothing: Bool { removed == 0 && staying > 0 }
}

extension RestoreReport {
    /// How many of the items the keychain has already, with the same secrets.
    fileprivate var presentCount: Int { counts.same + imported.keptAlike.count }
}
