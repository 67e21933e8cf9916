internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `doctor REMOTE:PATH`: what somebody with the credentials of this machine could do to the copies in a folder.
struct RemoteExamination {
    private let location: RemoteLocation
    private let session: Session

    // Where nothing can be deleted, each run would leave another one.
    private static let name = "kcbackup-canary.txt"

    /// - Throws: `UsageProblem.malformed`.
    init(_ remote: String, in session: Session) throws {
        guard let location = RemoteLocation(remote) else {
            throw UsageProblem(
                "\(quoted(remote)) is not \(RemoteLocation.form)",
                hint: "'kcbackup doctor' without it checks all jobs, and 'kcbackup status' shows their last backups")
        }
        self.location = location
        self.session = session
    }

    /// Tries it, and reports what was found.
    ///
    /// - Throws: `RemoteFailure`, `FileFailure`, `CryptographyFailure`.
    func run() throws -> ExitStatus {
        let folder = try session.machine.remoteFolder(location)
        try Path.makeFolder(session.machine.dataFolder.path)
        let staging = try StagingFolder(in: session.machine.dataFolder.path)
        func file(_ name: String, _ text: String) throws -> OpenFile {
            let path = "\(staging.path)/\(name)"
            try PrivateFile.create(path, text.utf8.span)
            return try OpenFile.reading(path)
        }
        let findings = try withExtendedLifetime(staging) {
            try RemoteCanary(name: Self.name, in: folder).run(
                file("first", "A file of 'kcbackup doctor', which may be deleted.\n"), file("second", "Replaced.\n"))
        }
        try session.result(json(findings), table(findings).lines(width: session.tableWidth))
        if !findings.left.isEmpty {
            session.note("left there: \(findings.left.map { quoted($0) }.joined(separator: ", "))")
        }
        let what = "whoever takes over this machine"
        if findings.canDestroy, findings.versions == nil {
            session.warn(
                "\(what) can replace or delete the copies in \(quoted(location.text)), and whether earlier versions are kept is "
                    + "not known")
        } else if findings.canDestroy {
            session.warn("\(what) can destroy the copies in \(quoted(location.text))")
        } else {
            session.note("\(what) cannot destroy the copies in \(quoted(location.text))")
        }
        return .ok
    }

    private func table(_ findings: RemoteCanary.Findings) -> Table {
        var table = Table([Table.Column(title: "WITH THIS MACHINE'S CREDENTIALS", least: 20), Table.Column(title: "")])
        func add(_ what: String, _ answer: Bool) { table.append([what, answer ? "yes" : "no"]) }
        add("a copy can be replaced", findings.canReplace)
        add("a copy can be deleted", findings.canDelete)
        guard let versions = findings.versions else {
            table.append(["earlier versions are kept", "not known"])
            return table
        }
        add("earlier versions are kept", versions.areKept)
        if versions.areKept {
            add("an earlier version can be deleted", versions.canDelete)
            add("keeping versions can be switched off", versions.canSwitchOff)
        }
        return table
    }

    private func json(_ findings: RemoteCanary.Findings) -> JSONValue {
        .members([
            ("remote", .text(location.text)), ("canReplace", .flag(findings.canReplace)),
            ("canDelete", .flag(findings.canDelete)),
            ("keepsVersions", findings.versions.map { .flag($0.areKept) }),
            ("canDeleteVersions", findings.versions.map { .flag($0.canDelete) }),
            ("canSwitchVersionsOff", findings.versions.map { .flag($0.canSwitchOff) }),
            ("canDestroy", .flag(findings.canDestroy)), ("left", .list(findings.left.map { .text($0) })),
        ])
    }
}
