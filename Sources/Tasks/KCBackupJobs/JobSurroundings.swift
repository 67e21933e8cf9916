internal import KCByteStreams

/// Where jobs are run, and by which program: what their units and lines of cron are made from.
package struct JobSurroundings: Sendable {
    /// The path of the program that runs the jobs.
    let program: String
    /// The data folder, absolute.
    let data: String
    /// The folder with the user's configuration, absolute.
    let configuration: String
    /// The folder of the user's units.
    let userUnits: String
    /// The folder of the units that a user's packages install.
    let packagedUnits: String
    /// The variables by which the programs that a job starts find their files, with absolute paths.
    let variables: [(name: String, path: String)]
    /// The folders in which programs are looked for, absolute.
    private let programs: [String]
    /// Further ones, in which a job looks for none, since others can put programs there.
    private let sharedPrograms: [String]
    /// The name of the user.
    let user: String?
    /// The folder with the configuration of the system.
    let system: String
    /// The folder with a file for each user whose units run while the user is logged out.
    let lingering: String

    /// - Parameters:
    ///   - program: the path of the program that runs the jobs.
    ///   - data: the data folder, absolute.
    ///   - home: the home folder of the user.
    ///   - configuration: the folder with the user's configuration, absolute, if it is not the usual one.
    ///   - variables: those by which gpg and rclone find their files, with absolute paths, as far as they are set.
    ///   - programs: the folders in which programs are looked for, absolute.
    ///   - sharedPrograms: further ones, in which a job looks for none, since others can put programs there.
    ///   - user: the name of the user, if it is known.
    ///   - system: the folder with the configuration of the system.
    ///   - lingering: the folder with a file for each user whose units run while the user is logged out.
    package init(
        program: String, data: String, home: String, configuration: String? = nil,
        variables: [(name: String, path: String)] = [], programs: [String] = [], sharedPrograms: [String] = [],
        user: String? = nil, system: String = "/etc", lingering: String = "/var/lib/systemd/linger"
    ) {
        self.program = program
        self.data = data
        self.configuration = configuration ?? home + "/.config"
        userUnits = self.configuration + "/systemd/user"
        packagedUnits = home + "/.local/share/systemd/user"
        self.variables = variables
        self.programs = programs
        self.sharedPrograms = sharedPrograms
        self.user = user
        self.system = system
        self.lingering = lingering
    }

    /// The value of `PATH` for what has only the usual folders of programs; nil if these are all that are needed.
    func path(beyond usual: [String]) -> String? {
        let isUsual = programs.allSatisfy { folder in usual.contains { $0.exact == folder.exact } }
        return isUsual ? nil : programs.joined(separator: ":")
    }

    /// Checks that other users cannot replace the files that the variables name.
    ///
    /// Leaving a variable out is no remedy: the program would use other files without a message.
    ///
    /// - Throws: `JobFailure`: `unsafeVariable`.
    func requireVariables() throws(JobFailure) {
        for (name, path) in variables {
            do throws(FileFailure) {
                try PrivateFolder.require(
                    Path.isFolder(path) ? path : Path.split(path).folder, mayBeMissing: true)
            } catch {
                throw .unsafeVariable(name, path: path, error)
            }
        }
    }

    /// The first folder that has a program, one that others cannot write to if there is any; nil for none.
    func folder(of program: String) -> (path: String, isShared: Bool)? {
        for (folders, isShared) in [(programs, false), (sharedPrograms, true)] {
            if let folder = folders.first(where: { Path.isFile("\($0)/\(program)") }) { return (folder, isShared) }
        }
        return nil
    }

    /// True if a name is that of the user, or if one of both is not known.
    func isUser(_ name: String?) -> Bool {
        guard let user, !user.isEmpty, let name else { return true }
        return user.exact == name.exact
    }
}
