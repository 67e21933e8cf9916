package import KCByteStreams

/// The units of a job that `schedule install` wrote for the user.
package struct InstalledUnits {
    /// The texts of the service and the timer; nil for one that is not there.
    private let texts: [(path: String, text: String?)]

    /// Reads the units; nil if there are none.
    package init?(of job: String, in surroundings: JobSurroundings) throws(FileFailure) {
        let paths = SystemdUnits.userPaths(of: job, in: surroundings)
        var texts: [(path: String, text: String?)] = []
        for path in [paths.service, paths.timer] {
            texts.append((path, try Path.exists(path) ? Self.text(path) : nil))
        }
        if texts.allSatisfy({ $0.text == nil }) { return nil }
        self.texts = texts
    }

    /// The units of a changed job, made with the options that these were made with.
    ///
    /// - Returns: nil if these units are not what `schedule install` writes for `old`: they were changed by hand, or
    ///   another version wrote them.
    package func units(
        of job: Job, insteadOf old: Job, in surroundings: JobSurroundings
    ) throws(JobFailure) -> SystemdUnits? {
        let marker = "OnFailure="
        let lines = (texts[0].text ?? "").exact.split(separator: "\n")
        let failureUnit = lines.first { $0.exact.hasPrefix(marker) }?.exact.removingPrefix(marker)
        for areEncrypted in [false, true] {
            func units(of job: Job) -> SystemdUnits {
                SystemdUnits(
                    of: job, in: surroundings, failureUnit: failureUnit, credentialsAreEncrypted: areEncrypted)
            }
            let made = try units(of: old).files()
            if zip(made, texts).allSatisfy({ Self.decisive($0.text) == $1.text.map(Self.decisive) }) {
                return units(of: job)
            }
        }
        return nil
    }

    /// Writes the units of a changed job, and then runs `body`; if one of both fails, these units are put back.
    ///
    /// - Parameter notRestored: is called with the failure to put a unit back.
    /// - Throws: as `SystemdUnits.files`, `FileFailure`, and what `body` throws.
    package func replace(
        with units: SystemdUnits, notRestored: (FileFailure) -> Void, _ body: () throws -> Void
    ) throws {
        let files = try units.files()
        do {
            for (file, old) in zip(files, texts) { try PrivateFile.replace(old.path, file.text.utf8.span) }
            try body()
        } catch {
            for (path, text) in texts {
                guard let text else { continue }
                do throws(FileFailure) {
                    try PrivateFile.replace(path, text.utf8.span)
                } catch {
                    notRestored(error)
                }
            }
            throw error
        }
    }

    /// The paths of the units of a job of the user that the system's manager starts; only root can replace them.
    package static func systemPaths(
        of job: String, in surroundings: JobSurroundings
    ) throws(FileFailure) -> [String] {
        guard let service = InstalledService.ofSystem(job, in: surroundings)?.path else { return [] }
        let timer = (service.exact.removingSuffix(".service") ?? service) + ".timer"
        return try Path.exists(timer) ? [service, timer] : [service]
    }

    /// The lines of a unit that are the same in every shell.
    private static func decisive(_ text: String) -> [ExactText] {
        text.exact.split(separator: "\n").filter { !$0.exact.hasPrefix(SystemdUnits.pathSetting) }.map { $0.exact }
    }

    private static func text(_ path: String) throws(FileFailure) -> String {
        try PrivateFile.readPublic(path).withBytes { span in
            String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
        }
    }
}

extension Job {
    /// The path of the system's service that starts the job, and was made for it before it was changed.
    ///
    /// - Returns: nil if there is none, or if it would be written as it was for `old`.
    package func outdatedSystemService(since old: Job, in surroundings: JobSurroundings) -> String? {
        func units(of job: Job) -> SystemdUnits { SystemdUnits(of: job, in: surroundings, isOfSystem: true) }
        if units(of: self).areSame(as: units(of: old)) { return nil }
        return InstalledService.ofSystem(name, in: surroundings)?.path
    }
}
