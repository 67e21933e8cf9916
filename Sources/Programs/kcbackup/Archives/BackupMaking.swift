internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCHomeFiles
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

extension Session {
    /// Refuses a clock that an archive cannot tell.
    func requireClock() throws(Refusal) {
        // The date of a tar member is 11 octal digits of seconds since 1970.
        guard (0..<(1 << 33)).contains(now.seconds) else {
            throw Refusal(
                .refused, "the clock says \(calendar.day(now)), and an archive can hold dates from 1970 to 2241",
                hint: "set the clock, and try again")
        }
    }
}

extension BackupRequest {
    /// The public keys, before anything is asked for; nil for an unencrypted archive.
    ///
    /// - Throws: as `ArchiveKeyRequest.recipients` and `ArchiveKeyRequest.requirePassphrase`.
    func recipients(in session: Session) throws -> GivenRecipients? {
        guard let keys else { return nil }
        let given = try keys.recipients(in: session)
        try keys.requirePassphrase(in: session)
        return given
    }

    /// Makes the archive of an open source: an encrypted one with `keys`, an unencrypted one without.
    func make(
        _ backup: CreateBackup, of source: any ReadableStore, with keys: ArchiveKeys?, in session: Session
    ) throws -> CreateReport {
        guard let keys else {
            let stored = try source.stored(LocalDevice(session.machine).key())
            let progress = try Progress("archiving items", in: session, itemsOf: source.itemCount)
            defer { progress.finish() }
            return try backup.unencrypted(stored, step: progress.step)
        }
        let progress = try Progress("archiving items", in: session, itemsOf: source.itemCount)
        var bound: [Item] = []
        let report = try backup.encrypted(
            source, with: keys, isOfMachine: \.isOfOneMachine,
            bound: { if session.style.isVerbose { bound.append($0) } }, step: progress.step)
        progress.finish()
        session.note(each: wordsApart(bound)) { _ in Remark("only on this device") }
        return report
    }

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
