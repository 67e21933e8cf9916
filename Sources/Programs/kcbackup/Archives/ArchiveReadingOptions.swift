internal import ArgumentParser
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCKeychainModel
internal import KCTerminal

/// The options for reading the items of an archive by the rules of a restore, without restoring it.
struct ArchiveReadingOptions: ParsableArguments {
    @OptionGroup
    var opening: ArchiveOptions

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @OptionGroup
    private var origin: AcceptOriginOption

    /// The first of these options that was given.
    var firstGiven: OptionName? {
        let options: [(Bool, OptionName)] = [
            (opening.passphrase != nil, .passphrase), (!opening.identity.isEmpty, .identity),
            (opening.identityPassphrase != nil, .identityPassphrase),
            (archivePasscode.archivePasscode != nil, .archivePasscode), (origin.acceptOrigin != nil, .acceptOrigin),
        ]
        return options.first { isGiven, _ in isGiven }?.1
    }

    /// Verifies that the archive is genuine, and of a device that is trusted or accepted.
    ///
    /// - Parameter question: what a terminal asks if the device is not trusted.
    func open(_ archive: String, question: String, in session: Session) throws -> ReadableArchive {
        if archive.isEmpty { throw UsageProblem.emptyArchive }
        try opening.check(with: [archive])
        session.subject.file = archive
        let opener = ArchiveOpener(opening.keys, in: session.context)
        let found = try opener.find(archive, accepting: origin.device())
        let proven = try opener.prove(found)
        var options = RestoreOptions()
        options.acceptedOrigin = try origin.device()
        try AcceptOriginOption.ask(about: proven, &options, question: question, in: session)
        return ReadableArchive(proven: proven, options: options, passcode: archivePasscode, path: found.path)
    }
}

/// An archive whose origin is accepted, and whose secrets are not open yet.
struct ReadableArchive {
    let proven: ProvenArchive
    let options: RestoreOptions
    let passcode: ArchivePasscodeOption
    let path: String

    /// Opens its secrets, with a passcode if one is needed.
    ///
    /// - Parameter filter: the items whose secrets are of use; nil for all.
    func openSecrets(of filter: ItemFilter? = nil, in session: Session) throws {
        try session.context.openSecrets(
            of: proven, passcode: passcode.archivePasscode, isNeeded: true, of: filter, at: path)
    }
}
