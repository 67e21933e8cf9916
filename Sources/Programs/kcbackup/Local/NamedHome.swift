internal import KCBackupArchive
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemStores
internal import KCReportText

/// `home:`: the files of the user's home that hold secrets.
struct NamedHome: NamedStore {
    var name: String { HomeName.name }
    var words: String { homeWords }
    var kind: StoreKind { .home }
    var recorded: (kind: String, name: String) { (ArchiveSource.homeFiles, "") }
    var stem: String { ArchiveSource.homeFiles }
    var plainStem: String { ArchiveSource.homeFiles }

    /// Reads the files, and says what is not among them.
    func opened(_ options: StoreOptions, in session: Session) throws -> OpenStore {
        session.subjects.keychain = name
        let home = session.world.home
        let text = HomeText(contents: try HomeReader.read(home), calendar: session.calendar)
        if options.isForArchive { text.tellContents(in: session) } else { text.warnOfUnread(in: session) }
        return OpenStore(
            items: HomeItemStore(text.contents, identity: "\(name)\(Path.real(home) ?? home)"), title: text.lines,
            members: [("home", text.json)], home: text.json)
    }

    func restorable(_ options: StoreOptions, in session: Session) throws -> any RestorableStore {
        session.subjects.keychain = name
        return RestorableHome(session.world.home, session.stateSetting)
    }

    func changeable(_ options: StoreOptions, in session: Session) throws -> any ItemStore {
        throw UsageProblem.homeIsFiles
    }
}
