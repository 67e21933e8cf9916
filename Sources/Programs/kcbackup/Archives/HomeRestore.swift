internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `restore --home`: restores the newest archive of each store in a folder.
struct HomeRestore {
    let command: RestoreCommand
    let opener: ArchiveOpener
    let session: Session

    /// Restores all of them; one that cannot be restored keeps no other from it.
    func run(_ folder: String) throws -> ExitStatus {
        if command.keychainName != nil { throw UsageProblem.together(.home, .keychain) }
        if command.replace { throw UsageProblem.together(.home, .replace) }
        session.subject.file = folder
        let found = try session.machine.archivePlace(folder).newestOfEach(
            accepting: command.origin.device(), in: session.context)
        let names = found.map(\.name)
        // Before the first one is restored: a keychain that this run makes gets the passcode that was given.
        let asking = try keychainsWithPasscode(of: names)
        var results: [JSONValue] = []
        var statuses: [ExitStatus] = []
        for (archive, _) in found {
            let path = archive.path
            session.note("\(displayed(path)):")
            session.subject.file = path
            do {
                statuses.append(
                    try command.restore(
                        opener.find(archive, ifRenamed: .refused), asking: asking, opener, session
                    ) { json, lines in
                        if session.style.isJSON { results.append(json) } else { try session.result([:], lines) }
                    })
            } catch {
                if Interruption.isRequested { throw error }
                let failure = session.failure(of: error, for: .restore, among: asking)
                if failure.isOfOutput { throw failure }
                let explanation = failure.explanation.prefixed("\(quoted(path)): ")
                session.message(explanation.lines)
                results.append(["path": .text(path), "error": explanation.jsonBody])
                statuses.append(explanation.status)
            }
        }
        if session.style.isJSON { try session.result(["folder": .text(folder), "results": .list(results)], []) }
        // A failure says more than an archive that was incomplete.
        return statuses.first { $0 != .ok && $0 != .incomplete } ?? statuses.first { $0 != .ok } ?? .ok
    }

    /// The keychains of this device that archives of these names are restored into, and that have a passcode each.
    private func keychainsWithPasscode(of names: [ArchiveName]) throws -> [String] {
        try session.machine.keychainsWithPasscode().filter { keychain in
            let source = try LocalKeychain(keychain, in: session.machine).archiveSource()
            return names.contains { $0.isSeries(of: source) }
        }
    }
}
