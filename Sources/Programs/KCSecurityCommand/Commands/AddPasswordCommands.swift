internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains

extension Command {
    static let addGenericPassword = adding(
        .generic, "add-generic-password", "Add a generic password.",
        passwordFlags: [Flag("p", .secret("password"), "The password (an older name of -w)"), passwordFlag, hexFlag])

    static let addInternetPassword = adding(
        .internet, "add-internet-password", "Add an Internet password.", passwordFlags: [passwordFlag, hexFlag])

    private static let passwordFlag = Flag("w", .secret("password"), "The password; as the last word, asks for it")
    private static let hexFlag = Flag("X", .value("password"), "The password in hexadecimal digits")
    private static let accessFlags = [
        Flag("A", .none, "Without meaning here"),
        Flag("T", .value("application"), "Without meaning here", isRepeatable: true),
    ]

    private static func adding(
        _ kind: PasswordKind, _ name: String, _ summary: String, passwordFlags: [Flag]
    ) -> Command {
        Command(
            name, summary,
            flags: kind.flags.map(\.flag) + passwordFlags + accessFlags
                + [Flag("U", .none, "Update the item if it is there already")],
            operands: "[keychain]",
            notes: [
                "The account and the \(kind.subjectWord) are needed. The label is the \(kind.subjectWord) if none is given.",
                "Without a keychain, the item goes into the default one.",
                "Other users can see a password on the command line: give -w last, to be asked for it.",
            ]
        ) { words, session in
            try session.add(kind, words, passwordFlags: passwordFlags.map(\.letter))
        }
    }
}

extension Session {
    fileprivate func add(_ kind: PasswordKind, _ words: Words, passwordFlags: [Character]) throws -> ExitStatus {
        var attributes = try kind.attributes(words)
        guard attributes[.acct] != nil, let subject = attributes[kind.subject], words.operands.count <= 1 else {
            throw UsageProblem()
        }
        if words.has("A") || words.has("T") { noteAccessLists() }
        if kind.itemClass == .internetPassword, attributes[.atyp] == nil { attributes[.atyp] = .text("dflt") }
        let keychainWord = words.operands.first
        return try calling("SecKeychainItemCreateFromContent (\(object(keychainWord)))") {
            var password = try givenPassword(words, passwordFlags)
            let local = try namedOrDefault(keychainWord)
            let keychain = try open(local)
            try unlock(keychain, local, for: .whenUnlocked)
            if passwordFlags.contains(where: { words.asked.contains($0) }) {
                password = try askForNewPassword(
                    "password data for new item: ", "retype password for new item: ")
            }
            if words.has("U"), let present = try keychain.find(kind.query(attributes)).items.first {
                try unlock(keychain, local, for: present.accessibility)
                try askForPresence(keychain, local, for: present)
                defer { keychain.forgetPresence() }
                try keychain.update(
                    matching: ItemQuery(present), set: attributes.mapValues { $0 }, secret: password, now: now)
                return .ok
            }
            if attributes[.labl] == nil { attributes[.labl] = subject }
            var draft = ItemDraft(itemClass: kind.itemClass)
            for (code, value) in attributes { draft.attributes[code] = value }
            // macOS adds an empty password if none is given.
            if password == nil { password = SecretBytes(capacity: 0) }
            try keychain.add(draft, secret: password, now: now)
            return .ok
        }
    }

    private func givenPassword(_ words: Words, _ flags: [Character]) throws(UsageProblem) -> SecretBytes? {
        let given = flags.filter { words.has($0) }
        if given.count > 1 { throw UsageProblem(reason: "there are two passwords") }
        guard let flag = given.first else { return nil }
        return try password(words, flag)
    }

    /// Notes that access to an item depends only on its keychain.
    func noteAccessLists() {
        note("there are no access control lists here: every program of yours can use the item")
    }
}

extension PasswordKind {
    /// Returns a query for the item with the unique key in these attributes; attributes that are not given must be
    /// absent.
    fileprivate func query(_ attributes: [AttributeCode: AttributeValue]) -> ItemQuery {
        var query = ItemQuery(itemClass: itemClass)
        for code in key { query.attributes[code] = attributes[code] ?? Item.keyDefault(code) }
        query.attributes[.agrp] = .text(ItemDraft.defaultAccessGroup)
        query.attributes[.sync] = .number(0)
        query.limit = 1
        return query
    }
}
