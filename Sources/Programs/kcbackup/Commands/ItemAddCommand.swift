internal import ArgumentParser
internal import KCByteStreams
internal import KCCryptography
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCTerminal

/// `kcbackup item add`.
struct ItemAddCommand: Verb {
    static let mainOptions: [OptionName] = [.service, .account, .generate]

    static let otherOptions: [OptionName]? = [
        .keychain, .server, .label, .comment, .accessible, .secret, .secretFile, .length, .passcode,
    ]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item to the desktop keyring or a keychain.",
        discussion: """
            An item with a server, port or path is an internet password, and any other a generic password, unless \
            '--class' names another class. Missing attributes get Apple's defaults: WhenUnlocked (certificates: Always), not synchronizable, the \
            access group kcbackup. Unless an option provides it, the secret of a password is asked for. Only 'kcbackup \
            item find --reveal' shows a generated one. The desktop keyring takes passwords alone; what it cannot \
            hold is refused.

            EXAMPLES:
              kcbackup item add --service "Home Wi-Fi" --account ada
              kcbackup item add --service forum --account ada --generate
              kcbackup item add --keychain secret-service: --server mail.example.org
              kcbackup item add --class cert --label "Example CA" --secret-file ca.der
              kcbackup item add --service bank --account ada \\
                --accessible WhenUnlockedThisDeviceOnly
            """)

    @Option(
        name: OptionName.class.name, help: ArgumentHelp("The class: genp, inet, cert or keys.", valueName: "class"))
    var itemClass: ItemClass?

    @OptionGroup
    var attributes: AttributeOptions

    @Option(name: OptionName.comment.name, help: "A comment (icmt).")
    var comment: String?

    @Flag(name: OptionName.synchronizable.name, help: "Make it synchronizable.")
    var synchronizable = false

    @OptionGroup
    var secret: NewSecretOptions

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the change.")
    var noUndo = false

    @OptionGroup
    var location: LocationOptions

    @OptionGroup
    var style: StyleOptions

    /// Options that tell items apart elsewhere describe the new one here.
    static func title(of option: OptionName) -> OptionTitle {
        option.title == .items ? .attributes : option.title
    }

    func run(in session: Session) throws -> ExitStatus {
        var given = try attributes.collected()
        for (code, value) in [
            (AttributeCode.icmt, comment.map { AttributeValue.text($0) }),
            (.sync, synchronizable ? .number(1) : nil),
        ] where value != nil {
            guard given[code] == nil else { throw UsageProblem.attributeTwice(code) }
            given[code] = value
        }
        let itemClass = self.itemClass ?? Self.itemClass(of: given)
        let draft = ItemDraft(itemClass: itemClass, attributes: given)
        // Refuse an invalid item before asking anything.
        let completed = try draft.completed(now: session.now, secretSize: nil)
        try completed.requireMeaningfulFlag()
        if !Self.names.contains(where: { given[$0]?.size ?? 0 > 0 }) {
            throw UsageProblem(
                "the item is given no name",
                hint: "name it with '\(OptionName.service.spelling)', '\(OptionName.server.spelling)', "
                    + "'\(OptionName.account.spelling)' or '\(OptionName.label.spelling)'")
        }
        let choice = try secret.choice(for: itemClass, in: session)

        let (store, place) = try location.openForChange(in: session)
        try Self.requireFit(completed, given, in: store)
        // An item that is always accessible can be written without a passcode, and one that asks for it when it is read
        // can be written without it, too.
        try store.open(.of([Protection(completed.accessibility)]))
        let value = try secret.read(choice, isPublic: itemClass == .certificate, in: session)
        if itemClass == .certificate { try Self.requireCertificate(value, path: secret.given.secretFile) }
        let selection = ItemSelection(of: itemClass, given, in: place.option)
        let item: Item
        do {
            item = try store.add(draft, secret: value, now: session.now, keepsState: !noUndo)
        } catch KeychainStoreError.duplicateItem {
            throw Refusal.itemExists(
                keychain: session.subject.store ?? LocalKeychain.defaultName, selection: selection?.words)
        }
        session.noteDone("\(place.deed("added", "to")): \(item.words)")
        if case .generated(let length) = choice {
            let words = selection?.words ?? "\(OptionName.uuid.spelling) \(item.uuid)"
            session.noteGenerated(length, words)
        }
        session.noteUndo(place.option)
        if style.json { try session.result(["items": [.item(item)]], []) }
        return .ok
    }

    /// - Throws: `UsageProblem` for what the store cannot hold.
    private static func requireFit(_ item: Item, _ given: Attributes, in store: any ItemStore) throws {
        do {
            try store.requireFit(item, given: given.entries.map(\.code))
        } catch let error as UnfitItem {
            switch error {
            case .itemClass: throw UsageProblem.notOfDesktop(.class)
            case .attribute(let code):
                throw UsageProblem(
                    "an item of the desktop keyring cannot have this value of '\(code.word)'",
                    hint: "leave it out, or add the item to a keychain: '\(OptionName.keychain.spelling) NAME'")
            }
        }
    }

    /// Refuses anything but one certificate, in DER or PEM.
    ///
    /// An import takes what another program kept; here a wrong file is probably a mistake.
    private static func requireCertificate(_ value: borrowing SecretBytes?, path: String?) throws(Refusal) {
        switch value {
        case .none: return
        case .some(let secret):
            do throws(CertificateFailure) {
                try secret.withBytes { bytes throws(CertificateFailure) in
                    _ =
                        PEM.isPEM(bytes)
                        ? try X509Certificate(pem: bytes)
                        : try X509Certificate(der: bytes.indices.map { bytes[$0] })
                }
            } catch {
                let path = path ?? OptionName.secret.spelling
                throw Refusal(
                    .damaged, "\(quoted(path)) is not a DER or PEM certificate",
                    hint: "for other content, leave out '\(OptionName.class.spelling) cert'")
            }
        }
    }

    /// The class of an item whose attributes only internet passwords have; for any other, generic password.
    private static func itemClass(of attributes: Attributes) -> ItemClass {
        let codes = attributes.entries.map(\.code)
        let isGeneric = codes.allSatisfy { $0.belongs(to: .genericPassword) }
        return !isGeneric && codes.allSatisfy { $0.belongs(to: .internetPassword) }
            ? .internetPassword : .genericPassword
    }

    /// The attributes by which an item is found; without any of them, it could not be told from others.
    private static let names: [AttributeCode] = [.labl, .svce, .srvr, .acct, .subj, .klbl, .atag]
}

extension Session {
    /// Notes how to see a made-up secret.
    ///
    /// - Parameter selection: the options that select the item.
    func noteGenerated(_ length: Int, _ selection: String) {
        note(
            "its secret has \(length) random characters; 'kcbackup item find \(selection) \(OptionName.reveal.spelling)' "
                + "shows it")
    }
}
