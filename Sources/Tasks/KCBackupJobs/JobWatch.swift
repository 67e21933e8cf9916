internal import KCByteStreams
internal import KCConsole
package import KCStoreTasks

/// The path unit that starts a job after changes, as far as this program can see it.
package enum JobWatch: Hashable, Sendable {
    /// An enabled unit, which watches.
    case found
    /// A unit that is not enabled; the command enables it.
    case notEnabled(command: String)
    /// An enabled unit that has failed, or was stopped; the command starts it again.
    case stopped(unit: String, hasFailed: Bool, command: String)
    case nothing

    /// Looks for what starts a job after changes; changes nothing.
    ///
    /// - Parameter state: returns the state of a unit of the system's or the user's manager (`active`, `failed` and so on),
    ///   nil if it is not known.
    package init(
        of job: Job, in surroundings: JobSurroundings, state: (_ unit: String, _ isOfSystem: Bool) -> String?
    ) {
        let units = SystemdUnits(of: job, in: surroundings)
        let installed = JobStarter.installed(job.name, "path", in: surroundings)
        guard let unit = installed.first(where: \.isEnabled) else {
            self = installed.contains(where: \.isThere) ? .notEnabled(command: units.startOfPath) : .nothing
            return
        }
        let known = state(unit.name, unit.isOfSystem)?.exact
        guard known == "failed".exact || known == "inactive".exact else {
            self = .found
            return
        }
        self = .stopped(
            unit: unit.name, hasFailed: known == "failed".exact,
            command: "systemctl \(unit.isOfSystem ? "" : "--user ")restart \(unit.name)")
    }

    /// Looks for what starts a job after changes; changes nothing.
    package init(of job: Job, in machine: Machine) {
        self.init(of: job, in: machine.surroundings) { unit, isOfSystem in
            // Without a manager of this user, it fails.
            let script = ShellScript(
                "exec systemctl \"$1\" show -p ActiveState --value -- \"$2\" 2> /dev/null",
                [isOfSystem ? "--system" : "--user", unit])
            do throws(ShellCommand.Failure) {
                let text = try ShellCommand.output(of: script, environment: machine.environment, limit: 4_096)
                return text.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
                    .exact.split(separator: "\n").first
            } catch {
                return nil
            }
        }
    }
}
