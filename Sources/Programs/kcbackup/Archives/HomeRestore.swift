internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCReportText

/// `restore --home`: restores the newest archive of each store in a folder.
struct HomeRestore {
    let command: RestoreCommand
    let opener: ArchiveOpener
    let session: Session

    /// Restores all of them; one that cannot be restored keeps no other from it.
    func run(_ folder: String) throws -> ExitStatus {
        if command.keychainName != nil { throw UsageProblem.together(.home, .keychain) }
        if command.replace { throw UsageProblem.together(.home, .replace) }
        let place = try ArchivePlace(folder, in: session)
        let names = try newest(in: place)
        // Before the first one is restored: a keychain that this run makes gets the passcode that was given.
        let asking = try keychainsWithPasscode(of: names)
        var results: [JSONValue] = []
        var statuses: [ExitStatus] = []
        for name in names {
            let path = place.path(of: name)
            session.note("\(displayed(path)):")
            do {
                statuses.append(
                    try command.restore(path, isChosen: true, asking: asking, opener, session) { json, lines in
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
        try session.keychainsWithPasscode().filter { keychain in
            let source = try LocalKeychain(keychain, in: session.world).archiveSource()
            return names.contains { $0.isSeries(of: source) }
        }
    }

    /// The newest archive of each store, by the names, which opening compares with what the device has signed.
    ///
    /// - Throws: `Refusal` if there is none, or if archives of several devices are there.
    private func newest(in place: ArchivePlace) throws -> [ArchiveName] {
        let names = place.names
        let devices = Set(names.map(\.device.exact)).sorted()
        if devices.isEmpty { throw Refusal.noArchives(in: place.folder) }
        if devices.count > 1 { throw Refusal.severalDevices(in: place.folder, devices.map(\.string)) }
        var newest: [ExactText: ArchiveName] = [:]
        for name in names {
            guard let other = newest[name.series.exact] else {
                newest[name.series.exact] = name
                continue
            }
            if other.precedes(name, now: session.now) { newest[name.series.exact] = name }
        }
        return newest.values.sorted { $0.series.exact < $1.series.exact }
    }
}

/// A folder of archives, here or on a remote.
private struct ArchivePlace {
    /// The folder as the user named it.
    let folder: String
    /// The archives whose names say what they are.
    let names: [ArchiveName]
    private let remote: RemoteLocation?

    /// - Throws: `UsageProblem` for a file, `FileFailure`, `RemoteFailure`.
    init(_ folder: String, in session: Session) throws {
        self.folder = folder
        session.subjects.path = folder
        remote = try session.world.remote(folder)
        if let remote {
            names = try session.world.remoteFolder(remote).files().compactMap { ArchiveName($0.name) }
            return
        }
        let resolved = session.world.resolve(folder)
        guard Path.isFolder(resolved) else {
            if try Path.isNoFolder(resolved) { throw UsageProblem.fileForFolder(folder) }
            throw FileFailure(folder, .notFound)
        }
        names = try Path.names(in: resolved).compactMap { ArchiveName($0) }
    }

    /// The archive as `restore` takes it.
    func path(of name: ArchiveName) -> String { remote?.appending(name.fileName).text ?? "\(folder)/\(name.fileName)" }
}
