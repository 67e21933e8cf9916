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
        let installed = Self.installed(job.name, "timer", in: surroundings)
        if installed.contains(where: \.isEnabled) {
            self = .found
            return
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
        } else if installed.contains(where: \.isThere) {
            self = .notEnabled(command: units.startCommand)
        } else {
            self = crontab == nil ? .unknown : .nothing
        }
    }

    /// A timer or path unit whose service runs a job.
    struct Unit {
        let name: String
        let isOfSystem: Bool
        let isThere: Bool
        let isEnabled: Bool
    }

    /// Returns the units of a kind that start a job, one for each service that runs it.
    static func installed(_ job: String, _ kind: String, in surroundings: JobSurroundings) -> [Unit] {
        let system = surroundings.system
        let folders = [
            surroundings.userUnits, surroundings.packagedUnits, system + "/systemd/user", system + "/systemd/system",
        ]
        var units: [Unit] = []
        for folder in folders {
            for name in names(in: folder) {
                guard let stem = name.exact.removingSuffix(".service"), let text = text("\(folder)/\(name)"),
                    starts(job, text)
                else { continue }
                let isOfSystem = folder.exact == (system + "/systemd/system").exact
                if isOfSystem, !surroundings.isUser(user(ofUnit: text)) { continue }
                let unit = "\(stem).\(kind)"
                units.append(
                    Unit(
                        name: unit, isOfSystem: isOfSystem,
                        isThere: folders.contains { isThere("\($0)/\(unit)") },
                        isEnabled: folders.contains { isThere("\($0)/\(kind)s.target.wants/\(unit)") }))
            }
        }
        return units
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
