internal import KCKeychainModel

/// An attribute that a flag of the password commands sets or matches.
struct ItemFlag: Sendable {
    let flag: Flag
    let code: AttributeCode
    /// The syntax of the value.
    let form: Form

    enum Form: Sendable {
        case text
        /// Four characters that encode a number.
        case fourCharacters
        /// Four characters stored as text.
        case fourCharacterText
        case port
    }

    init(_ letter: Character, _ value: String, _ code: AttributeCode, _ help: String, form: Form = .text) {
        flag = Flag(letter, .value(value), help)
        self.code = code
        self.form = form
    }

    /// Returns the attribute value for an argument.
    func attribute(_ word: String) throws(UsageProblem) -> AttributeValue {
        switch form {
        case .text: return .text(word)
        case .fourCharacters, .fourCharacterText:
            let bytes = Array(word.utf8)
            guard bytes.count == 4 else {
                throw UsageProblem(reason: "the value of \(flag.spelling) has to be four characters")
            }
            if case .fourCharacterText = form { return .text(word) }
            return .number(bytes.reduce(0) { $0 << 8 | Int64($1) })
        case .port:
            guard let port = UInt16(word) else {
                throw UsageProblem(reason: "the value of \(flag.spelling) is not a port number")
            }
            return .number(Int64(port))
        }
    }
}

/// The two kinds of passwords: their flags, and macOS's defaults.
struct PasswordKind: Sendable {
    let itemClass: ItemClass
    /// The attribute for what the password is used with, which is also the default label.
    let subject: AttributeCode
    /// The name of `subject`.
    let subjectWord: String
    /// All attributes that have flags.
    let flags: [ItemFlag]
    /// The attributes by which `-U` finds the item to update.
    let key: [AttributeCode]

    static let generic = PasswordKind(
        itemClass: .genericPassword, subject: .svce, subjectWord: "service",
        flags: [
            ItemFlag("a", "account", .acct, "The account"),
            ItemFlag("c", "creator", .crtr, "The creator, a code of four characters", form: .fourCharacters),
            ItemFlag("C", "type", .type, "The type, a code of four characters", form: .fourCharacters),
            ItemFlag("D", "kind", .desc, "The kind in words, such as \"application password\""),
            ItemFlag("G", "value", .gena, "The generic attribute"),
            ItemFlag("j", "comment", .icmt, "The comment"),
            ItemFlag("l", "label", .labl, "The label"),
            ItemFlag("s", "service", .svce, "The service"),
        ], key: [.acct, .svce])

    static let internet = PasswordKind(
        itemClass: .internetPassword, subject: .srvr, subjectWord: "server",
        flags: [
            ItemFlag("a", "account", .acct, "The account"),
            ItemFlag("c", "creator", .crtr, "The creator, a code of four characters", form: .fourCharacters),
            ItemFlag("C", "type", .type, "The type, a code of four characters", form: .fourCharacters),
            ItemFlag("d", "domain", .sdmn, "The security domain"),
            ItemFlag("D", "kind", .desc, "The kind in words, such as \"Internet password\""),
            ItemFlag("j", "comment", .icmt, "The comment"),
            ItemFlag("l", "label", .labl, "The label"),
            ItemFlag("p", "path", .path, "The path"),
            ItemFlag("P", "port", .port, "The port, a number", form: .port),
            ItemFlag(
                "r", "protocol", .ptcl, "The protocol, a code of four characters such as htps", form: .fourCharacters),
            ItemFlag("s", "server", .srvr, "The server"),
            ItemFlag("t", "type", .atyp, "The authentication, a code of four characters", form: .fourCharacterText),
        ], key: [.acct, .sdmn, .srvr, .ptcl, .atyp, .port, .path])

    /// Returns the attributes given on the command line.
    func attributes(_ words: Words) throws(UsageProblem) -> [AttributeCode: AttributeValue] {
        var attributes: [AttributeCode: AttributeValue] = [:]
        for flag in flags {
            if let word = words.value(flag.flag.letter) { attributes[flag.code] = try flag.attribute(word) }
        }
        return attributes
    }
}
