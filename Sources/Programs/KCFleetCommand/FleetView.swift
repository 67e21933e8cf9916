internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCFleet
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportPages
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// A report on a fleet as text, JSON and figures.
struct FleetView {
    let report: FleetReport
    let now: Timestamp
    /// True if files that say nothing, and that anyone who may write there can have put there, are known.
    let knowsJunk: Bool

    // Of files that are named in text; `--json` has more.
    private static let fileLimit = 20

    /// The problems that end the run with an error, the gravest first.
    var problems: [FleetProblem] {
        let stale = names { !$0.isDisjoint(with: [.absent, .late]) }
        let shrunk = names { $0.contains(.shrunk) }
        return (stale.isEmpty ? [] : [.stale(stale, absent: report.count(.absent))])
            + (shrunk.isEmpty ? [] : [.shrunk(shrunk)])
    }

    /// The other problems, in a sentence; nil if there are none.
    var doubt: String? {
        fleetDoubt(
            names { !$0.isSubset(of: [.absent, .late, .shrunk]) },
            rejected: report.rejectedCount - (knowsJunk ? report.junkCount : 0))
    }

    private func names(_ isIn: (Set<FleetReport.State>) -> Bool) -> [String] {
        report.machines.filter { isIn(Set($0.states)) }.map(\.title)
    }

    /// The lines of text: the machines with which something is wrong, or all, and how many there are.
    func lines(in session: Session) -> [String] {
        var table = Table([
            Table.Column(title: "MACHINE", least: 12), Table.Column(title: "STATE", least: 12, isWhole: true),
            Table.Column(title: "REPORTED", yields: 4, zone: session.zones), Table.Column(title: "AGE"),
            Table.Column(title: "LAST GOOD", yields: 3), Table.Column(title: "ITEMS", alignment: .right, yields: 2),
            // A machine that has no name is named by it.
            Table.Column(title: "DEVICE", yields: 1),
        ])
        for machine in report.machines where !machine.states.isEmpty || session.style.isVerbose {
            table.append([
                machine.name ?? machine.device.description,
                words(of: machine),
                machine.reported.map { session.calendar.minute($0) } ?? "never",
                machine.reported.map { age($0, at: now) } ?? "-",
                machine.good.map { age($0, at: now) } ?? "never", machine.itemWords,
                machine.name == nil ? "" : machine.device.description,
            ])
        }
        let files = report.rejected.prefix(Self.fileLimit).map {
            "\(displayed($0.file)): \($0.problem.words)\n"
        }
        let more = report.rejectedCount - files.count
        let counts = FleetReport.State.allCases.map { ($0, report.count($0)) }.filter { $0.1 > 0 }
        let summary: [String] =
            [counted(report.machines.count, "machine"), "\(report.goodCount) well"]
            + (report.unheardCount == 0 ? [] : ["\(report.unheardCount) \(FleetPage.unheard)"])
            + counts.map { "\($0.1) \($0.0.rawValue)" }
        return (table.isEmpty ? [] : table.lines(width: session.tableWidth)) + files
            + (more > 0 ? ["… and \(counted(more, "more file", plural: "more files"))\n"] : [])
            + ["\(summary[0]): \(summary.dropFirst().joined(separator: ", "))\n"]
    }

    private func words(of machine: FleetReport.Machine) -> String {
        if machine.isUnheard { return FleetPage.unheard }
        if machine.isWell { return FleetPage.well }
        return machine.states.map { words($0, of: machine) }.joined(separator: ", ")
    }

    private func words(_ state: FleetReport.State, of machine: FleetReport.Machine) -> String {
        guard state == .clock, let skew = machine.skew else { return state.rawValue }
        return "clock \(skew > 0 ? "+" : "-")\(abs(skew) / 60) min"
    }

    /// The JSON object of `fleet status`.
    var json: JSONValue {
        [
            "days": .list(report.days.map { .text($0.description) }), "serverTimes": .flag(report.hasServerTimes),
            "machines": .each { [report] body in for machine in report.machines { try body(machine.json) } },
            "rejected": .list(
                report.rejected.map { ["file": .text($0.file), "problem": .text($0.problem.words)] }),
            "rejectedCount": .number(report.rejectedCount), "junkCount": .number(report.junkCount),
        ]
    }

    /// The machines as a page lists them: those to look at first.
    private var gravestFirst: [FleetReport.Machine] {
        let (bad, well) = (report.machines.filter { !$0.states.isEmpty }, report.machines.filter(\.states.isEmpty))
        return FleetReport.State.allCases.flatMap { state in bad.filter { $0.states.first == state } } + well
    }

    /// The page for a browser.
    func page(of folder: RemoteLocation, _ calendar: LocalCalendar) -> FleetPage {
        let (first, last) = (report.days.first, report.days.last)
        let days = first == last ? first?.description : first.map { "\($0) to \(last?.description ?? "")" }
        return FleetPage(
            folder: folder.text, days: (days ?? "no day") + " (UTC)", machines: gravestFirst.map(\.pageMachine),
            states: FleetReport.State.allCases.map(\.rawValue),
            rejected: report.rejected.map { ($0.file, $0.problem.words) }, rejectedCount: report.rejectedCount,
            hasServerTimes: report.hasServerTimes, made: now, calendar: calendar)
    }

    /// The metrics in Prometheus's text format.
    var metrics: [String] {
        func metric(_ name: String, _ help: String, _ values: [(labels: String, value: Int64)]) -> [String] {
            ["# HELP \(name) \(help)\n", "# TYPE \(name) gauge\n"]
                + values.map { "\(name)\($0.labels.isEmpty ? "" : "{\($0.labels)}") \($0.value)\n" }
        }
        func labels(_ machine: FleetReport.Machine) -> String {
            "machine=\"\(Quoted.metricLabel(machine.name ?? ""))\",device=\"\(machine.device)\""
        }
        let states = FleetReport.State.allCases.map { ("state=\"\($0.rawValue)\"", Int64(report.count($0))) }
        return metric(
            "kcbackup_fleet_machines", "Machines that are expected or reported.",
            [("", Int64(report.machines.count))])
            + metric(
                "kcbackup_fleet_machines_in_state", "Machines in a state; one may be in several.",
                [
                    ("state=\"well\"", Int64(report.goodCount)),
                    ("state=\"\(FleetPage.unheard)\"", Int64(report.unheardCount)),
                ] + states)
            + metric(
                "kcbackup_fleet_rejected_files", "Files among the receipts that cannot be believed or read.",
                [("", Int64(report.rejectedCount))])
            + metric(
                "kcbackup_fleet_last_report_timestamp_seconds", "Newest receipt of a machine; 0 for none.",
                report.machines.map { (labels($0), $0.reported?.seconds ?? 0) })
            + metric(
                "kcbackup_fleet_last_good_timestamp_seconds",
                "Last good run of the job of a machine that is longest without one; 0 for none.",
                report.machines.map { (labels($0), $0.good?.seconds ?? 0) })
            + metric(
                "kcbackup_fleet_items", "Items in the newest archives of a machine.",
                report.machines.filter { !$0.jobs.isEmpty }.map { machine in
                    (labels(machine), Int64(machine.jobs.reduce(0) { $0 + $1.items }))
                })
    }
}

extension FleetReport.Machine {
    /// The machine's name in a sentence.
    fileprivate var title: String { name ?? device.description }

    /// The machine as the page shows it.
    fileprivate var pageMachine: FleetPage.Machine {
        let items = jobs.isEmpty ? nil : jobs.reduce(0) { $0 + $1.items }
        let before = jobs.reduce(0) { $0 + ($1.before ?? $1.items) }
        return FleetPage.Machine(
            name: title, device: device.description, states: states.map(\.rawValue), reported: reported, good: good,
            items: items, before: items == before || items == nil ? nil : before,
            verified: jobs.compactMap(\.verified).min(),
            jobs: jobs.map { $0.result == 0 ? $0.name : "\($0.name) (\($0.result))" }.joined(separator: ", "))
    }

    /// The items of all its jobs, and those in the receipts before, if they differ.
    fileprivate var itemWords: String {
        if jobs.isEmpty { return "" }
        let (items, before) = (jobs.reduce(0) { $0 + $1.items }, jobs.reduce(0) { $0 + ($1.before ?? $1.items) })
        return items == before ? String(items) : "\(before) → \(items)"
    }

    /// The JSON object "machine".
    fileprivate var json: JSONValue {
        .members([
            ("device", .text(device.description)), ("name", name.map { .text($0) }),
            ("states", .list(states.map { .text($0.rawValue) })),
            ("reported", reported.map { .text($0.description) }), ("good", good.map { .text($0.description) }),
            ("clockAhead", skew.map { .number(Int($0)) }), ("receipts", .number(receipts)),
            (
                "runs",
                .list(
                    jobs.map { job in
                        .members([
                            ("job", .text(job.name)), ("code", .number(Int(job.result))),
                            ("items", .number(job.items)), ("itemsBefore", job.before.map { .number($0) }),
                            ("archives", .number(job.archives)), ("size", .number(Int(clamping: job.size))),
                            ("verified", job.verified.map { .text($0.description) }),
                        ])
                    })
            ),
        ])
    }
}

extension FleetReport.Problem {
    /// The problem in a few words.
    fileprivate var words: String {
        switch self {
        case .name: "not the name of a receipt"
        case .surplus: "one of too many of devices that no list names"
        case .surplusOfMachine: "one of too many of this machine in a day"
        case .receipt(.tooLarge): "too large for a receipt"
        case .receipt(.malformed(let rule)): "signed, but not a receipt that this version reads: \(rule)"
        case .receipt(.forged): "no valid signature"
        case .receipt(.otherSigner(let device)): "signed by another device, \(device)"
        case .receipt(.otherName(let name)): "a copy of \(name.day)/\(name)"
        case .receipt(.unread): "could not be read"
        case .receipt(.cryptography): "its signature could not be checked"
        }
    }
}
