internal import KCTerminal

extension Session {
    /// Calls `look` for each subject, even after another one failed; each failure is reported immediately.
    ///
    /// - Parameters:
    ///   - name: the name of the subject's archive.
    ///   - endsAll: true after a failure that every other subject would have too.
    /// - Returns: the status of the first subject that failed. If none failed, `incomplete` if one was incomplete.
    /// - Throws: failures that end a run regardless of the archive.
    func forEach<Subject>(
        _ subjects: [Subject], named name: (Subject) -> String, endsAll: () -> Bool = { false },
        _ look: (Subject) throws -> ExitStatus
    ) throws -> ExitStatus {
        var failed: ExitStatus?
        var status = ExitStatus.ok
        for subject in subjects {
            let archive = name(subject)
            self.subject.file = archive
            oneOfSeveral = subjects.count > 1 ? archive : nil
            do {
                let found = try look(subject)
                if found != .ok { status = found }
            } catch {
                let failure = failure(of: error)
                if failure.endsRun { throw failure }
                let isLast = endsAll()
                if isLast { oneOfSeveral = nil }
                let reported = isLast ? report(failure) : report(failure, about: archive)
                failed = failed ?? reported
                if isLast { break }
            }
        }
        oneOfSeveral = nil
        return failed ?? status
    }
}

extension Failure {
    /// True for failures that end a run regardless of the archive: a signal, or results that cannot be written.
    fileprivate var endsRun: Bool {
        if case .output = self { return true }
        return [.interrupted, .terminated].contains(explanation.status)
    }
}
