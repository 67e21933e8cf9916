internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The destination of a new archive, checked before anything is asked or read.
final class ArchiveOutput {
    private enum Place {
        /// A file that does not exist yet.
        case file
        /// A dated file in a folder; the folder's path, as shown in messages, ends with a slash or is empty.
        case dated(folder: String, stem: String)
        case remote(RemoteDestination)
        case standardOutput
    }

    private let place: Place
    private var file: String?

    /// Names an archive in a folder of a remote.
    ///
    /// - Throws: as `RemoteDestination`.
    init(_ folder: RemoteLocation, of subject: any NamedStore, in session: Session) throws {
        place = .remote(try RemoteDestination(folder, of: subject, in: session))
    }

    /// The path as the user named it, or with the name that a dated archive was given; nil for standard output.
    var path: String? {
        if case .remote(let destination) = place { return destination.location.text }
        return file
    }

    /// Parses the argument: nil means a dated name in the working folder, and a folder means a dated name in that folder.
    ///
    /// - Throws: `UsageProblem`, `Refusal` for a terminal, `FileFailure` (`exists`, `notFound`, `notFolder`).
    init(_ given: String?, of subject: any NamedStore, in session: Session) throws {
        if given == "" { throw UsageProblem("the name of the new archive is empty") }
        if given == "-" {
            if session.style.isJSON {
                throw UsageProblem("'-' and '\(OptionName.json.spelling)' both use standard output")
            }
            if session.world.terminal.showsOutput {
                throw Refusal(
                    .refused, "standard output is a terminal, and an archive is binary",
                    hint: "send it to a program or a file: '| ssh host …', '> laptop.kcb'")
            }
            place = .standardOutput
            return
        }
        let machine = session.machine
        if let given { try Self.refuseSource(given, in: machine) }
        if given.map({ Path.isFolder(machine.resolve($0)) }) ?? true {
            let shown = given ?? "."
            try Path.requireFolder(machine.resolve(shown), named: shown)
            let digits = session.now.description.prefix(19).filter { $0.isNumber }
            let stem = "\(subject.fileStem)-\(digits.prefix(8))-\(digits.dropFirst(8))"
            let folder = given.map { $0.exact.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
            place = .dated(folder: folder, stem: stem)
            file = folder + Self.name(stem, 1)
            return
        }
        let path = given ?? ""
        let resolved = machine.resolve(path)
        let (folder, name) = Path.split(resolved)
        if name.isEmpty, try !Path.exists(folder) { throw FileFailure(path, .notFound) }
        try Path.requireFolder(folder, named: Path.split(path).folder)
        if try Path.exists(resolved) { throw FileFailure(path, .exists) }
        place = .file
        file = path
    }

    /// Refuses the name of a source, which the user probably wants to back up.
    private static func refuseSource(_ given: String, in machine: Machine) throws {
        if try StoreChoice.prefixed(given) == nil {
            if given.exact.contains("/") || given.exact.contains(".") || Path.isFolder(machine.resolve(given)) {
                return
            }
            let names = try LocalKeychain.names(in: machine.dataFolder)
            guard names.contains(where: { $0.exact == given.exact }) else { return }
        }
        throw UsageProblem(
            "\(quoted(given)) names what to back up, not the new archive",
            hint: "did you mean '\(OptionName.keychain.spelling) \(shellWord(given))'?",
            "'\(shellWord("./" + given))' is a file of that name")
    }

    /// Returns the name of a dated archive; the number distinguishes archives made in the same second.
    private static func name(_ stem: String, _ number: Int) -> String {
        stem + (number == 1 ? "" : "-\(number)") + ".kcb"
    }

    /// The folder that the user named, in which the archive gets a dated name; nil for anything else.
    var folder: String? {
        guard case .dated(let folder, _) = place, !folder.isEmpty else { return nil }
        return folder.exact.removingSuffix("/").flatMap { $0.isEmpty ? nil : $0 } ?? folder
    }

    /// The destination as shown in messages.
    var words: String { path.map { displayed($0) } ?? "standard output" }

    /// Returns the destination for the engine.
    func destination(in session: Session) -> any ArchiveDestination {
        let machine = session.machine
        switch place {
        case .file:
            let (folder, name) = Path.split(machine.resolve(path ?? ""))
            return FolderDestination(folder: folder, name: name)
        case .dated(let folder, let stem):
            return FolderDestination(folder: folder.isEmpty ? machine.resolve(".") : machine.resolve(folder)) {
                number in
                let name = Self.name(stem, number)
                self.file = folder + name
                return name
            }
        case .remote(let destination):
            return destination
        case .standardOutput:
            // The archive is verified before its first byte is written to the stream, so it is stored here until then.
            return StreamDestination(workFolder: machine.temporaryFolder) { bytes in try session.write(bytes) }
        }
    }

    /// Describes the new archive; nil if it went to standard output.
    ///
    /// - Throws: `ArchiveFailure` if it cannot be read back.
    func outline(in session: Session) throws(ArchiveFailure) -> ArchiveOutline? {
        if case .remote(let destination) = place { return destination.outline }
        return try file.map { path throws(ArchiveFailure) in
            try ArchiveOutline(ArchiveFile(path: session.machine.resolve(path)))
        }
    }

    /// Runs `body`, which makes the archive, and attributes failures in the temporary folder to that folder.
    ///
    /// - Throws: `SpoolFailure`, and what `body` throws.
    func making<Result>(in session: Session, _ body: () throws -> Result) throws -> Result {
        session.subject.file = path
        guard case .standardOutput = place else { return try body() }
        return try session.machine.blamingTemporaryFolder(body)
    }
}
