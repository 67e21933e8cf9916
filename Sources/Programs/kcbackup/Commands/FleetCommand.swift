internal import ArgumentParser
internal import KCBackupTasks
internal import KCFleet
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportPages
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup fleet`: looks after many machines that share a folder of a remote.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Look after many machines that put their backups into one folder of a remote.",
        subcommands: [
            FleetStatusCommand.self, FleetIndexCommand.self, FleetSearchCommand.self, FleetExportCommand.self,
        ])
}

/// `kcbackup fleet status`.
struct FleetStatusCommand: Verb {
    static let mainOptions: [OptionName] = [.inventory, .maxAge, .prometheus]

    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which machines reported a good backup, and which did not.",
        discussion: """
            Reads the receipts that the machines signed, day by day. A line is printed for each machine that has a \
            problem, or with '--verbose' for every machine. The inventory has lines 'DEVICE-ID NAME [AGE]', and says \
            which machines are expected and whose signatures count.

            The run ends with 17 if a machine has no recent enough good backup, with 15 if one has far fewer items \
            than before, and with 3 if something else is wrong or cannot be believed.

            EXAMPLES:
              kcbackup fleet status nas:fleet --inventory machines.txt
              kcbackup fleet status nas:fleet --prometheus > fleet.prom
              kcbackup fleet status nas:fleet --inventory machines.txt --html fleet.html
            """)

    @Argument(help: ArgumentHelp("The folder of the fleet.", valueName: "remote:path"))
    var folder: String

    @OptionGroup
    var lists: FleetMemberOptions

    @Option(
        name: OptionName.maxAge.name,
        help: ArgumentHelp("How old a last good backup may be, as in '26h' or '8d'.", valueName: "time"))
    var maxAge = "26h"

    @Option(
        name: OptionName.days.name,
        help: ArgumentHelp("Read the receipts of so many days, and not only those that decide.", valueName: "number"))
    var days: String?

    @OptionGroup
    var form: ReportOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        try form.check(with: style)
        guard let location = RemoteLocation(folder) else { throw FleetProblem.notARemote }
        guard let age = MaximumAge(maxAge), age.hours <= Inventory.ageLimit.hours else {
            throw UsageProblem.malformed(.maxAge, form: "a time such as '26h' or '8d', of at most a year")
        }
        let page = try form.page(replacing: FleetPage.mark, in: session)
        let (expected, members) = try lists.read(in: session)
        let days = try readDays(expected, age, session.now)
        let report = try read(location, days, members, age, session)
        if report.machines.isEmpty, report.rejectedCount == 0 {
            throw FleetProblem.noReceipts(location, days: days.count - 1)
        }
        let view = FleetView(report: report, now: session.now)
        if let page {
            try page.make { write in try view.page(of: location, session.calendar).write(write) }
        } else if form.prometheus {
            try session.result([:], view.metrics)
        } else {
            try session.result(view.json, view.lines(in: session))
        }
        let problems = view.problems.map { Failure.fleet($0) }
        if let doubt = view.doubt { session.warn(doubt) }
        guard let first = problems.first else { return view.doubt == nil ? .ok : .incomplete }
        for other in problems.dropFirst() { session.warn(other.explanation.message) }
        guard style.json else { throw first }
        session.message(first.explanation.lines)
        return first.explanation.status
    }

    private func read(
        _ location: RemoteLocation, _ days: [ReceiptDay], _ members: FleetMembers, _ age: MaximumAge, _ session: Session
    ) throws -> FleetReport {
        let fleet = try FleetFolder(
            location, session.machine.rclone(), temporaryFolder: session.machine.temporaryFolder)
        var observer = try fleet.observer(of: members)
        for day in days {
            let failure = try session.machine.blamingTemporaryFolder { try fleet.show(day, to: &observer) }
            if let failure { session.warn(explainRemote(failure).message) }
        }
        return observer.report(days: days, maximumAge: age, now: session.now)
    }

    /// The days that decide whether a machine is late, and the next one, where a clock is ahead.
    private func readDays(
        _ inventory: Inventory?, _ age: MaximumAge, _ now: Timestamp
    ) throws(UsageProblem) -> [ReceiptDay] {
        let dayLength: Int64 = 86_400_000_000
        var span = inventory?.longestAge(usual: age).microseconds ?? age.microseconds
        if let days {
            guard let number = Int64(days), 1...Self.dayLimit ~= number else {
                throw .malformed(.days, form: "a number from 1 to \(Self.dayLimit)")
            }
            span = (number - 1) * dayLength
        }
        let first = ReceiptDay(now.advanced(byMicroseconds: -span))
        return ReceiptDay.days(from: first, through: ReceiptDay(now).next)
    }

    // Of a year and a day, so that a mistyped number does not list for hours.
    private static let dayLimit: Int64 = 366
}
