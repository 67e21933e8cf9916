internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension BackupRequest {
    /// Names the items that are not in the archive.
    ///
    /// - Parameter told: the number of items that were named when the source was opened.
    func warn(of report: CreateReport, told: Int, _ session: Session) {
        session.warn(each: report.damaged.dropFirst(told).map { $0?.words ?? "an unreadable item" }) { _ in
            Remark("not in the archive, since it cannot be read")
        }
        session.note(each: report.omitted.map(\.words)) { _ in Remark("in no archive") }
    }

    /// Returns the line that tells where the archive can be restored and what cannot be restored elsewhere; nil if nothing is
    /// in it, and nothing was omitted.
    ///
    /// - Parameter keys: the public keys that open the archive; nil for an unencrypted one.
    func travelWords(_ report: CreateReport, _ keys: GivenRecipients?) -> String? {
        let count = report.omitted.count
        let left = count == 0 ? nil : "\(counted(count, "item")) in no archive (WhenPasscodeSetThisDeviceOnly)"
        if report.contents.counts.total == 0 { return left }
        let omitted = left.map { "; \($0)" } ?? ""
        if isUnencrypted {
            return "restores on this device only; anyone can read names and dates, and only this device opens secrets"
                + omitted
        }
        if keys?.reach == .thisDevice { return "opens on this device alone, since no other has a key of it" + omitted }
        let (bound, ofMachine) = (report.boundToThisDevice, report.ofThisMachine)
        let apart = [
            bound == 0 ? nil : "\(counted(bound, "ThisDeviceOnly item")) only here",
            ofMachine == 0
                ? nil
                : "\(counted(ofMachine, "credential")) encrypted for this machine "
                    + "\(ofMachine == 1 ? "opens" : "open") only here",
        ]
        let words = apart.compactMap { $0 }
        let condition = keys.flatMap { $0.reach.condition(keys: $0.opening.count) }
        let device = "any device" + (condition.map { " that \($0)" } ?? "")
        let travel = [words.isEmpty ? "all of it restores on \(device)" : "restores on \(device)"] + words
        return travel.joined(separator: ", ") + omitted
    }
}
