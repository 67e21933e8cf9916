internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCConsole
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks
internal import KCTerminal

/// Either of the two sides that `diff` compares, as the user named it.
enum ComparedSide {
    case archive(ProvenArchive, ArchiveOutline)
    /// A file of another program, or of items.
    case file(FileItems, Facts)

    /// The facts that are told about a file.
    struct Facts {
        let format: String
        /// The number of items that the file binds to a device, which are not read.
        let bound: Int
        /// The options that were given to open it, and that it did not need.
        let unneeded: [FileAccess.Part]
    }

    /// The archive; nil for a file.
    var archive: ProvenArchive? { if case .archive(let archive, _) = self { archive } else { nil } }

    /// Its contents, as the first side of a comparison.
    var first: CompareBackups.First {
        switch self {
        case .archive(let archive, _): .archive(archive)
        case .file(let items, _): .items(items)
        }
    }

    /// Its contents, as the second side of a comparison.
    func second(comparedWith first: ComparedSide) throws -> CompareBackups.Other {
        switch self {
        case .archive(let archive, _): .archive(archive, form: first.form)
        case .file(let items, _): .keychain(items, form: try keyringForm(comparedWith: first) ?? form)
        }
    }

    /// The form in which it is compared with anything that has no form of its own; nil for an archive.
    ///
    /// Items that have no dates in a file have those of the file, which say nothing about them.
    var form: ((Item) -> Item?)? {
        guard case .file = self else { return nil }
        return { item in
            do throws(ItemProblem) {
                return try item.undated
            } catch {
                return nil
            }
        }
    }

    /// The number of items that are not compared, since the file binds them to a device.
    var bound: Int { if case .file(_, let facts) = self { facts.bound } else { 0 } }

    /// True if this side does not need an option for files that was given.
    func leaves(_ part: FileAccess.Part) -> Bool {
        if case .file(_, let facts) = self { facts.unneeded.contains(part) } else { true }
    }

    /// The members that describe it as the first side.
    func firstMembers(_ path: String) -> [(String, JSONValue?)] {
        switch self {
        case .archive(_, let outline): [("archive", outline.json(path))]
        case .file(_, let facts): [("file", .text(path)), ("format", .text(facts.format))]
        }
    }

    /// The members that describe it as the second side.
    func secondMembers(_ path: String) -> [(String, JSONValue?)] {
        switch self {
        case .archive(_, let outline): [("with", outline.json(path))]
        case .file(_, let facts): [("withFile", .text(path)), ("withFormat", .text(facts.format))]
        }
    }

    /// The form in which two versions of a keyring are compared; nil if they are not both that.
    private func keyringForm(comparedWith first: ComparedSide) throws -> ((Item) -> Item?)? {
        guard case .file(let its, let facts) = first, case .file(let items, let others) = self,
            [facts.format, others.format].allSatisfy({ Self.keyrings.contains($0) })
        else { return nil }
        return try ServiceForm.ofFiles(its.allItems(), items.allItems()).form
    }

    private static let keyrings = [ForeignKind.gnomeKeyring.name, ForeignKind.kwallet.name]
}

extension FileItems {
    /// The items of the file, without their secrets.
    fileprivate func allItems() throws -> [Item] {
        var visitor = MatchingItems(nil)
        try visitItems(&visitor)
        return visitor.items
    }
}

/// Opens what `diff` compares; keys that were given or asked for are tried for both.
struct ComparedSides {
    let opening: ArchiveOptions
    let archivePasscode: ArchivePasscodeOption
    let foreign: FileAccess
    let session: Session
    private let opener: ArchiveOpener
    private let passcode = KeptSecret()

    init(
        _ opening: ArchiveOptions, _ archivePasscode: ArchivePasscodeOption, _ foreign: FileAccess,
        in session: Session
    ) {
        self.opening = opening
        self.archivePasscode = archivePasscode
        self.foreign = foreign
        self.session = session
        opener = ArchiveOpener(opening.keys, in: session.context)
    }

    /// Opens an archive or a file.
    func open(_ path: String) throws -> ComparedSide {
        if let reading = try read(path) {
            let text = ImportText(path: path, reading: reading, use: .source, session: session)
            text.warnOfRefused()
            return .file(
                FileItems(reading.contents, identity: path),
                ComparedSide.Facts(
                    format: reading.kind.name, bound: reading.contents.staying.count, unneeded: reading.unneeded))
        }
        let found = try opener.find(path, isOneOfTwo: true)
        let proven = try prove(found)
        if proven.takesPasscode {
            try session.context.openSecrets(
                of: proven, passcode: archivePasscode.archivePasscode, isNeeded: false, at: found.path, keptIn: passcode
            )
        }
        return .archive(proven, try ArchiveOutline(found.file))
    }

    /// Reads a file of another program; nil for an archive or an unknown file.
    private func read(_ path: String) throws -> ForeignReading? {
        try foreign.check(with: path)
        session.subject.file = path
        var reader = ForeignReader(path, foreign, in: session.context)
        reader.isOneOfTwo = true
        guard let input = try reader.inputUnlessArchive() else { return nil }
        do {
            return try reader.read(input)
        } catch ForeignFailure.empty, ForeignFailure.unknownFormat {
            // Opening it as an archive says what it is not.
            return nil
        } catch ForeignFailure.own(let file) where file != .archive {
            throw ArchivePlaceProblem.ownFile(path: path, file)
        }
    }

    private func prove(_ found: FoundArchive) throws -> ProvenArchive {
        do {
            return try opener.prove(found)
        } catch ArchiveFailure.noMatchingIdentity
            where found.file.hasPassphrase && opening.passphrase == nil && session.world.terminal.isAttended
        {
            // The identities are for the other archive.
            return try ArchiveOpener(in: session.context).prove(found)
        }
    }
}

extension ProvenArchive {
    /// True if the passcode of its keychain opens more of it here.
    var takesPasscode: Bool { isFromThisDevice && stored?.hasPasscode == true }

    /// Why its secrets cannot all be compared; nil if they can.
    var closed: String? {
        get throws {
            if try opensAllSecrets { return nil }
            guard stored != nil else { return "the given key opens only the metadata" }
            return isFromThisDevice
                ? "the passcode of an unencrypted archive was not given; give "
                    + "'\(OptionName.archivePasscode.spelling) tty'"
                : "an unencrypted archive opens only on the device that made it"
        }
    }
}
