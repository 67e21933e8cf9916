internal import KCByteStreams
internal import KCConsole
internal import KCLocalKeychains
internal import KCReportText

/// What starts a job by itself, as far as this program can see: timers of systemd, and cron.
enum JobStarter: Hashable {
    /// An enabled timer, or a line of cron.
    case found
    /// A timer that is not enabled; the command enables it.
    case notEnabled(command: String)
    case nothing
    /// No timer, and the user's crontab cannot be read.
    case unknown

    /// Looks for what starts a job; changes nothing.
    init(of job: Job, in session: Session) {
        let units = SystemdUnits(of: job, in: session)
        let folders = [
            units.folder(in: session), session.world.home + "/.local/share/systemd/user", "/etc/systemd/user",
            "/etc/systemd/system",
        ]
        var isInstalled = false
        for folder in folders {
            for name in Self.names(in: folder) where name.exact.hasSuffix(".service") {
                guard let text = Self.text("\(folder)/\(name)"), Self.starts(job.name, text) else { continue }
                let timer = "timers.target.wants/\(name.dropLast(".service".count)).timer"
                if folders.contains(where: { Self.isThere("\($0)/\(timer)") }) {
                    self = .found
                    return
                }
                isInstalled = true
            }
        }
        var tables = ["/etc/crontab"]
        for folder in ["cron.d", "cron.hourly", "cron.daily", "cron.weekly", "cron.monthly"] {
            tables += Self.names(in: "/etc/\(folder)").map { "/etc/\(folder)/\($0)" }
        }
        if tables.contains(where: { Self.text($0).map { Self.starts(job.name, $0) } == true }) {
            self = .found
            return
        }
        let crontab = Self.crontab(in: session)
        if let crontab, Self.starts(job.name, crontab) {
            self = .found
        } else if isInstalled {
            self = .notEnabled(command: units.startCommand)
        } else {
            self = crontab == nil ? .unknown : .nothing
        }
    }

    /// True if a line of a unit, a crontab or a script runs the job.
    static func starts(_ job: String, _ text: String) -> Bool {
        text.exact.split(separator: "\n").contains { line in
            let words = line.utf8.split { " \t'\"".utf8.contains($0) }.map { String(Substring($0)) }
            guard words.first?.exact.hasPrefix("#") == false, line.exact.contains("kcbackup"),
                let verb = words.firstIndex(of: "run")
            else { return false }
            return words[verb...].dropFirst().contains { $0.exact == job.exact }
        }
    }

    /// Returns the user's crontab, which is empty without cron; nil if it cannot be read.
    private static func crontab(in session: Session) -> String? {
        // crontab(1) fails if there is no crontab, and says so in the language of the user.
        let script = ShellScript(
            """
            command -v crontab > /dev/null || exit 0
            text=$(LC_ALL=C crontab -l 2>&1) && printf '%s\\n' "$text" && exit
            case $text in *'no crontab for'*) ;; *) exit 1 ;; esac
            """)
        do throws(ShellCommand.Failure) {
            let text = try ShellCommand.output(of: script, environment: session.world.environment, limit: 1 << 20)
            return Self.decoded(text)
        } catch {
            return nil
        }
    }

    // A folder or file that cannot be read shows nothing, which is what the finding says.

    private static func names(in folder: String) -> [String] {
        do {
            return try Path.names(in: folder).sorted()
        } catch {
            return []
        }
    }

    private static func isThere(_ path: String) -> Bool {
        do {
            return try Path.exists(path)
        } catch {
            return false
        }
    }

    private static func text(_ path: String) -> String? {
        do throws(FileFailure) {
            return decoded(try PrivateFile.readPublic(path))
        } catch {
            return nil
        }
    }

    private static func decoded(_ bytes: borrowing SecretBytes) -> String {
        bytes.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
    }
}

extension Job {
    /// The commands that let the job run by itself.
    var startingWords: String {
        let timer = "'kcbackup schedule install \(name)' (systemd)"
        return Self.cronTimes[time] == nil ? timer : "\(timer) or 'kcbackup schedule show \(name) --crontab' (cron)"
    }
}
