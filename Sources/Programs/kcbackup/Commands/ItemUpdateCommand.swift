internal import ArgumentParser
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains

/// `kcbackup item update`.
struct ItemUpdateCommand: Verb {
    static let mainOptions: [OptionName] = [.service, .account, .secret]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change attributes or the secret of items.",
        discussion: """
            All matching items are changed, in one transaction. If there are several, they are listed, and you are \
            asked first. 'kcbackup undo' takes it back.

            EXAMPLES:
              kcbackup item update --service "Home Wi-Fi" --account ada --secret tty
              kcbackup item update --service forum --account ada --generate
              kcbackup item update --server mail.example.org --set port=993
              kcbackup item update --service bank --set accessibility=AfterFirstUnlock \\
                --remove comment
            """)

    @OptionGroup
    var conditions: QueryOptions

    @Option(
        name: OptionName.set.name,
        help: ArgumentHelp(
            "The new value of an attribute: NAME=VALUE, or NAME:base64=VALUE for bytes.", valueName: "name=value"))
    var set: [String] = []

    @Option(name: OptionName.remove.name, help: ArgumentHelp("An attribute to remove.", valueName: "name"))
    var remove: [String] = []

    @OptionGroup
    var secret: SecretOptions

    @OptionGroup
    var making: GenerateOptions

    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the change.")
    var noUndo = false

    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let query = try conditions.condition()
        let changes = try changes()
        let length = try making.wantedLength()
        if length != nil, secret.isGiven {
            throw UsageProblem.together(.generate, secret.secret == nil ? .secretFile : .secret)
        }
        if changes.isEmpty, !secret.isGiven, length == nil { throw UsageProblem.noChange }
        if let keyring = try session.desktopKeyring(keychain.keychain) {
            let client = try keyring.connect(unlocking, passcode: keychain.passcode, in: session)
            let update = DesktopUpdate(
                keyring, client, changes, secret, length, isConfirmed: yes, keepsState: !noUndo, in: session)
            return try update.run(conditions.filter())
        }
        if unlocking.unlock { throw UsageProblem.needsDesktop(.unlock) }
        let store = try keychain.open(in: session)
        let matches = try store.find(query)
        if matches.items.isEmpty, matches.damaged == 0 { throw KeychainStoreError.itemNotFound }
        if length != nil, matches.items.count > 1 { throw UsageProblem.generatedForSeveral(matches.items.count) }
        if matches.items.count > 1 {
            if !yes, session.world.terminal.isAttended {
                session.list(matches.items) { _, words in "to be changed: \(words)" }
            }
            try session.confirm("Change \(matches.items.count) items?", isGiven: yes)
        }
        try keychain.unlock(store, in: session)
        let isPublic = matches.items.allSatisfy { $0.itemClass == .certificate }
        let value =
            if let length {
                try GeneratedPassword.make(length: length) as SecretBytes?
            } else {
                try secret.read(isPublic: isPublic, in: session)
            }
        let updated = try StateKeeper.changing(store, .itemUpdate, isKept: !noUndo, in: session) { writer in
            // Change exactly the items that were counted and confirmed.
            try matches.items.flatMap { item in
                let updated = try writer.update(
                    matching: ItemQuery(item), set: changes, secret: value, now: session.now)
                // An item that another program made synchronizable in name only may still be changed in other ways.
                if !item.isSynchronizableInNameOnly { for item in updated { try item.requireMeaningfulFlag() } }
                return updated
            }
        }
        session.done = "\(counted(updated.count, "item")) changed"
        for words in wordsApart(updated) { session.note("changed: \(words)") }
        session.warn(ofUnbound: zip(matches.items, updated).count { $0.isBound && !$1.isBound })
        if let length {
            session.noteGenerated(length, "\(OptionName.uuid.spelling) \(updated.first?.uuid.description ?? "")")
        }
        session.noteUndo(keychain.keychain)
        if style.json { try session.result(["items": .list(updated.map { .item($0) })], []) }
        return session.status(ofDamaged: matches.damaged)
    }

    private func changes() throws -> [AttributeCode: AttributeValue?] {
        var changes: [AttributeCode: AttributeValue?] = [:]
        for word in set {
            let assignment = try AttributeAssignment(word, of: .set)
            guard changes[assignment.code] == nil else { throw UsageProblem.attributeTwice(assignment.code) }
            changes.updateValue(assignment.value, forKey: assignment.code)
        }
        for word in remove {
            let code = try AttributeAssignment.code(word)
            guard changes[code] == nil else { throw UsageProblem.attributeTwice(code) }
            changes.updateValue(nil, forKey: code)
        }
        return changes
    }
}

extension Session {
    /// Says that items are bound to this device no longer, which a new accessibility does without another flag.
    func warn(ofUnbound count: Int) {
        if count == 0 { return }
        let (was, them) = count == 1 ? ("was", "it") : ("were", "them")
        warn(
            "\(counted(count, "item")) \(was) ThisDeviceOnly: from now on, backups of \(them) open on any device, and "
                + "exports contain \(them)")
    }
}

extension Item {
    /// True if only this device opens it.
    fileprivate var isBound: Bool { binding.isThisDeviceOnly }
}
