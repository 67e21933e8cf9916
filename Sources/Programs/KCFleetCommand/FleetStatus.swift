internal import KCBackupTasks
internal import KCFleet
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportPages
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension FleetStatusCommand {
    func perform(in session: Session) throws -> ExitStatus {
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
        let view = FleetView(report: report, now: session.now, knowsJunk: knownJunk)
        if let page {
            try page.make { write in try view.page(of: location, session.calendar).write(write) }
        } else if form.prometheus {
            try session.result([:], view.metrics)
        } else {
            try session.result(view.json, view.lines(in: session))
        }
        let problems = view.problems
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
