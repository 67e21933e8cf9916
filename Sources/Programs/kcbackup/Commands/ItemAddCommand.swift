internal import ArgumentParser
internal import ByteStreams
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// `kcbackup item add`.
struct ItemAddCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item to a keychain.",
        discussion: """
            Missing attributes get Apple's defaults: WhenUnlocked (certificates: Always), not synchronizable, the \
            access group kcbackup. Unless an option provides it, the secret of a password is asked for. Only 'kcbackup \
            item find --reveal' shows a generated one.

            EXAMPLES:
              kcbackup item add --service "Home Wi-Fi" --account ada
              kcbackup item add --service forum --account ada --generate
              kcbackup item add --class inet --server mail.example.org --account ada --secret file:mail.secret
              kcbackup item add --class cert --label "Example CA" --secret-file ca.der
              kcbackup item add --service bank --account ada --accessible WhenUnlockedThisDeviceOnly
            """)

    @Option(
        name: OptionName.class.name, help: ArgumentHelp("The class: genp, inet, cert or keys.", valueName: "class"))
    var itemClass = ItemClass.genericPassword

    @OptionGroup
    var attributes: AttributeOptions

    @Option(name: OptionName.comment.name, help: "A comment (icmt).")
    var comment: String?

    @Flag(name: OptionName.synchronizable.name, help: "Make it synchronizable.")
    var synchronizable = false

    @OptionGroup
    var secret: NewSecretOptions

    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        var given = try attributes.collected()
        for (code, value) in [
            (AttributeCode.icmt, comment.map { AttributeValue.text($0) }),
            (.sync, synchronizable ? .number(1) : nil),
        ] where value != nil {
            guard given[code] == nil else { throw UsageProblem.attributeTwice(code.code) }
            given[code] = value
        }
        let draft = ItemDraft(itemClass: itemClass, attributes: given)
        // Refuse an invalid item before asking anything.
        let completed = try draft.completed(now: session.now, secretSize: nil)
        try completed.requireMeaningfulFlag()
        if !Self.names.contains(where: { given[$0]?.size ?? 0 > 0 }) { throw UsageProblem.nameless }
        let choice = try secret.choice(for: itemClass, in: session)

        let store = try keychain.open(in: session)
        // An item that is always accessible can be written without a passcode.
        try keychain.unlock(store, for: [completed.accessibility], in: session)
        let value = try secret.read(choice, isPublic: itemClass == .certificate, in: session)
        let selection = ItemSelection(of: itemClass, given, in: keychain.keychain)
        let item: Item
        do throws(KeychainStoreError) {
            item = try store.add(draft, secret: value, now: session.now)
        } catch {
            guard error == .duplicateItem else { throw error }
            throw Refusal.itemExists(
                keychain: session.subjects.keychain ?? LocalKeychain.defaultName, selection: selection?.words)
        }
        session.note("added: \(item.words)")
        if case .generated(let length) = choice {
            let words = selection?.words ?? "\(OptionName.uuid.spelling) \(item.uuid)"
            session.note(
                "its secret has \(length) random characters; 'kcbackup item find \(words) \(OptionName.reveal.spelling)' "
                    + "shows it")
        }
        if style.json { try session.result(["items": [.item(item)]], []) }
        return .ok
    }

    /// The attributes by which an item is found; without any of them, it could not be told from others.
    private static let names: [AttributeCode] = [.labl, .svce, .srvr, .acct, .subj, .klbl, .atag]
}
