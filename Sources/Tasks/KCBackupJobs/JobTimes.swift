internal import KCBackupTasks
internal import KCByteStreams

extension Job {
    /// Returns the crontab(5) line that runs the job.
    ///
    /// - Throws: `JobFailure` (`changesNotOfCron` for a job that changes start, `notOfCron` for a time that cron cannot
    ///   express, `needsUnit` for a credential, which only systemd gives to a job, `unsafeVariable`, `unwritable` for a
    ///   path).
    package func crontabLine(in surroundings: JobSurroundings) throws(JobFailure) -> String {
        if let credential = credentials.first { throw .needsUnit(job: name, credential: credential) }
        guard !onChange, let time else { throw .changesNotOfCron(job: name) }
        guard let when = Self.namedTimes[time.exact]?.cron else { throw .notOfCron(time: time) }
        if startsPrograms { try surroundings.requireVariables() }
        // Absolute paths, since cron's environment is minimal and its home folder may be another one.
        let data = Path.split(surroundings.data).folder
        do throws(Quoted.Failure) {
            var settings = "XDG_DATA_HOME=" + (try Quoted.crontabCommand([data]))
            if startsPrograms {
                if let path = surroundings.path(beyond: Self.foldersOfCron) {
                    settings += " PATH=" + (try Quoted.crontabCommand([path]))
                }
                for variable in surroundings.variables {
                    settings += " \(variable.name)=" + (try Quoted.crontabCommand([variable.path]))
                }
            }
            return "\(when) \(settings) \(try Quoted.crontabCommand([surroundings.program, "run", name]))"
        } catch {
            throw .unwritable(error, isCrontab: true)
        }
    }

    /// True if a line of a crontab can have the time of the job, and cron can run it.
    package var isOfCron: Bool { named != nil && !onChange && credentials.isEmpty }

    private var named: (cron: String, timer: String, pause: Int64)? { time.flatMap { Self.namedTimes[$0.exact] } }

    /// The names of the credentials that the job reads.
    var credentials: [String] { backup.credentials }

    /// When a timer starts the job; nil for never.
    var calendar: String? { named?.timer ?? time }

    /// How long a run may take: enough for first copies to a slow remote, which the next run goes on with.
    static let longestRunInHours: Int64 = 24

    /// The longest time between two good runs, in hours; nil if that is not known.
    var longestPause: Int64? { named?.pause }

    /// The folders in which cron looks for programs if nothing is set (crontab(5)).
    private static let foldersOfCron = ["/usr/bin", "/bin"]

    /// The times with names.
    ///
    /// By itself, systemd would use midnight, when many machines may be off. The pause is the longest time between two
    /// runs, and some for the run itself and a machine that is started in the morning.
    private static let namedTimes: [ExactText: (cron: String, timer: String, pause: Int64)] = [
        "hourly".exact: ("17 * * * *", "*-*-* *:17:00", 3), "daily".exact: ("17 3 * * *", "*-*-* 03:17:00", 36),
        "weekly".exact: ("17 3 * * 1", "Mon *-*-* 03:17:00", 8 * 24),
        "monthly".exact: ("17 3 1 * *", "*-*-01 03:17:00", 33 * 24),
    ]
}
