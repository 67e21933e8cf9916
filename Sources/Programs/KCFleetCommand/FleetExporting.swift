internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCFleet
internal import KCFleetIndex
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension FleetExportCommand {
    func perform(in session: Session) throws -> ExitStatus {
        let path = try indexPath(index, nil, in: session)
        let shard = try part.shard()
        let target = try LinesTarget(output, in: session)
        let lines = target.lines
        let day = on ?? session.calendar.day(session.now)
        let end = try on.map { day throws(UsageProblem) in
            guard let end = session.calendar.end(ofDay: day) else {
                throw .malformed(.on, form: "a day such as '2026-10-03'")
            }
            return end
        }
        let index = try FleetIndex.opening(path)
        var (items, keychains) = (0, 0)
        try lines.make { write in
            keychains = try index.visitItems(before: end, of: shard) { item in
                try write(item.line(on: day))
                items += 1
            }
            // A part may have no machine.
            if keychains == 0, shard == nil {
                throw Refusal(
                    .notFound, "no archive in the index is that old",
                    hint: "'kcbackup fleet index' adds the archives that the folder of the fleet has")
            }
        }
        try target.finish()
        let unread = try index.counts().unread
        if unread > 0 {
            session.warn(
                "\(counted(unread, "archive")) of the fleet could not be read, and \(unread == 1 ? "is" : "are") not in it"
            )
        }
        if case .standard = lines { return .ok }
        session.done = "\(displayed(output)): \(counted(items, "item"))"
        try session.result(
            [
                "index": .text(self.index), "file": .text(output), "day": .text(day), "items": .number(items),
                "keychains": .number(keychains), "unread": .number(unread),
            ],
            ["\(counted(items, "item")) of \(counted(keychains, "keychain")) in \(quoted(output))\n"])
        return .ok
    }
}

/// Where lines go: a new file here, standard output, or a new file on a remote, which is made here first.
private struct LinesTarget {
    let lines: LinesOutput
    private let staging: StagingFolder?
    private let upload: (() throws -> Void)?

    /// - Throws: as `LinesOutput`, `Machine.remoteFolder`, and `FileFailure`.
    init(_ output: String, in session: Session) throws {
        guard let location = RemoteLocation(output) else {
            (lines, staging, upload) = (try LinesOutput(output, .output, in: session), nil, nil)
            return
        }
        guard let folder = location.folder, !location.name.isEmpty else {
            throw UsageProblem.malformed(.output, form: "a file on a remote, as in 'lake:names/part-1.jsonl.gz'")
        }
        let remote = try session.machine.remoteFolder(folder)
        let staging = try StagingFolder(inTemporaryFolder: session.machine.temporaryFolder)
        let path = "\(staging.path)/\(location.name)"
        lines = try LinesOutput(path, .output, in: session)
        upload = { _ = try remote.put(OpenFile.reading(path)) }
        self.staging = staging
    }

    /// Copies the file to the remote, where one of its name that is the same counts as the copy.
    ///
    /// - Throws: as `RemoteFolder.put`.
    func finish() throws { try withExtendedLifetime(staging) { try upload?() } }
}

extension FoundItem {
    /// A line of `fleet export`: as flat as a row of a table.
    fileprivate func line(on day: String) -> JSONValue {
        .members([
            ("day", .text(day)), ("device", .text(device.description)), ("machine", machine.map { .text($0) }),
            ("kind", .text(sourceKind)), ("keychain", .text(sourceName)), ("class", .text(itemClass.rawValue)),
            ("uuid", .text(uuid.description)), ("service", service.map { .text($0) }),
            ("server", server.map { .text($0) }), ("account", account.map { .text($0) }),
            ("label", label.map { .text($0) }), ("group", .text(group)),
            ("accessibility", .text(accessibility.rawValue)), ("created", .text(created.description)),
            ("modified", .text(modified.description)), ("seen", .text(seen.description)),
        ])
    }
}
