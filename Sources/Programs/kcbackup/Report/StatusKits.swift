internal import KCBackupTasks
internal import KCKeychainModel
internal import KCRecoveryKits
internal import KCReportText
internal import KCTerminal

/// The recovery kits that backups are made for, as `status` shows them.
struct StatusKits {
    /// The kits that are not retired, oldest first; none if the list cannot be read.
    let kits: [RecoveryKit]
    /// Why the list cannot be read.
    let failure: Failure?

    init(in session: Session) {
        do {
            kits = try session.machine.recoveryKits().filter { $0.retired == nil }
            failure = nil
        } catch {
            kits = []
            failure = session.failure(of: error)
        }
    }

    /// The table; nothing if there are no kits.
    func lines(in session: Session) -> [String] {
        var table = Table([
            Table.Column(title: "KIT", least: 9), Table.Column(title: "MADE", yields: 1),
            Table.Column(title: "LAST CHECKED", yields: 2), Table.Column(title: "AGE"),
            Table.Column(title: "COMMENT", least: 8, isWhole: true, yields: 3),
        ])
        for kit in kits {
            table.append([
                kit.fingerprint, session.calendar.day(kit.made), kit.checkedWords(session),
                kit.checked.map { age($0, at: session.now) } ?? "-", kit.comment,
            ])
        }
        return table.isEmpty ? [] : table.lines(width: session.tableWidth) + ["\n"]
    }

    /// The lines of Prometheus's text format; nothing if there are no kits.
    var metrics: [String] {
        if kits.isEmpty { return [] }
        let name = "kcbackup_recovery_kit_last_checked_timestamp_seconds"
        return [
            "# HELP \(name) When a recovery kit was last typed in and found right; 0 for never.\n",
            "# TYPE \(name) gauge\n",
        ] + kits.map { "\(name){kit=\"\($0.fingerprint)\"} \($0.checked?.seconds ?? 0)\n" }
    }
}
