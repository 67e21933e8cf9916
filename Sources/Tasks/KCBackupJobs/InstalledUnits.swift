package import KCByteStreams

/// The units of a job that `schedule install` wrote for the user.
package struct InstalledUnits {
    /// The texts of all units that a job can have; nil for one that is not there.
    private let texts: [(path: String, text: String?)]

    /// Reads the units; nil if there are none.
    package init?(of job: String, in surroundings: JobSurroundings) throws(FileFailure) {
        var texts: [(path: String, text: String?)] = []
        for path in SystemdUnits.userPaths(of: job, in: surroundings).all {
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
        let lines = texts.compactMap(\.text).flatMap { $0.exact.split(separator: "\n") }
        let failureUnit = lines.first { $0.exact.hasPrefix(marker) }?.exact.removingPrefix(marker)
        for areEncrypted in [false, true] {
            func units(of job: Job) -> SystemdUnits {
                SystemdUnits(
                    of: job, in: surroundings, failureUnit: failureUnit, credentialsAreEncrypted: areEncrypted)
            }
            let made = try units(of: old).files()
            let areMade = texts.allSatisfy { path, text in
                Self.text(for: path, in: made).map(Self.decisive) == text.map(Self.decisive)
            }
            if areMade { return units(of: job) }
        }
        return nil
    }

    private static func text(for path: String, in files: [SystemdUnits.File]) -> String? {
        files.first { $0.name.exact == Path.split(path).name.exact }?.text
    }

    /// The names of the units that start the job, and would be gone with others.
    package func startersGone(with units: SystemdUnits) throws(JobFailure) -> [String] {
        let files = try units.files()
        return texts.filter { $0.text != nil && Self.text(for: $0.path, in: files) == nil }
            .map { Path.split($0.path).name }.filter { !$0.exact.hasSuffix(".service") }
    }

    /// Writes the units of a changed job, removes those that it does not have anymore, and then runs `body`; if one of
    /// these fails, these units are put back.
    ///
    /// - Parameter notRestored: is called with the failure to put a unit back.
    /// - Throws: as `SystemdUnits.files`, `FileFailure`, and what `body` throws.
    package func replace(
        with units: SystemdUnits, notRestored: (FileFailure) -> Void, _ body: () throws -> Void
    ) throws {
        let files = try units.files()
        do {
            for (path, _) in texts { try Self.put(Self.text(for: path, in: files), at: path) }
            try body()
        } catch {
            for (path, text) in texts {
                do throws(FileFailure) {
                    try Self.put(text, at: path)
                } catch {
                    notRestored(error)
                }
            }
            throw error
        }
    }

    /// Makes the text that of a unit; nil removes it.
    private static func put(_ text: String?, at path: String) throws(FileFailure) {
        if let text { try PrivateFile.replace(path, text.utf8.span) } else { try Path.remove(path) }
    }

    /// The paths of the units of a job of the user that the system's manager starts; only root can replace them.
    package static func systemPaths(
        of job: String, in surroundings: JobSurroundings
    ) throws(FileFailure) -> [String] {
        if InstalledService.ofSystem(job, in: surroundings).isEmpty { return [] }
        var found: [String] = []
        for path in SystemdUnits.systemPaths(of: job, in: surroundings).all where try Path.exists(path) {
            found.append(path)
        }
        return found
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
        return InstalledService.ofSystem(name, in: surroundings).first?.path
    }
}
