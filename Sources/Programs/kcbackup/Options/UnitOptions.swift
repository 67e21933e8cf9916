internal import ArgumentParser
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCReportText
internal import KCSecurityChip
internal import KCTerminal

/// The service manager that runs a job: the system's or the user's.
struct UnitOptions: ParsableArguments {
    @Flag(name: OptionName.system.name, help: "System units, which run while no one is logged in.")
    var system = false

    @Flag(
        name: OptionName.encryptedCredentials.name,
        help: "Credentials of the job are encrypted, as 'systemd-creds encrypt' makes them.")
    var encryptedCredentials = false

    @Option(
        name: OptionName.failureUnit.name,
        help: ArgumentHelp("A unit that systemd starts when the job fails.", valueName: "unit"))
    var failureUnit: String?

    /// Returns the systemd units of a job.
    func units(of job: Job, in session: Session) throws -> SystemdUnits {
        if system, job.isOfDesktop {
            throw Refusal(
                .usage,
                "'\(OptionName.system.spelling)' is not for job \(quoted(job.name)): a system unit has no session bus, and "
                    + "so no desktop keyring",
                hint: "'kcbackup schedule install \(shellWord(job.name))' installs it for its user, while they are "
                    + "logged in")
        }
        if let failureUnit, !SystemdUnits.isName(failureUnit) {
            throw Refusal(
                .usage,
                "'\(OptionName.failureUnit.spelling)': \(quoted(failureUnit)) is not the name of a unit, and systemd would "
                    + "ignore it",
                hint: "'\(OptionName.failureUnit.spelling) mail-admin.service'; a name has no spaces and no '%', and "
                    + "ends with its kind")
        }
        let units = SystemdUnits(
            of: job, in: session.machine.surroundings, isOfSystem: system, failureUnit: failureUnit,
            credentialsAreEncrypted: encryptedCredentials,
            chip: try session.machine.isHeldByChip ? TPM.devicePath : nil)
        if system, units.isSandboxed, !Path.isFolder(job.folder) {
            session.warn(
                "\(quoted(job.folder)) does not exist: "
                    + "'kcbackup run \(job.name) \(OptionName.change.spelling)' makes it")
        }
        return units
    }
}
