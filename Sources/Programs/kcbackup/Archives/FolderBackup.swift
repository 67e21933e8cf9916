internal import BackupArchive
internal import BackupCatalogue
internal import BackupEngine
internal import ByteStreams
internal import Console
internal import Cryptography
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// `create --to`: backups in a folder that keeps them, of one keychain or of all.
struct FolderBackup {
    let options: CreateOptions
    let path: String
    let session: Session

    /// What became of one keychain.
    private enum Result {
        case done(SeriesDestination.Outcome, CreateReport)
        case failed(Failure)
    }

    /// A keychain or file of items, open.
    private struct Part {
        let subject: BackupSubject
        let series: String
        let source: BackupSource
    }

    func run() throws -> ExitStatus {
        let rules = options.folder
        if rules.all, options.keychain.keychain != nil { throw UsageProblem.together(.all, .keychain) }
        let wait = try rules.lock.wait()
        let folder = try session.backupFolder(path, waitingAtMost: wait, mayBeNew: true, maySwitch: rules.change)
        var results: [(name: String, result: Result)] = []
        var parts: [Part] = []
        let names: [String?] =
            rules.all ? try LocalKeychain.names(in: session.world.dataFolder) : [options.keychain.keychain]
        for name in names {
            do {
                parts.append(try part(name))
            } catch {
                guard rules.all, let name else { throw error }
                results.append((name, .failed(Failure(error, session.subjects))))
            }
        }
        if rules.all, parts.isEmpty, results.isEmpty { throw Refusal.noKeychains }
        let given = try options.unencrypted ? nil : options.keys.recipients(in: session)
        let pin = BackupPin(
            isOfAll: rules.all, mode: options.unencrypted ? .unencrypted : .encrypted,
            keys: given.map { options.keys.names($0) } ?? [],
            subjects: Dictionary(uniqueKeysWithValues: try parts.map { ($0.series, try identity(of: $0)) }))
        try folder.use(for: pin, maySwitch: rules.change)
        var maker: ArchiveKeyMaker?
        for part in parts {
            session.subjects.keychain = part.subject.name
            do {
                if let given, maker == nil {
                    if case .keychain(let open) = part.source { try options.keychain.unlock(open, in: session) }
                    maker = try options.keys.maker(given, of: part.subject.name, in: session)
                }
                let (outcome, report) = try back(up: part, into: folder, maker)
                results.append((part.subject.name, .done(outcome, report)))
            } catch {
                guard rules.all else { throw error }
                results.append((part.subject.name, .failed(Failure(error, session.subjects))))
            }
        }
        return try tell(results.sorted { $0.name < $1.name }, in: folder)
    }

    private func part(_ name: String?) throws -> Part {
        let subject = try BackupSubject(name, in: session.world)
        var named = options.keychain
        named.keychain = name
        return Part(
            subject: subject, series: ArchiveName.series(of: subject.stem),
            source: try subject.open(named, in: session))
    }

    /// What makes a keychain this one and no other of its name.
    private func identity(of part: Part) throws -> String {
        switch part.source {
        case .keychain(let keychain): return Hexadecimal.encode(keychain.storeID)
        case .items:
            guard case .items(let path) = part.subject else { return part.subject.name }
            let (folder, name) = Path.split(session.world.resolve(path))
            return "\(Path.real(folder) ?? folder)/\(name)"
        }
    }

    private func back(
        up part: Part, into folder: BackupFolder, _ maker: ArchiveKeyMaker?
    ) throws -> (SeriesDestination.Outcome, CreateReport) {
        let destination = SeriesDestination(
            folder, series: part.series,
            rules: SeriesDestination.Rules(
                skipsUnchanged: options.folder.ifChanged, acceptsShrinkage: options.folder.acceptShrink))
        let backup = try CreateBackup(
            of: part.subject.archiveSource(), device: folder.device, tool: CommandLineTool.tool, to: destination,
            now: session.now)
        let progress = Progress("archiving items", in: session)
        let report: CreateReport
        if let maker {
            if case .keychain(let open) = part.source { try options.keychain.unlock(open, in: session) }
            var bound: [Item] = []
            report = try part.source.encrypted(
                backup, with: maker.make(), bound: { if session.style.isVerbose { bound.append($0) } },
                step: { progress.step() })
            for words in wordsApart(bound) { session.note("only on this device: \(words)") }
        } else {
            report = try options.unencrypted(backup, part.source, session) { progress.step() }
        }
        progress.finish()
        guard let outcome = destination.outcome else { preconditionFailure("a finished backup has an outcome") }
        return (outcome, report)
    }

    private func tell(_ results: [(name: String, result: Result)], in folder: BackupFolder) throws -> ExitStatus {
        var status = ExitStatus.ok
        var json: [JSONValue] = []
        for (name, result) in results {
            switch result {
            case .done(let outcome, let report):
                options.warn(of: report, session)
                tell(outcome, report, of: name)
                json.append(describe(outcome, report, of: name, in: folder))
                if !report.damaged.isEmpty, status == .ok { status = .incomplete }
            case .failed(let failure):
                let explanation = failure.explanation.prefixed("keychain \(quoted(name)): ")
                session.message(explanation.lines)
                json.append(JSONValue.members([("keychain", .text(name))]).adding([("error", explanation.jsonBody)]))
                if status == .ok || status == .incomplete { status = explanation.status }
            }
        }
        if session.style.isJSON { try session.result(["folder": .text(path), "results": .list(json)], []) }
        return status
    }

    private func tell(_ outcome: SeriesDestination.Outcome, _ report: CreateReport, of name: String) {
        switch outcome {
        case .saved(let entry):
            session.note(
                "\(displayed(name)): saved and verified \(counted(report.contents.counts.total, "item")) as "
                    + "\(displayed(entry.name)), \(byteCount(report.size))")
            session.note(options.travelWords(report))
            if report.notOpened > 0 {
                session.note("\(counted(report.notOpened, "item")) not opened: the keychain is locked")
            }
        case .unchanged(let entry):
            session.note("\(displayed(name)): nothing has changed since \(displayed(entry.name))")
        }
    }

    private func describe(
        _ outcome: SeriesDestination.Outcome, _ report: CreateReport, of name: String, in folder: BackupFolder
    ) -> JSONValue {
        let (entry, isNew) =
            switch outcome {
            case .saved(let entry): (entry, true)
            case .unchanged(let entry): (entry, false)
            }
        return .members([
            ("keychain", .text(name)), ("saved", .flag(isNew)), ("file", .text(entry.name)),
            ("id", .text(Hexadecimal.encode(entry.archiveID))), ("size", .number(Int(entry.size))),
            ("contents", report.contents.json), ("boundToThisDevice", .number(report.boundToThisDevice)),
            ("notOpened", .number(report.notOpened)), ("omitted", .list(report.omitted.map { .item($0) })),
            ("damaged", .list(report.damaged.map { $0.map { .item($0) } ?? [:] })),
        ])
    }
}
