internal import ArgumentParser
internal import KCAgeEncryption
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRecoveryKits
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup recovery check`.
struct RecoveryCheckCommand: Verb {
    static let mainOptions: [OptionName] = [.identity]

    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Type a recovery kit in, and prove that it is legible and opens archives.",
        discussion: """
            For a split kit, only the shares that you type are checked: check each in turn. Each line is checked as it \
            is typed; a wrong one is asked for again. Each archive is read to its last byte, and nothing is written \
            but the date of the check. Without an archive, the key is compared with the public keys of this device's \
            kits.

            Do this when a kit is printed, and once a year. On another machine, name an archive.

            EXAMPLES:
              kcbackup recovery check
              kcbackup recovery check nas:backups
            """)

    @Argument(
        help: ArgumentHelp("Archives that the kit should open.", valueName: "archive"),
        completion: .file(extensions: ["kcb"]))
    var archives: [String] = []

    @Option(
        name: OptionName.identity.name,
        help: ArgumentHelp("A file with the key, instead of typing it.", valueName: "file"), completion: .file())
    var identity = TaskContext.typedIdentity

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if archives.contains(where: \.isEmpty) { throw UsageProblem.emptyArchive }
        if identity.isEmpty { throw UsageProblem.empty(.identity) }
        try requireOneInput(archives + [identity], [])
        // Before a kit is typed in vain.
        for archive in archives {
            if case .file(let path) = try session.machine.archivePlace(archive).kind, try !Path.exists(path) {
                throw FileFailure(archive, .notFound)
            }
        }
        let local = LocalDevice(session.machine)
        let kits = try local.keyIfAny().map { LocalKits(of: $0, at: local) }
        let known = try kits?.list() ?? []
        let keys = try session.context.nativeIdentities(in: identity, passphrase: nil)
        // A typed kit is one key, though of shares it may be one of two kinds.
        guard keys.count == 1 || identity.exact == TaskContext.typedIdentity.exact else { throw KitProblem.severalKeys }
        let kit = known.first { kit in keys.contains { $0.recipient == kit.recipient } }
        if kit == nil, archives.isEmpty { throw KitProblem.otherKey(kits: known.count) }
        var results: [JSONValue] = []
        var isDamaged = false
        let status = try session.forEach(archives, named: \.self) { archive in
            let report = try check(archive, keys, session)
            let total = report.contents.counts.total
            let opened = "opens \(quoted(archive)): \(counted(total, "item")), \(report.opened) of them here"
            session.note(opened)
            results.append(
                .members([
                    ("path", .text(archive)), ("items", .number(total)), ("opened", .number(report.opened)),
                ]))
            session.warn(each: report.broken.map(\.words)) { _ in Remark("damaged before the archive was made") }
            isDamaged = isDamaged || !report.broken.isEmpty
            return .ok
        }
        guard status == .ok else { return status }
        if let kit, let kits {
            let checked = try kits.change { list -> RecoveryKit in
                guard let index = list.firstIndex(where: { $0.recipient == kit.recipient }) else {
                    throw KitProblem.otherKey(kits: list.count)
                }
                list[index].check(at: session.now, shares: session.typedShares)
                return list[index]
            }
            tell(checked, in: session)
            try session.result(
                ["kit": checked.json(at: session.now), "archives": .list(results)], [])
        } else {
            session.note("the key is that of no kit of this device, so no date is kept")
            try session.result(["archives": .list(results)], [])
        }
        return isDamaged ? .incomplete : .ok
    }

    /// Says what was found right; of shares, only those that were typed.
    private func tell(_ kit: RecoveryKit, in session: Session) {
        guard kit.shares != nil else { return session.noteDone("recovery kit \(kit.fingerprint) is right") }
        let typed = session.typedShares.sorted()
        session.noteDone(
            typed.isEmpty
                ? "the key of recovery kit \(kit.fingerprint) is right; none of its shares was typed in"
                : "\(shareWords(typed)) of recovery kit \(kit.fingerprint) \(typed.count == 1 ? "is" : "are") right")
        let rest = kit.untriedShares
        if !rest.isEmpty {
            session.note(
                "\(shareWords(rest)) \(rest.count == 1 ? "was" : "were") never typed in: check that together with others"
            )
        }
    }

    /// Reads an archive to its last byte with the key alone.
    private func check(_ archive: String, _ keys: [NativeIdentity], _ session: Session) throws -> VerifyReport {
        let opener = ArchiveOpener(in: session.context)
        let found = try opener.find(archive)
        if found.file.header.mode == .unencrypted { throw KitProblem.unencrypted(archive: found.path) }
        let proven = try opener.prove(found) { genuine in
            let opened = try genuine.open(identities: keys)
            guard opened.opensSecrets else { throw KitProblem.opensMetadataAlone(archive: found.path) }
            return opened
        }
        let progress = Progress("verifying items", in: session, reading: proven.opened, 1, metadata: 0)
        defer { progress.finish() }
        return try proven.verify { progress.step() }
    }
}
