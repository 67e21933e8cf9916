internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
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
        let found = try opening.open(archive, accepting: origin.device(), in: session)
        let proven = try ArchiveOpener(opening, in: session).prove(found.archive, at: found.path)
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
}
