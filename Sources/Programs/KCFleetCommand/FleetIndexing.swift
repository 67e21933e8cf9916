internal import KCBackupTasks
internal import KCByteStreams
internal import KCFleet
internal import KCFleetIndex
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension FleetIndexCommand {
    func perform(in session: Session) throws -> ExitStatus {
        guard let location = RemoteLocation(folder) else { throw FleetProblem.notARemote }
        let path = try indexPath(output, .output, in: session)
        try keys.check(with: [])
        let members = try membership.members(in: session)
        if members.devices.isEmpty {
            throw Refusal(
                .refused, "no list says whose archives count",
                hint: "name the machines with '\(OptionName.inventory.spelling) FILE', or their keys with "
                    + "'\(OptionName.signers.spelling) FILE'")
        }
        let identities = try keys.identity.flatMap {
            try session.context.heldIdentities(in: $0, passphrase: keys.identityPassphrase)
        }
        let temporaryFolder = session.machine.temporaryFolder
        let fleet = try FleetFolder(location, session.machine.rclone(), temporaryFolder: temporaryFolder)
        let index = try FleetIndex.opening(path, creating: true)
        let indexer = FleetIndexer(
            fleet, members, identities: identities, index: index, temporaryFolder: temporaryFolder, now: session.now,
            shard: try part.shard())
        var report = FleetIndexReport()
        var progress: Progress?
        try session.machine.blamingTemporaryFolder {
            try indexer.run(into: &report) { total in
                if progress == nil { progress = Progress("reading archives", of: UInt64(total), in: session) }
                progress?.step()
            }
        }
        progress?.finish()
        return try tell(report, try index.counts(), location, session)
    }

    private func tell(
        _ report: FleetIndexReport, _ counts: FleetIndex.Counts, _ location: RemoteLocation, _ session: Session
    ) throws -> ExitStatus {
        if report.listed == 0, report.strangeCount == 0 {
            throw Refusal(
                .notFound, "there is no archive in \(quoted(location.appending("archives").text))",
                hint: "'rclone lsf \(shellWord(location.text))' shows what the folder of the fleet has")
        }
        if counts.read == 0, counts.closed > 0, counts.closed == counts.unread {
            throw Refusal(
                .wrongKey, "no identity opens any of \(counted(counts.closed, "archive"))",
                hint: "give that of a recipient of the archives with '\(OptionName.identity.spelling) FILE'")
        }
        let view = FleetIndexView(report: report, unread: counts.unread, path: output)
        session.done = report.added > 0 ? "\(counted(report.added, "archive")) added to the index" : nil
        try session.result(view.json, view.lines)
        if let failure = report.failure, !report.unfetched.isEmpty { session.warn(explainRemote(failure).message) }
        guard let doubt = view.doubt else { return .ok }
        session.warn(doubt)
        return .incomplete
    }
}

/// The path of an index.
///
/// - Throws: `UsageProblem` for an empty name, and for the name of another kind of store.
func indexPath(_ given: String, _ option: OptionName?, in session: Session) throws -> String {
    if given.isEmpty { throw option.map { UsageProblem.empty($0) } ?? UsageProblem("the name of the index is empty") }
    if RemoteLocation(given) != nil {
        throw UsageProblem(
            "an index is a file on this machine, and \(quoted(given)) is not one",
            hint: "for a file with a colon in its name, type './NAME'")
    }
    return session.machine.resolve(given)
}
