internal import KCBackupArchive
package import KCBackupCatalogue
internal import KCByteStreams
internal import KCConsole
package import KCRemotes
package import KCStoreTasks

// How remotes and folders of copies are reached from this machine.

extension Machine {
    /// The folder here that a path names as the place of copies, by its absolute path; nil for what does not look like a path.
    ///
    /// - Throws: `CatalogueFailure.folderMissing` if the folder that it is in does not exist.
    package func folderOfCopies(_ given: String) throws(CatalogueFailure) -> RemoteLocation? {
        guard ["/", "./", "../", "~/"].contains(where: given.exact.hasPrefix) else { return nil }
        if let location = RemoteLocation(destination: given), location.isHere { return location }
        let path = resolve(given)
        let (parent, name) = Path.split(path.exact.removingSuffix("/") ?? path)
        let real = Path.real(path) ?? Path.real(parent).map { $0 == "/" ? "/" + name : "\($0)/\(name)" }
        guard let real else { throw .folderMissing(folder: parent) }
        return RemoteLocation(destination: real)
    }

    /// A folder of copies, by the program that reaches it.
    ///
    /// - Parameter makesFolder: true to make a folder of this machine that is missing.
    /// - Throws: `RemoteFailure`, `FileFailure`, `BackupFolderProblem.isFile`.
    package func remoteFolder(_ location: RemoteLocation, makesFolder: Bool = false) throws -> RemoteFolder {
        if location.isHere, try Path.isNoFolder(location.path) { throw BackupFolderProblem.isFile(location.text) }
        let mover = try location.isHere ? FolderMover(makesFolder: makesFolder) : mover(of: location)
        return try RemoteFolder(location, mover) { try Interruption.pause(milliseconds: 500) }
    }

    /// The program that reads and writes a remote.
    ///
    /// - Throws: `RemoteFailure` (`notInstalled`, `noSftp`), `FileFailure`.
    package func mover(of location: RemoteLocation) throws -> any RemoteMover {
        try location.host == nil ? rclone() : sftp()
    }

    /// OpenSSH's sftp, with the part of the environment that it needs.
    private func sftp() throws -> Sftp {
        guard let path = program(named: "sftp") else { throw RemoteFailure.noSftp }
        guard Sftp.accepts(temporaryFolder: temporaryFolder) else {
            throw RemoteFailure.unusableTemporaryFolder(temporaryFolder)
        }
        let known: [ExactText] = ["PATH", "SSH_AUTH_SOCK", "KRB5CCNAME", "XDG_RUNTIME_DIR"]
        var variables = environment.filter { known.contains($0.key.exact) }
        variables["HOME"] = home
        // Otherwise it would show other letters than those of English as bytes, and messages in another language.
        variables["LC_ALL"] = "C.UTF-8"
        return Sftp(temporaryFolder: temporaryFolder) { arguments, input, receive in
            try Self.run(
                ChildProgram(path: path, arguments: arguments, environment: variables, input: input), receive)
        }
    }

    private static func run(
        _ program: ChildProgram, _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws -> ProgramEnding {
        do {
            let ending = try program.run(receive)
            return ProgramEnding(status: ending.status, messages: ending.messages)
        } catch ChildProgram.Failure.notStarted(let code) {
            throw RemoteFailure.notStarted(code)
        }
    }

    /// The program that reads and writes remotes of its configuration, with the part of the environment that it needs.
    ///
    /// - Throws: `RemoteFailure` (`notInstalled`), `FileFailure`.
    package func rclone() throws -> Rclone {
        guard let path = program(named: "rclone") else { throw RemoteFailure.notInstalled }
        // The configuration has passwords, and an option in it can run a command.
        let configuration = rcloneConfiguration()
        if let configuration { _ = try PrivateFile.read(configuration, limit: Self.configurationLimit) }
        var variables = environment.filter { Self.isForRclone($0.key) }
        // The program has to read the file that was checked, and not every version looks in all places.
        if let configuration, variables["RCLONE_CONFIG"] == nil { variables["RCLONE_CONFIG"] = configuration }
        variables["HOME"] = home
        variables.merge(Rclone.settings) { $1 }
        // Times in listings are local ones.
        variables["TZ"] = "UTC"
        return Rclone(environment: variables) { arguments, receive in
            try Self.run(ChildProgram(path: path, arguments: arguments, environment: variables), receive)
        }
    }

    // In bytes; remotes have a few hundred each.
    private static let configurationLimit = 16_777_216

    /// Variables such as `AWS_CA_BUNDLE` keep it from starting.
    private static func isForRclone(_ name: String) -> Bool {
        let known: [ExactText] = ["PATH", "SSH_AUTH_SOCK", "TMPDIR", "LANG", "CREDENTIALS_DIRECTORY"]
        return known.contains(name.exact) || name.exact.hasPrefix("XDG_") || Rclone.takes(variable: name)
            || name.lowercased().exact.hasSuffix("_proxy")
    }

    /// The path of a program in one of the absolute folders of `PATH`.
    private func program(named name: String) -> String? {
        for folder in environment["PATH"]?.exact.split(separator: ":") ?? [] where folder.exact.hasPrefix("/") {
            let path = "\(folder)/\(name)"
            if Path.isFile(path) { return path }
        }
        return nil
    }

    /// The file with the definitions of remotes, if there is one.
    private func rcloneConfiguration() -> String? {
        let given = environment["RCLONE_CONFIG"].flatMap { $0.isEmpty ? nil : resolve($0) }
        // Many keep such files elsewhere, and link to them.
        return (given ?? foundRcloneConfiguration).flatMap(Path.real)
    }

    /// The first file that is in one of the places where rclone looks if `RCLONE_CONFIG` names none; nil if none is there.
    package var foundRcloneConfiguration: String? {
        let executable = program(named: "rclone").flatMap(Path.real)
        let folder = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : resolve($0) }
        let places: [String?] = [
            executable.map { Path.split($0).folder + "/rclone.conf" }, folder.map { $0 + "/rclone/rclone.conf" },
            "\(home)/.config/rclone/rclone.conf", "\(home)/.rclone.conf",
        ]
        return places.compactMap(\.self).first { Path.real($0) != nil }
    }
}

/// The archives that `REMOTE:PATH` names: one, or those in a folder.
package struct RemoteArchives {
    /// The folder that they are in.
    package let folder: RemoteFolder
    /// The one that was named; nil if a folder was.
    package let only: RemoteEntry?
    /// All archives of the folder that was named, in order of their names.
    package let all: [RemoteEntry]

    /// Looks for a folder of this name, and for a file.
    ///
    /// A folder that it is in, which may be that of many machines, is looked at only if its name is that of an archive, or if
    /// there is no other way to find it.
    ///
    /// - Throws: `RemoteFailure` (`missing` if there is neither), `CatalogueFailure.noArchives`.
    package init(_ location: RemoteLocation, _ mover: any RemoteMover) throws {
        let isNamedLikeOne = location.name.exact.hasSuffix(ArchiveName.ending)
        var failure: RemoteFailure?
        if isNamedLikeOne, let file = try Self.file(location, mover, &failure) {
            self = file
            return
        }
        let folder = try RemoteFolder(location, mover)
        do {
            let archives = try folder.files().filter { $0.name.exact.hasSuffix(ArchiveName.ending) }
            if !archives.isEmpty {
                self.init(folder: folder, only: nil, all: archives.sorted { $0.name.exact < $1.name.exact })
                return
            }
        } catch let problem as RemoteFailure {
            failure = failure ?? problem
        }
        var failureAbove: RemoteFailure?
        if !isNamedLikeOne, let file = try Self.file(location, mover, &failureAbove) {
            self = file
            return
        }
        throw failure ?? CatalogueFailure.noArchives(folder: location.text) as any Error
    }

    private init(folder: RemoteFolder, only: RemoteEntry?, all: [RemoteEntry]) {
        self.folder = folder
        self.only = only
        self.all = all
    }

    /// The file at a location; nil if there is none.
    ///
    /// - Parameter failure: why the folder that it would be in cannot be listed.
    private static func file(
        _ location: RemoteLocation, _ mover: any RemoteMover, _ failure: inout RemoteFailure?
    ) throws -> RemoteArchives? {
        guard let parent = location.folder else { return nil }
        do {
            let folder = try RemoteFolder(parent, mover)
            guard let entry = try folder.file(named: location.name) else { return nil }
            return RemoteArchives(folder: folder, only: entry, all: [entry])
        } catch let problem as RemoteFailure {
            failure = problem
            return nil
        }
    }
}
