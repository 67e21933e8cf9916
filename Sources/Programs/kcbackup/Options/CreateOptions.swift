internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCStoreTasks
internal import KCTerminal

/// The options for what to back up and how, shared by `create` and jobs.
struct CreateOptions: ParsableArguments {
    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var foreign: ForeignOptions

    @Option(
        name: OptionName.escrow.name,
        help: ArgumentHelp(
            "The escrow key that opens the keychain for this backup instead of its passcode.", valueName: "file|source")
    )
    var escrow: EscrowSource?

    @Flag(name: OptionName.unencrypted.name, help: "Set no passphrase: the archive restores only on this device.")
    var unencrypted = false

    @Flag(
        name: OptionName.skipLocked.name,
        help: "Leave out locked items of the desktop keyring; the archive says that it is incomplete.")
    var skipLocked = false

    @Option(
        name: OptionName.acceptMissing.name,
        help: ArgumentHelp(
            "Do not treat this skipped file or link of your home as missing from the backup; may be repeated.",
            valueName: "path"),
        completion: .file())
    var acceptMissing: [String] = []

    @OptionGroup
    var folder: FolderOptions

    @OptionGroup
    var keys: ArchiveKeyOptions

    /// Where the escrow key comes from.
    var escrowSource: SecretSource? {
        get { escrow?.source }
        set { escrow = newValue.map { EscrowSource(source: $0) } }
    }

    /// Returns the backup that the options describe.
    ///
    /// - Throws: `UsageProblem` for options that contradict each other.
    func request() throws(UsageProblem) -> BackupRequest {
        if folder.all, keychain.keychain != nil { throw .together(.all, .keychain) }
        if folder.home, keychain.keychain != nil { throw .together(.home, .keychain) }
        if folder.all, folder.home { throw .together(.all, .home) }
        if escrow != nil, keychain.passcode != nil { throw .together(.escrow, .passcode) }
        if unencrypted, let option = keys.firstGiven {
            throw UsageProblem(
                "'\(option.spelling)' has no meaning for an unencrypted archive",
                hint: "leave out '\(OptionName.unencrypted.spelling)' to encrypt it")
        }
        var request = BackupRequest(
            of: folder.all ? .everyKeychain : folder.home ? .home : keychain.keychain.map { .named($0) } ?? .standard)
        request.mode = unencrypted ? .unencrypted : .encrypted(keys.request)
        request.access.key = escrow.map { .escrow($0.source) } ?? .passcode(keychain.passcode)
        request.access.file = foreign.access
        request.access.skipsLocked = skipLocked
        request.access.acceptMissing = acceptMissing
        return request
    }

    /// Refuses options that need a folder of this machine, and what others could read on a remote.
    ///
    /// - Throws: `UsageProblem.notOfRemote`, `Refusal.readableRemote`.
    func checkForRemote() throws {
        if let option = folder.firstGiven { throw UsageProblem.notOfRemote(option) }
        if unencrypted, !folder.metadataReadable { throw Refusal.readableRemote }
    }
}
