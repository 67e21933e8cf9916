internal import KCByteStreams

extension Job {
    /// Checks that systemd starts the services that are installed for the job, and that they give it what it needs.
    ///
    /// A service with settings in further files may be complete only with these, and is not judged.
    ///
    /// - Throws: `JobFinding`: `otherService` for that of an earlier job, `noCredential` for a credential without its file.
    package func checkServices(in surroundings: JobSurroundings) throws(JobFinding) {
        let path = SystemdUnits.userPaths(of: name, in: surroundings).service
        try checkService(at: path, configuration: surroundings.configuration, isOfSystem: false)
        let system = "\(surroundings.system)/systemd/system/\(Path.split(path).name)"
        if let text = JobStarter.text(system), surroundings.isUser(JobStarter.user(ofUnit: text)) {
            try checkService(at: system, configuration: surroundings.system, isOfSystem: true)
        }
    }

    private func checkService(at path: String, configuration: String, isOfSystem: Bool) throws(JobFinding) {
        guard let text = JobStarter.text(path), !Path.isFolder(path + ".d") else { return }
        let service = InstalledService(text, configuration: configuration)
        let other = JobFinding.otherService(job: name, path: path, isOfSystem: isOfSystem)
        // What 'schedule install' writes for jobs that start nothing.
        let families = service.families?.exact
        let isCutOff =
            startsPrograms
            ? families == "none".exact || families == "AF_UNIX".exact : isOfDesktop && families == "none".exact
        if isCutOff { throw other }
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
            // What cannot be seen here may be there.
            return false
        }
    }
}

/// What a service that is installed gives to a job.
private struct InstalledService {
    /// The credentials that it reads from files; a path is nil if only systemd knows it.
    private(set) var credentials: [(name: String, path: String?, isEncrypted: Bool)] = []
    /// True if it has credentials that are in no file, or in a file of unknown name.
    private(set) var hasOtherCredentials = false
    /// The kinds of sockets that it allows; nil for all.
    private(set) var families: String?

    /// Reads the text of a service.
    ///
    /// - Parameter configuration: the folder that `%E` means.
    init(_ text: String, configuration: String) {
        for line in text.exact.split(separator: "\n") {
            if let value = line.exact.removingPrefix("LoadCredential=") {
                add(value, isEncrypted: false, configuration)
            } else if let value = line.exact.removingPrefix("LoadCredentialEncrypted=") {
                add(value, isEncrypted: true, configuration)
            } else if line.exact.hasPrefix("SetCredential") || line.exact.hasPrefix("ImportCredential=") {
                hasOtherCredentials = true
            } else if let value = line.exact.removingPrefix("RestrictAddressFamilies=") {
                families = value
            }
        }
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
        let plain = rest ?? text
        // Other specifiers (systemd.unit(5)), or a name that systemd looks for in folders of its own.
        if plain.exact.replacing("%%", with: "").exact.contains("%") { return nil }
        let path = (rest == nil ? "" : configuration) + plain.exact.replacing("%%", with: "%")
        return path.exact.hasPrefix("/") ? path : nil
    }
}
