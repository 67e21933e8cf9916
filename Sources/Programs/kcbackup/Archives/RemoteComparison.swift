internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `verify REMOTE:PATH --against FOLDER`: the archives of a folder here, and what is there of them.
struct RemoteComparison {
    /// The folder here, as it was given.
    let folder: String
    let session: Session

    /// The archives on the remote, and those of the folder here that are missing there.
    ///
    /// An archive for which the remote lists the hash of the one here is read here; the others are read there.
    ///
    /// - Parameter sample: chooses those that are read there in any case; the others are then taken as they are listed.
    /// - Throws: `CatalogueFailure.noArchives`, `RemoteFailure`, `FileFailure`.
    func subjects(_ remote: RemoteLocation, _ sample: VerifySample?) throws -> [VerifySubject] {
        let path = session.machine.resolve(folder)
        guard Path.isFolder(path) else { throw FileFailure(folder, .notFound) }
        let here = try Catalogue.archiveNames(in: path)
        // An archive that is gone both here and there is missing too.
        let known = try session.machine.catalogueIfAny(of: path)?.complete.map(\.name.exact) ?? []
        if here.isEmpty, known.isEmpty { throw CatalogueFailure.noArchives(folder: folder) }
        let place = try session.machine.remoteFolder(remote)
        let names = try Set(place.files().map(\.name.exact)).filter { name in
            name.string.exact.hasSuffix(ArchiveName.ending)
        }
        let alike = names.isDisjoint(with: here) ? [] : try place.listedAlike(path)
        var subjects = names.sorted().map { name in
            var subject = VerifySubject(
                path: remote.appending(name.string).text, isOfFolder: true, isOnRemote: true)
            guard here.contains(name) else { return subject }
            subject.original = folder.exact.hasSuffix("/") ? folder + name.string : "\(folder)/\(name.string)"
            subject.isListedAlike = alike.contains(name)
            return subject
        }
        if let sample {
            let chosen = Set(sample.choose(subjects, now: session.now).map(\.path.exact))
            for index in subjects.indices where chosen.contains(subjects[index].path.exact) {
                subjects[index].isListedAlike = false
            }
            subjects.removeAll { !$0.isListedAlike && !chosen.contains($0.path.exact) }
        }
        let missing = here.union(known).subtracting(names).sorted().map { name in
            let gone = remote.appending(name.string)
            return VerifySubject(path: gone.text, isOfFolder: true, problem: RemoteFailure.missing(gone))
        }
        let count = subjects.count(where: \.isListedAlike)
        if count > 0 { session.note("\(counted(count, "archive")) by the hashes that the remote lists") }
        return subjects + missing
    }
}
