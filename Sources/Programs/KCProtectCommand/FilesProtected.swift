internal import KCAgeEncryption
internal import KCAgePlugins
internal import KCBackupTasks
internal import KCByteStreams
internal import KCFileProtection
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension ProtectFilesCommand {
    func perform(in session: Session) throws -> ExitStatus {
        let others = try others(in: session)
        let plan = try ProtectionPlan(files, keychain.keychain, in: session)
        let place = try `class`.place(keychain, in: session)
        try plan.requireKey(of: place, hasOthers: !others.isEmpty)
        if dryRun {
            try place.open(keychain.passcode, in: session.context)
        } else {
            let identity = try place.identity(keychain.passcode, in: session.context)
            try plan.run(for: [MarkedRecipient(identity)] + others, in: session)
        }
        let lines = plan.files.map { file, earlier, isDone in
            "\(isDone ? "was " : dryRun ? "would be " : "")protected: "
                + "\(displayedPath(isDone ? file.path : file.protectedPath)) (\((earlier ?? place).protection))"
        }
        if !dryRun { for line in lines { session.note(line) } }
        if others.isEmpty { session.note(loss) }
        if case .keychain(let local, let keychain, _) = place, !keychain.hasPasscode {
            session.note("keychain \(quoted(local.name)) has no passcode, so this device alone opens every class")
        }
        try session.result(
            [
                "files": .list(
                    plan.files.map { file, earlier, isDone in
                        (earlier ?? place).json(
                            path: isDone ? file.path : file.protectedPath,
                            dryRun && !isDone ? .wouldBeProtected : .protected)
                    })
            ], dryRun ? lines.map { $0 + "\n" } : [])
        return .ok
    }

    /// The further keys, each once, which can share a file with the key of a class.
    ///
    /// - Throws: `AgeFailure`, also for what would stop the encryption of the first file.
    private func others(in session: Session) throws -> [any Recipient] {
        let given = GivenRecipient.once(
            try alsoTo.map { try GivenRecipient.parse($0, plugins: session.context.plugins) })
        for case .plugin(let recipient) in given { _ = try session.context.plugins.path(of: recipient.plugin) }
        if given.contains(where: { $0.isPostQuantum == true }) { throw AgeFailure.incompatibleRecipients }
        return given.map(\.recipient)
    }

    private var loss: String {
        "if this device \(`class` == .none ? "" : "or the keychain ")is lost, so are these files: "
            + "'\(OptionName.alsoTo.spelling) RECIPIENT' adds a key that is kept elsewhere"
    }
}

/// The state of a file according to `protect status`, and what `protect` and `unprotect` did with it.
enum ProtectionState: String {
    /// The file can be opened now.
    case open
    /// Its key is in a keychain that is locked.
    case locked
    /// A run was killed before the file got its name.
    case unnamed
    /// Another device, or a keychain that is not here, has the key.
    case elsewhere
    /// No key was found, and a keychain that may have it does not open.
    case unknown
    /// The file is not protected.
    case clear
    case protected
    case wouldBeProtected = "would-be-protected"
    case unprotected
    case wouldBeUnprotected = "would-be-unprotected"
}

extension FileKeyPlaces.Place {
    /// The JSON object "protected file".
    func json(path: String, _ state: ProtectionState) -> JSONValue {
        .members([
            ("path", .text(path)), ("state", .text(state.rawValue)), ("class", .text(protection.description)),
            ("keychain", keychain.map { .text($0.name) }),
        ])
    }
}
