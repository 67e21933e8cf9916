internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCStoreTasks
internal import KCTerminal

/// The archives that a command reads, one after the other, and the keys that open them.
struct ArchiveArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The archives; '-' is standard input.", valueName: "archive"),
        completion: .file(extensions: ["kcb"]))
    var archives: [String]

    @OptionGroup
    var opening: ArchiveOptions

    @Flag(
        name: OptionName.outside.name,
        help: "Check only what needs no key: container, checksums, signature.")
    var outside = false

    /// Calls `look` for each archive, even after another one failed; each failure is reported immediately.
    ///
    /// A key that cannot be read ends the run, since it would fail for every archive.
    ///
    /// - Returns: the status of the first archive that failed. If none failed, `incomplete` if one was incomplete.
    /// - Throws: `UsageProblem`, and failures that end a run regardless of the archive.
    func forEach(
        in session: Session, _ look: (_ archive: String, _ opener: ArchiveOpener) throws -> ExitStatus
    ) throws -> ExitStatus {
        try check()
        return try forEach(archives, named: \.self, in: session, look)
    }

    /// Calls `look` for each subject found for the arguments, under the same rules; `check` must have been called.
    func forEach<Subject>(
        _ subjects: [Subject], named name: (Subject) -> String, in session: Session,
        _ look: (_ subject: Subject, _ opener: ArchiveOpener) throws -> ExitStatus
    ) throws -> ExitStatus {
        let opener = ArchiveOpener(opening.keys, in: session.context)
        return try session.forEach(subjects, named: name, endsAll: { opener.hasUnreadableKey }) {
            try look($0, opener)
        }
    }

    /// Separates a text that selects items, as in `restore ARCHIVE TEXT`, from the archives before it.
    ///
    /// The last argument is one if it cannot be meant as an archive: no file has this name, and it does not look like a
    /// path, the name of an archive, or a keyring.
    /// - Throws: `FileFailure`.
    func splittingText(in session: Session) throws -> (ArchiveArguments, text: String?) {
        guard archives.count > 1, let last = archives.last, !last.isEmpty, !last.utf8.contains(UInt8(ascii: "/")),
            !last.exact.hasSuffix(ArchiveName.ending), last.exact != InputFile.standardInputName.exact,
            try StoreChoice.prefixed(last) == nil,
            try !Path.exists(session.machine.resolve(last))
        else { return (self, nil) }
        var others = self
        others.archives.removeLast()
        return (others, last)
    }

    /// Refuses arguments and options that are invalid for any archive.
    ///
    /// - Throws: `UsageProblem`, `ReadTwice`.
    func check() throws {
        if archives.contains(where: \.isEmpty) { throw UsageProblem.emptyArchive }
        if outside, opening.passphrase != nil { throw UsageProblem.together(.outside, .passphrase) }
        if outside, !opening.identity.isEmpty { throw UsageProblem.together(.outside, .identity) }
        try opening.check(with: archives)
    }
}
