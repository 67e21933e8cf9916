internal import KCBackupArchive
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemStores
internal import KCReportText
internal import KCStoreTasks

/// `home:` or `systemd-creds:`: files of fixed places that hold secrets.
struct NamedHome: NamedStore {
    let root: HomeRoot

    var name: String { root.storeName }
    var words: String { root.words }
    var kind: StoreKind { .home }
    var recorded: (kind: String, name: String) { (root.sourceKind, "") }
    var stem: String { root.sourceKind }
    var plainStem: String { root.sourceKind }

    func requirePlace(in session: Session) throws(FileFailure) {
        let path = session.machine.path(of: root)
        // The data folder would be made in it.
        if !Path.isFolder(path) { throw FileFailure(path, .notFound) }
    }

    /// Reads the files, and says what is not among them.
    func opened(_ options: StoreOptions, in session: Session) throws -> OpenStore {
        session.subject.store = name
        let path = session.machine.path(of: root)
        let found = try HomeReader.read(path, root)
        let accepted = try places(options.acceptMissing, in: session)
        for place in accepted {
            if let words = found.refusal(to: place) { session.note(words) }
        }
        let contents = found.accepting(Set(accepted.map { $0.shown.exact }))
        var text = HomeText(contents: contents, root: root, calendar: session.calendar)
        if options.isForArchive, root == .home {
            text.appKeyrings = try AppKeyrings(in: session)
            text.connections = session.machine.connections()
        }
        if options.isForArchive { text.tellContents(in: session) } else { text.warnOfUnread(in: session) }
        return OpenStore(
            items: HomeItemStore(
                text.contents, identity: "\(name)\(Path.real(path) ?? path)", isForArchive: options.isForArchive),
            title: text.lines, members: [("home", text.json)], home: text.json)
    }

    /// Finds the files that an archive should have, and would not.
    func examine(_ request: BackupRequest, of job: String, in session: Session) throws {
        let accepted = try places(request.access.acceptMissing, in: session)
        let contents = try HomeReader.read(session.machine.path(of: root), root)
            .accepting(Set(accepted.map { $0.shown.exact }))
        let missed = contents.missed
        let missing =
            contents.unread.map { (path: $0.path, reason: $0.problem.words) }
            + missed.map { (path: $0.path, reason: $0.reason.words) }
        guard let first = missing.first else { return }
        throw JobFinding.filesMissing(
            job: job, first: first.path, reason: first.reason, count: missing.count, canBeAccepted: !missed.isEmpty)
    }

    /// The places that the user does without.
    ///
    /// - Parameter named: paths as the user named them.
    private func places(_ named: [String], in session: Session) throws(UsageProblem) -> [HomePath] {
        var places: [HomePath] = []
        for path in named {
            guard root == .home,
                let place = HomePath(of: session.machine.absolute(inHome: path), in: session.machine.home)
            else {
                throw .malformed(.acceptMissing, form: "a path in your home")
            }
            places.append(place)
        }
        return places
    }

    func restorable(_ options: StoreOptions, in session: Session) throws -> any RestorableStore {
        session.subject.store = name
        return RestorableHome(root, session.machine.path(of: root), session.stateSetting)
    }

    func changeable(_ options: StoreOptions, in session: Session) throws -> any ItemStore {
        throw UsageProblem.areFiles(root)
    }
}

extension HomeContents {
    /// Says why a place that the user does without makes no difference; nil if it does.
    fileprivate func refusal(to place: HomePath) -> String? {
        let path = place.shown
        if missed.contains(where: { $0.path.exact == path.exact }) { return nil }
        let option = "'\(OptionName.acceptMissing.spelling)'"
        // What is in a folder that cannot be read is not known.
        if unread.contains(where: { path.exact == $0.path.exact || path.exact.hasPrefix($0.path + "/") }) {
            return "\(quoted(path)) cannot be read, and \(option) is only for what is left out by a rule"
        }
        return "\(quoted(path)) is not missing, so \(option) is not needed for it"
    }
}

extension Machine {
    /// The path below which files are.
    fileprivate func path(of root: HomeRoot) -> String {
        switch root {
        case .home: home
        case .credentials: systemRoot
        }
    }

    /// The folder of the connections of NetworkManager, and how many are in it; nil if there are none, or if the folder
    /// cannot be listed.
    fileprivate func connections() -> (folder: String, count: Int)? {
        let names: [String]
        do throws(FileFailure) {
            names = try Path.names(in: systemConnections)
        } catch {
            // Few systems hide the names, and a backup of a home is whole without them.
            return nil
        }
        let count = names.count { $0.exact.hasSuffix(".nmconnection") }
        return count == 0 ? nil : (systemConnections, count)
    }
}
