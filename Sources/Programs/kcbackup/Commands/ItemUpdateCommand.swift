internal import ArgumentParser
internal import KCByteStreams
internal import KCConsole
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCPasscodeStrength
internal import KCReportText
internal import KCSecretService
internal import KCTerminal

/// `kcbackup item update`.
struct ItemUpdateCommand: Verb {
    static let mainOptions: [OptionName] = [.service, .account, .secret]

    static let otherOptions: [OptionName]? = [
        .keychain, .server, .label, .set, .secretFile, .generate, .passcode, .yes, .noUndo,
    ]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change attributes or the secret of items.",
        discussion: """
            All matching items are changed, in one transaction where the store has them. If there are several, they are listed, and you are \
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

    @OptionGroup
    var change: ChangeOptions

    @OptionGroup
    var location: LocationOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        guard let filter = try conditions.filter() else { throw UsageProblem.noCondition }
        let changes = try changes()
        let length = try making.wantedLength()
        if length != nil, secret.isGiven {
            throw UsageProblem.together(.generate, secret.secret == nil ? .secretFile : .secret)
        }
        if changes.isEmpty, !secret.isGiven, length == nil {
            throw UsageProblem(
                "no change is given",
                hint: "use '\(OptionName.set.spelling) NAME=VALUE', '\(OptionName.remove.spelling) NAME' or "
                    + "'\(OptionName.secret.spelling) SOURCE'")
        }
        let (store, place) = try location.openForChange(in: session)
        let found = try store.find(filter)
        if found.isEmpty { throw KeychainStoreError.itemNotFound }
        if length != nil, found.items.count > 1 {
            throw UsageProblem(
                "\(found.items.count) items match, and '\(OptionName.generate.spelling)' makes a secret for one",
                hint: "'kcbackup item list' shows them; more conditions, or '\(OptionName.uuid.spelling)', choose one")
        }
        try requireFit(changes, of: found.items, in: store)
        if found.items.count > 1 {
            if !change.yes, session.world.terminal.isAttended {
                session.list(found.items) { _ in Remark("to be changed") }
            }
            try session.confirm("Change \(found.items.count) items?", isGiven: change.yes)
        }
        // The old seals are opened, and the new accessibility may need another class key.
        try store.open(.of(Protection.unconstrained.union(found.items.map(\.protection))))
        let value =
            if let length {
                try GeneratedPassword.make(length: length) as SecretBytes?
            } else {
                try secret.read(isPublic: found.items.allSatisfy { $0.itemClass == .certificate }, in: session)
            }
        let report = try store.update(found.items, changes, secret: value, now: session.now, keepsState: !change.noUndo)
        session.done = "\(counted(report.changed.count, "item")) \(place.deed("changed", "in"))"
        tell(report, of: place, length, in: session)
        let status = session.tell(found.shortfall)
        if style.json { try session.result(["items": .list(report.changed.map { .item($0) })], []) }
        return report.unkept.isEmpty ? status : .incomplete
    }

    /// - Throws: `UsageProblem` for a change that no item of the desktop keyring allows; what the store throws.
    private func requireFit(_ changes: AttributeChanges, of items: [Item], in store: any ItemStore) throws {
        do {
            try store.requireFit(changes, of: items)
        } catch let error as UnmappedAttribute {
            throw UsageProblem(
                "the item in the desktop keyring does not allow this change of '\(error.code.word)'",
                hint: "'label' can always be set, and 'accessible' set or removed; others can be changed only if the "
                    + "item has an attribute for them")
        }
    }

    /// - Parameter length: that of a made-up secret; nil for another one.
    private func tell(_ report: UpdateReport, of place: ChangedPlace, _ length: Int?, in session: Session) {
        session.note(each: wordsApart(report.changed)) { _ in Remark(place.deed("changed", "in")) }
        session.warn(each: wordsApart(report.unkept)) { _ in
            Remark("the Secret Service did not keep all of the change")
        }
        session.warn(ofUnbound: report.unbound)
        session.warn(ofUnasking: report.unasking)
        if report.marksOnly {
            session.note(
                "ThisDeviceOnly is a mark there: backups bind the item to this device, the file of the keyring does not"
            )
        }
        if let length, let item = report.changed.first {
            let keychain = place.option.map { " \(OptionName.keychain.spelling) \(shellWord($0))" } ?? ""
            session.noteGenerated(length, "\(OptionName.uuid.spelling) \(item.uuid)\(keychain)")
        }
        guard report.removedStates > 0 else { return session.noteUndo(place.option) }
        session.note(
            "\(counted(report.removedStates, "earlier state")) removed: the secret could be read there without the passcode"
        )
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

    /// Warns of items that asked for the passcode each time.
    func warn(ofUnasking count: Int) {
        if count == 0 { return }
        warn("\(counted(count, "item")) can be read from now on while the keychain is unlocked, without the passcode")
    }
}
