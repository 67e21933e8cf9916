internal import BackupEngine
internal import ByteStreams
internal import Console
internal import KeychainModel

/// Where a new archive goes, looked at before anything is asked or read.
enum ArchiveOutput {
    /// A file that does not exist yet, by its path as it is told.
    case file(path: String)
    case standardOutput

    /// Understands `-o`; nil is a dated name in the working folder, and so is a folder in that folder.
    ///
    /// - Throws: `UsageProblem` (`empty`), `Refusal` (`archiveOnTerminal`), `FileFailure` (`exists`, `notFound`).
    init(_ given: String?, of subject: BackupSubject, in session: Session) throws {
        if given == "" { throw UsageProblem.empty(.output) }
        if given == "-" {
            if session.style.isJSON { throw UsageProblem.together(.output, .json) }
            if session.world.terminal.showsOutput { throw Refusal.archiveOnTerminal }
            self = .standardOutput
            return
        }
        let digits = session.now.description.prefix(19).filter { $0.isNumber }
        let dated = "\(subject.stem)-\(digits.prefix(8))-\(digits.dropFirst(8)).kcb"
        var path = given ?? dated
        if given != nil, Path.isFolder(session.world.resolve(path)) {
            path += (path.hasSuffix("/") ? "" : "/") + dated
        }
        let resolved = session.world.resolve(path)
        if Path.split(resolved).name.isEmpty { throw FileFailure(path, .notFound) }
        if try Path.exists(resolved) { throw FileFailure(path, .exists) }
        guard try Path.exists(Path.split(resolved).folder) else {
            throw FileFailure(Path.split(path).folder, .notFound)
        }
        self = .file(path: path)
    }

    /// As it is told.
    var words: String {
        switch self {
        case .file(let path): displayed(path)
        case .standardOutput: "standard output"
        }
    }

    /// The path as its user named it; nil for standard output.
    var path: String? {
        switch self {
        case .file(let path): path
        case .standardOutput: nil
        }
    }

    /// Where the engine sends the archive.
    func destination(in session: Session) -> any ArchiveDestination {
        switch self {
        case .file(let path):
            let (folder, name) = Path.split(session.world.resolve(path))
            return FolderDestination(folder: folder, name: name)
        case .standardOutput:
            // It is proved before its first byte is written, so it must be somewhere until then.
            return StreamDestination(workFolder: session.world.temporaryFolder) { bytes in try session.write(bytes) }
        }
    }
}
