internal import ArgumentParser
internal import KCReportText
internal import KCTerminal

/// `kcbackup doctor`.
struct DoctorCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check what would make the next run of a job fail.",
        discussion: """
            Looks at the device key, the clock, the jobs, what starts them, their folders, keychains and secrets, and \
            at what lies beside the archives. Each problem is shown with its remedy. Changes nothing. The exit code is \
            that of the first problem. A job that no systemd timer and no crontab starts is a warning, since something \
            else may start it, and so is a desktop keyring that no job backs up. Files of the home that hold secrets \
            in the clear are warnings too, and so are keyrings of Flatpak apps that nothing in the desktop keyring \
            opens.

            With REMOTE:PATH, it uses a small file to find out what somebody who has taken over this machine could do \
            to the copies there: it makes, replaces and deletes the file. If nothing keeps a copy from being \
            destroyed, that is a warning.

            EXAMPLES:
              kcbackup doctor
              kcbackup doctor nas:backups
            """)

    @Argument(help: ArgumentHelp("A folder of a remote.", valueName: "remote:path"))
    var remote: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if let remote { return try RemoteExamination(remote, in: session).run() }
        var examination = Examination(session)
        examination.run()
        let problems = examination.problems
        try session.result(
            [
                "checked": .number(examination.count),
                "problems": .list(
                    problems.map { problem in
                        problem.explanation.jsonBody.adding([("job", problem.job.map { .text($0) })])
                    }),
                "warnings": .list(
                    examination.warnings.map { warning in
                        .members([("job", warning.job.map { .text($0) }), ("message", .text(warning.message))])
                    }),
            ],
            session.prose(
                problems.flatMap { problem in
                    let told = problem.job.map { problem.explanation.about(job: $0) } ?? problem.explanation
                    return [told.message + "\n"] + told.hints.map { "  \($0)\n" }
                }))
        for warning in examination.warnings {
            session.warn("\(warning.job.map { "job \(quoted($0)): " } ?? "")\(warning.message)")
        }
        for note in examination.notes { session.note("\(note.job.map { "job \(quoted($0)): " } ?? "")\(note.message)") }
        if problems.isEmpty {
            let warnings = examination.warnings.count
            session.note(
                "\(examination.count) checks, no problem" + (warnings == 0 ? "" : ", \(counted(warnings, "warning"))"))
        }
        return problems.first?.explanation.status ?? .ok
    }
}
