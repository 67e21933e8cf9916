internal import KCItemSources

/// The meaning of a column.
enum CSVRole: String, CaseIterable, Hashable, Sendable {
    case title, url, username, password, notes, totp, folder
    case id, realm, formOrigin, createdMilliseconds, changedMilliseconds
    case createdSeconds, changedSeconds, created, changed
    /// Several addresses, separated by commas.
    case urls
    /// A JSON array of further addresses.
    case urlList
    /// An additional user name, or other text that is not a secret.
    case email, secondUser, thirdUser, tags
    /// `name: value`, one per line.
    case fields
    /// `name:value`, one per line, among them the user and the password.
    case loginLines
    /// `name,…,…,type,value`, also in any additional cells of the row.
    case formFields
    /// The kind of record.
    case type
    case favorite, archived
    // Values that have no place in a keychain, and are counted.
    case icon, lastUse, matching, reprompt, classification
}

extension CSVRole {
    init(_ column: ChosenColumn) {
        self =
            switch column {
            case .title: .title
            case .url: .url
            case .username: .username
            case .password: .password
            case .notes: .notes
            case .totp: .totp
            case .folder: .folder
            }
    }
}

/// A program that exports its passwords as a table.
struct CSVProduct: Sendable {
    /// The name in messages; nil for any program whose columns say what they mean.
    let name: String?
    /// The meaning of its columns, by their names in lower case.
    let roles: [String: CSVRole]
    /// The columns by which it is recognized.
    let marks: Set<String>
    /// True if a table with other columns too is not taken for this program's, because its column names are common.
    var isExact = false
    /// True if every value is in quotation marks, so that a missing value differs from an empty one.
    var tellsNull = false
    /// True if `http://group` denotes a folder, and older versions wrote `&amp;` for `&`.
    var hasWebForms = false
    /// True if the note of a card, an identity or a similar record is a JSON object with its fields.
    var notesAreObjects = false
    /// True if the last column is repeated: a row may have more cells than there are columns, or one less.
    var repeatsLast = false
    /// True if a backslash in quotation marks escapes the next character.
    var hasEscapes = false
    /// True if an apostrophe precedes a user name or a password that begins with `@` or an apostrophe.
    var hasApostrophes = false
    /// The meaning of cells behind those of the named columns.
    var unnamed: [CSVRole] = []
    /// True if no blank follows the colon behind the name of a field.
    var hasDenseFields = false
    /// True if a row may have one more cell, which is empty.
    var mayEndEmpty = false

    static let chrome = CSVProduct(
        name: "Chrome, Edge, Brave, Opera or Vivaldi",
        roles: ["name": .title, "url": .url, "username": .username, "password": .password, "note": .notes],
        marks: ["name", "url", "username", "password"], isExact: true)
    static let apple = CSVProduct(
        name: "Apple Passwords or Safari",
        roles: [
            "title": .title, "url": .url, "username": .username, "password": .password, "notes": .notes,
            "otpauth": .totp,
        ],
        marks: ["title", "url", "username", "password", "otpauth"], isExact: true)
    static let firefox = CSVProduct(
        name: "Firefox",
        roles: [
            "url": .url, "username": .username, "password": .password, "httprealm": .realm,
            "formactionorigin": .formOrigin, "guid": .id, "timecreated": .createdMilliseconds,
            "timelastused": .lastUse, "timepasswordchanged": .changedMilliseconds,
        ],
        marks: ["url", "username", "password", "httprealm", "formactionorigin"], tellsNull: true)
    static let onePassword = CSVProduct(
        name: "1Password",
        roles: [
            "title": .title, "url": .url, "website": .url, "username": .username, "password": .password,
            "otpauth": .totp, "favorite": .favorite, "archived": .archived, "tags": .tags, "notes": .notes,
        ],
        marks: ["title", "username", "password", "favorite", "archived", "tags"])
    /// With the column names given in 1Password's documentation.
    static let onePasswordInWords = CSVProduct(
        name: "1Password",
        roles: [
            "title": .title, "url": .url, "website": .url, "username": .username, "password": .password,
            "one-time password": .totp, "favorite status": .favorite, "archived status": .archived, "tags": .tags,
            "notes": .notes,
        ],
        marks: ["title", "username", "password", "favorite status", "archived status"])
    static let bitwarden = CSVProduct(
        name: "Bitwarden",
        roles: [
            "folder": .folder, "collections": .folder, "favorite": .favorite, "type": .type, "name": .title,
            "notes": .notes, "fields": .fields, "reprompt": .reprompt, "login_uri": .urls,
            "login_username": .username, "login_password": .password, "login_totp": .totp,
            "archiveddate": .archived,
        ],
        marks: ["type", "name", "notes", "fields", "login_uri", "login_username", "login_password", "login_totp"])
    static let lastPass = CSVProduct(
        name: "LastPass",
        roles: [
            "url": .url, "username": .username, "password": .password, "totp": .totp, "extra": .notes, "name": .title,
            "grouping": .folder, "fav": .favorite,
        ],
        marks: ["url", "username", "password", "extra", "name", "grouping", "fav"], hasWebForms: true)
    static let dashlane = CSVProduct(
        name: "Dashlane",
        roles: [
            "username": .username, "username2": .secondUser, "username3": .thirdUser, "title": .title,
            "password": .password, "note": .notes, "url": .url, "category": .folder, "otpsecret": .totp,
            "otpurl": .totp,
        ],
        marks: ["username", "username2", "username3", "title", "password", "note", "url", "category"])
    static let proton = CSVProduct(
        name: "Proton Pass",
        roles: [
            "type": .type, "name": .title, "url": .urls, "email": .email, "username": .username,
            "password": .password, "note": .notes, "totp": .totp, "createtime": .createdSeconds,
            "modifytime": .changedSeconds, "vault": .folder,
        ],
        marks: ["type", "name", "url", "username", "password", "note", "totp", "createtime", "modifytime"],
        notesAreObjects: true)
    static let keePassXC = CSVProduct(
        name: "KeePassXC",
        roles: [
            "group": .folder, "title": .title, "username": .username, "password": .password, "url": .url,
            "notes": .notes, "totp": .totp, "icon": .icon, "last modified": .changed, "created": .created,
        ],
        marks: ["group", "title", "username", "password", "url", "notes", "last modified", "created"])

    static let keePassXCBefore26 = CSVProduct(
        name: "KeePassXC",
        roles: [
            "group": .folder, "title": .title, "username": .username, "password": .password, "url": .url,
            "notes": .notes,
        ],
        marks: ["group", "title", "username", "password", "url", "notes"], isExact: true)
    static let keePass = CSVProduct(
        name: "KeePass",
        roles: [
            "account": .title, "login name": .username, "password": .password, "web site": .url, "comments": .notes,
        ],
        marks: ["account", "login name", "password", "web site", "comments"], isExact: true, hasEscapes: true)
    static let nordPass = CSVProduct(
        name: "NordPass",
        roles: [
            "name": .title, "url": .url, "additional_urls": .urlList, "username": .username, "password": .password,
            "note": .notes, "folder": .folder, "type": .type,
        ],
        marks: ["name", "url", "username", "password", "note", "cardholdername", "cardnumber", "folder"])
    static let roboForm = CSVProduct(
        name: "RoboForm",
        roles: [
            "name": .title, "url": .url, "matchurl": .matching, "login": .username, "pwd": .password, "note": .notes,
            "folder": .folder, "rffieldsv2": .formFields, "rf_fields": .formFields,
        ],
        marks: ["name", "url", "login", "pwd", "note", "folder"], repeatsLast: true, hasApostrophes: true)
    static let zohoVault = CSVProduct(
        name: "Zoho Vault",
        roles: [
            "password name": .title, "secret name": .title, "password url": .url, "secret url": .url,
            "secretdata": .loginLines, "notes": .notes, "customdata": .fields, "tags": .tags,
            "classification": .classification, "favorite": .favorite, "totp": .totp, "login_totp": .totp,
            "folder name": .folder, "chambername": .folder,
        ],
        marks: ["secretdata", "customdata", "classification"], hasDenseFields: true, mayEndEmpty: true)
    static let zohoVaultInShort = CSVProduct(
        name: "Zoho Vault", roles: ["secret name": .title, "secret url": .url, "notes": .notes],
        marks: ["secret name", "secret url", "notes"], isExact: true, unnamed: [.username, .password])

    static let all = [
        chrome, apple, firefox, onePassword, onePasswordInWords, bitwarden, lastPass, dashlane, proton, keePassXC,
        keePassXCBefore26, keePass, nordPass, roboForm, zohoVault, zohoVaultInShort,
    ]

    /// The names of all known columns, in lower case.
    static let names = Set(all.flatMap { $0.marks.union($0.roles.keys) } + PlainColumns.roles.keys).sorted()

    /// The program that writes tables with these columns, or one without a name if their names say what they mean; nil
    /// for other tables.
    ///
    /// - Parameter columns: the names in lower case; nil for columns whose names are not known.
    static func of(_ columns: [String?]) -> CSVProduct? {
        let names = Set(columns.compactMap { $0 })
        return all.filter { product in
            product.marks.isSubset(of: names)
                && (!product.isExact || columns.allSatisfy { $0.map { product.roles[$0] != nil } ?? false })
        }.max { $0.marks.count < $1.marks.count } ?? PlainColumns.product(columns)
    }
}
