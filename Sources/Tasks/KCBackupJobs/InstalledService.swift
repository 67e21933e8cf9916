internal import KCBackupCatalogue
internal import KCByteStreams

extension Job {
    /// Checks that systemd starts the services that are installed for the job, and that they give it what it needs.
    ///
    /// - Throws: `JobFinding`: `otherService` for that of an earlier job, or of this one with another folder,
    ///   `noCredential` for a credential without its file.
    package func checkServices(in surroundings: JobSurroundings) throws(JobFinding) {
        for service in InstalledService.all(of: name, in: surroundings) { try check(service) }
    }

    private func check(_ service: InstalledService) throws(JobFinding) {
        let other = JobFinding.otherService(job: name, path: service.path, isOfSystem: service.isOfSystem)
        // 'schedule install' writes 'none' or 'AF_UNIX' for jobs that start nothing.
        let families = service.families?.exact
        let isCutOff =
            startsPrograms
            ? families == "none".exact || families == "AF_UNIX".exact : isOfDesktop && families == "none".exact
        if isCutOff || writtenFolders.contains(where: service.isReadOnly) { throw other }
        if service.hasOtherCredentials { return }
        let names = Set(service.credentials.map { $0.name.exact })
        let needed = Set(credentials.map { $0.exact })
        if !needed.isSubset(of: names) { throw other }
        for credential in service.credentials {
            guard let file = credential.path, Self.isMissing(file) else { continue }
            if !needed.contains(credential.name.exact) { throw other }
            throw .noCredential(credential.name, path: file, isEncrypted: credential.isEncrypted)
        }
    }

    private static func isMissing(_ path: String) -> Bool {
        do {
            return try !Path.exists(path)
        } catch {
            // A file that cannot be seen here may be there.
            return false
        }
    }
}

/// The resources that an installed service gives to a job.
struct InstalledService {
    /// The path of its file.
    let path: String
    let isOfSystem: Bool
    /// The credentials that it reads from files; a path is nil if only systemd knows it.
    private(set) var credentials: [(name: String, path: String?, isEncrypted: Bool)] = []
    /// True if it has credentials that are in no file, or in a file of unknown name.
    private(set) var hasOtherCredentials = false
    /// The kinds of sockets that it allows; nil for all.
    private(set) var families: String?
    /// The only folders that it can write to; nil for others too, or if only systemd knows them.
    private var writable: [String]?
    /// The program that it starts; nil if only systemd knows its path.
    private(set) var program: String?
    /// The folders in which programs are looked for; nil if another file says it.
    private(set) var folders: [String]? = SystemdUnits.usualFolders

    /// The services that are installed for a job.
    ///
    /// A service with settings in further files may be complete only with these, and is left out.
    static func all(of job: String, in surroundings: JobSurroundings) -> [InstalledService] {
        var found: [InstalledService] = []
        for path in SystemdUnits.userPaths(of: job, in: surroundings).services {
            guard let text = JobStarter.text(path) else { continue }
            found.append(
                InstalledService(text, at: path, isOfSystem: false, configuration: surroundings.configuration))
        }
        for (path, text) in ofSystem(job, in: surroundings) {
            found.append(InstalledService(text, at: path, isOfSystem: true, configuration: surroundings.system))
        }
        return found.filter { !Path.isFolder($0.path + ".d") }
    }

    /// The services that the system's manager starts for a job of the user, without those of other users.
    static func ofSystem(_ job: String, in surroundings: JobSurroundings) -> [(path: String, text: String)] {
        SystemdUnits.systemPaths(of: job, in: surroundings).services.compactMap { path in
            guard let text = JobStarter.text(path), surroundings.isUser(JobStarter.user(ofUnit: text)) else {
                return nil
            }
            return (path, text)
        }
    }

    /// True for a folder in which it can change nothing.
    func isReadOnly(_ folder: String) -> Bool {
        guard let writable else { return false }
        return !writable.contains { place in
            folder.exact == place.exact || folder.exact.hasPrefix(place.exact.hasSuffix("/") ? place : place + "/")
        }
    }

    /// Reads the text of a service.
    ///
    /// - Parameter configuration: the folder that `%E` means.
    private init(_ text: String, at path: String, isOfSystem: Bool, configuration: String) {
        self.path = path
        self.isOfSystem = isOfSystem
        var hasOtherPath = false
        var isStrict = false
        var places: [String]? = []
        for line in text.exact.split(separator: "\n") {
            if let value = line.exact.removingPrefix("LoadCredential=") {
                add(value, isEncrypted: false, configuration)
            } else if let value = line.exact.removingPrefix("LoadCredentialEncrypted=") {
                add(value, isEncrypted: true, configuration)
            } else if line.exact.hasPrefix("SetCredential") || line.exact.hasPrefix("ImportCredential=") {
                hasOtherCredentials = true
            } else if let value = line.exact.removingPrefix("RestrictAddressFamilies=") {
                families = value
            } else if let value = line.exact.removingPrefix(SystemdUnits.pathSetting) {
                folders = Self.firstWord(of: value)?.exact.split(separator: ":")
            } else if let value = line.exact.removingPrefix("ExecStart=") {
                program = Self.firstWord(of: value)
            } else if let value = line.exact.removingPrefix("ProtectSystem=") {
                isStrict = value.exact == "strict".exact
            } else if let value = line.exact.removingPrefix("ReadWritePaths=") {
                places = places.flatMap { known in Self.places(in: value).map { known + $0 } }
            } else if Self.makesWritable(line) {
                places = nil
            } else if Self.setsPath(line) {
                hasOtherPath = true
            }
        }
        if hasOtherPath { folders = nil }
        writable = isStrict ? places : nil
    }

    /// True for a line that makes places writable otherwise than `schedule install` does.
    private static func makesWritable(_ line: String) -> Bool {
        ["BindPaths=", "StateDirectory=", "TemporaryFileSystem=", "ReadWriteDirectories="].contains {
            line.exact.hasPrefix($0)
        }
    }

    /// The places in a list of them, also with links resolved; nil if only systemd can read one of them.
    private static func places(in value: String) -> [String]? {
        var rest = Substring(value).utf8
        var places: [String] = []
        while !rest.isEmpty {
            guard let word = word(from: &rest) else { return nil }
            // A hyphen is for a place that may be missing, a plus sign for one below another root.
            let path = String(Substring(word.utf8.drop { "-+".utf8.contains($0) }))
            if !path.isEmpty { places += [path, CatalogueFile.place(of: path)] }
        }
        return places
    }

    /// True for a line that may set `PATH` otherwise than `schedule install` does.
    private static func setsPath(_ line: String) -> Bool {
        ["EnvironmentFile=", "PassEnvironment="].contains { line.exact.hasPrefix($0) }
            || line.exact.hasPrefix("Environment=") && line.exact.contains("PATH=")
    }

    /// The first word of a setting; nil if only systemd can read it.
    private static func firstWord(of value: String) -> String? {
        var rest = Substring(value).utf8
        return word(from: &rest)
    }

    /// Takes the first word of what is left of a setting; nil if only systemd can read it.
    private static func word(from rest: inout Substring.UTF8View) -> String? {
        var word: [UInt8] = []
        var (isQuoted, isEscaped) = (false, false)
        while let byte = rest.popFirst() {
            if isEscaped {
                // An escaped byte may mean another character (systemd.syntax(7)).
                guard "\"\\".utf8.contains(byte) else { return nil }
                word.append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: " "), !isQuoted {
                break
            } else {
                word.append(byte)
            }
        }
        return plain(String(decoding: word, as: UTF8.self))
    }

    /// A text without doubled signs; nil if it has a specifier (systemd.unit(5)).
    private static func plain(_ text: String) -> String? {
        text.exact.replacing("%%", with: "").exact.contains("%") ? nil : text.exact.replacing("%%", with: "%")
    }

    private mutating func add(_ value: String, isEncrypted: Bool, _ configuration: String) {
        let parts = value.exact.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else {
            hasOtherCredentials = true
            return
        }
        let name = parts[0].exact.replacing("%%", with: "%")
        credentials.append((name, Self.path(parts[1], configuration), isEncrypted))
    }

    private static func path(_ text: String, _ configuration: String) -> String? {
        let rest = text.exact.removingPrefix("%E")
        guard let plain = plain(rest ?? text) else { return nil }
        let path = (rest == nil ? "" : configuration) + plain
        // systemd looks for a name in folders of its own.
        return path.exact.hasPrefix("/") ? path : nil
    }
}
