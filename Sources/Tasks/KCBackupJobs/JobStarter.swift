internal import KCByteStreams

/// The mechanism that starts a job by itself, as far as this program can see: timers of systemd, and cron.
package enum JobStarter: Hashable, Sendable {
    /// An enabled timer, or a line of cron.
    case found
    /// A timer that is not enabled; the command enables it.
    case notEnabled(command: String)
    case nothing
    /// No timer, and the user's crontab cannot be read.
    case unknown

    /// Looks for what starts a job; changes nothing.
    ///
    /// - Parameter crontab: returns the user's crontab, which is empty without cron; nil if it cannot be read.
    package init(of job: Job, in surroundings: JobSurroundings, crontab: () -> String?) {
        let units = SystemdUnits(of: job, in: surroundings)
        let system = surroundings.system
        let folders = [
            units.folder, surroundings.packagedUnits, system + "/systemd/user", system + "/systemd/system",
        ]
        var isInstalled = false
        for folder in folders {
            for name in Self.names(in: folder) {
                guard let stem = name.exact.removingSuffix(".service"), let text = Self.text("\(folder)/\(name)"),
                    Self.starts(job.name, text)
                else { continue }
                let isOfSystem = folder.exact == (system + "/systemd/system").exact
                if isOfSystem, !surroundings.isUser(Self.user(ofUnit: text)) { continue }
                let timer = "timers.target.wants/\(stem).timer"
                if folders.contains(where: { Self.isThere("\($0)/\(timer)") }) {
                    self = .found
                    return
                }
                isInstalled = true
            }
        }
        var scripts: [String] = []
        for folder in ["cron.hourly", "cron.daily", "cron.weekly", "cron.monthly"] where surroundings.isUser("root") {
            scripts += Self.names(in: "\(system)/\(folder)").map { "\(system)/\(folder)/\($0)" }
        }
        let isStarted =
            scripts.contains { Self.text($0).map { Self.starts(job.name, $0) } == true }
            || Self.crontabs(in: surroundings).contains { path in
                Self.text(path)?.exact.split(separator: "\n").contains { line in
                    Self.starts(job.name, line) && surroundings.isUser(Self.user(ofCronLine: line))
                } == true
            }
        if isStarted {
            self = .found
            return
        }
        let crontab = crontab()
        if let crontab, Self.starts(job.name, crontab) {
            self = .found
        } else if isInstalled {
            self = .notEnabled(command: units.startCommand)
        } else {
            self = crontab == nil ? .unknown : .nothing
        }
    }

    /// The paths of the crontabs of the system.
    static func crontabs(in surroundings: JobSurroundings) -> [String] {
        let system = surroundings.system
        return ["\(system)/crontab"] + names(in: "\(system)/cron.d").map { "\(system)/cron.d/\($0)" }
    }

    /// True if a line of a unit, a crontab or a script runs the job.
    package static func starts(_ job: String, _ text: String) -> Bool {
        text.exact.split(separator: "\n").contains { line in
            let words = line.utf8.split { " \t'\"".utf8.contains($0) }.map { String(Substring($0)) }
            guard words.first?.exact.hasPrefix("#") == false, line.exact.contains("kcbackup"),
                let verb = words.firstIndex(of: "run")
            else { return false }
            return words[verb...].dropFirst().contains { $0.exact == job.exact }
        }
    }

    /// The user as whom the system's service manager runs a unit.
    static func user(ofUnit text: String) -> String {
        text.exact.split(separator: "\n").compactMap { $0.exact.removingPrefix("User=") }.last ?? "root"
    }

    /// The user as whom a line of the system's crontab (crontab(5)) runs; nil if it does not say.
    static func user(ofCronLine line: String) -> String? {
        let words = line.exact.replacing("\t", with: " ").exact.split(separator: " ")
        let place = words.first?.exact.hasPrefix("@") == true ? 1 : 5
        return words.count > place ? words[place] : nil
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

    /// The text of a file; nil if it cannot be read.
    static func text(_ path: String) -> String? {
        do throws(FileFailure) {
            return try PrivateFile.readPublic(path).withBytes { span in
                String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
            }
        } catch {
            return nil
        }
    }
}
