internal import ArgumentParser
internal import KCBackupJobs
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

            With the name of a job, it checks that one alone.

            With REMOTE:PATH, it uses a small file to find out what somebody who has taken over this machine could do \
            to the copies there: it makes, replaces and deletes the file. If nothing keeps a copy from being \
            destroyed, that is a warning.

            EXAMPLES:
              kcbackup doctor
              kcbackup doctor nightly
              kcbackup doctor nas:backups
            """)

    @Argument(
        help: ArgumentHelp("A job, or a folder of a remote.", valueName: "job|remote:path"),
        completion: KnownNames.jobs)
    var subject: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let job = subject.flatMap { Job.isName($0) ? $0 : nil }
        if let subject, job == nil { return try RemoteExamination(subject, in: session).run() }
        if let job { try Jobs(session.machine).requireExisting(job) }
        let unattended = session.unattended
        let examination = Examination(
            in: unattended.context, day: unattended.calendar.day, describe: unattended.recorded)
        return try ExaminationText(examination.run(of: job), in: unattended).tell(session)
    }
}
