internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
package import KCKeychainModel
internal import KCLocalKeychains
package import KCStoreTasks

// The jobs of this machine, and what starts them here.

extension Jobs {
    /// The jobs in this machine's data folder.
    package init(_ machine: Machine) {
        self.init(in: machine.dataFolder, of: LocalDevice(machine))
    }
}

extension BackupState {
    /// Collects the state of the backups of this machine; changes nothing.
    ///
    /// - Parameter unopened: called with why a keychain cannot be opened, whose backups are not known then.
    /// - Throws: as `init(of:at:storeID:isAt:desktopHasItems:)`.
    package init(in machine: Machine, at now: Timestamp, unopened: (any Error) -> Void) throws {
        try self.init(of: Jobs(machine), at: now) { local in
            do {
                return try local.id(in: machine)
            } catch {
                unopened(error)
                return nil
            }
        } isAt: { place, id in
            machine.mayHaveKeychain(id, at: place)
        } desktopHasItems: {
            try machine.desktopKeyringHasItems() == true
        }
    }
}

extension Machine {
    /// Where jobs are run, and by which program.
    package var surroundings: JobSurroundings {
        let root = systemRoot.exact.removingSuffix("/") ?? systemRoot
        return JobSurroundings(
            program: program, data: absolute(dataFolder.path), home: home,
            configuration: environment["XDG_CONFIG_HOME"].flatMap { $0.exact.hasPrefix("/") ? $0 : nil },
            variables: variables, programs: programFolders(areShared: false),
            sharedPrograms: programFolders(areShared: true), user: environment["USER"], system: root + "/etc")
    }

    /// The folders of `PATH` that can be written in a unit or a crontab, without repetition.
    ///
    /// - Parameter areShared: true for those that other users can write to, false for the others.
    private func programFolders(areShared: Bool) -> [String] {
        var folders: [String] = []
        for folder in (environment["PATH"] ?? "").exact.split(separator: ":")
        where folder.exact.hasPrefix("/") && !folder.exact.hasControlCharacter && !folder.exact.contains("\\")
            && !folders.contains(where: { $0.exact == folder.exact }) && Self.isTrusted(folder) != areShared
        {
            folders.append(folder)
        }
        return folders
    }

    /// False for a folder in which another user could put a program: a job would start it with the secrets that it has.
    private static func isTrusted(_ folder: String) -> Bool {
        do throws(FileFailure) {
            try PrivateFolder.require(folder)
            return true
        } catch {
            return false
        }
    }

    /// Where gpg and rclone have their files, if not at their usual places.
    private var variables: [(name: String, path: String)] {
        func path(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : absolute($0) }
        }
        // rclone looks there first, and makes there what does not exist yet; the variable may be set in shells alone.
        let configuration = path("XDG_CONFIG_HOME").map { folder in
            absolute(foundRcloneConfiguration ?? folder + "/rclone/rclone.conf")
        }
        let found = [
            ("GNUPGHOME", path("GNUPGHOME")), ("RCLONE_CONFIG", path("RCLONE_CONFIG") ?? configuration),
        ]
        return found.compactMap { name, path in path.map { (name, $0) } }
    }
}

extension JobStarter {
    /// Looks for what starts a job; changes nothing.
    package init(of job: Job, in machine: Machine) {
        self.init(of: job, in: machine.surroundings) { Self.crontab(in: machine) }
    }

    /// Returns the user's crontab, which is empty without cron; nil if it cannot be read.
    package static func crontab(in machine: Machine) -> String? {
        // crontab(1) fails if there is no crontab, and says so in the language of the user.
        let script = ShellScript(
            """
            command -v crontab > /dev/null || exit 0
            text=$(LC_ALL=C crontab -l 2>&1) && printf '%s\\n' "$text" && exit
            case $text in *'no crontab for'*) ;; *) exit 1 ;; esac
            """)
        do throws(ShellCommand.Failure) {
            let text = try ShellCommand.output(of: script, environment: machine.environment, limit: 1 << 20)
            return text.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
        } catch {
            return nil
        }
    }
}
