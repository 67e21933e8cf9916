/// What a column means.
package enum CSVRole: String, CaseIterable, Hashable, Sendable {
    case title, url, username, password, notes, totp, folder
    case id, realm, formOrigin, createdMilliseconds, changedMilliseconds
    case createdSeconds, changedSeconds, created, changed
    /// Several addresses, with commas between.
    case urls
    /// A JSON array of further addresses.
    case urlList
    /// A further name of the user, or another word that is no secret.
    case email, secondUser, thirdUser, tags
    /// `name: value`, one a line.
    case fields
    /// `name,…,…,type,value`, and as many further cells of the row.
    case formFields
    /// What kind of record it is.
    case type
    case favorite, archived
    /// Of the program alone.
    case ignored

    /// Those that `--columns` takes.
    package static let chosen: [CSVRole] = [.title, .url, .username, .password, .notes, .totp, .folder]
}

/// A program that exports its passwords as a table.
struct CSVProduct: Sendable {
    /// What people call it.
    let name: String
    /// What its columns mean, by their names in lower case.
    let roles: [String: CSVRole]
    /// The columns that tell it.
    let marks: Set<String>
    /// True where a table with further columns is not taken for one of this program: its names are everybody's.
    var isExact = false
    /// True where everything is in quotation marks but what there is not.
    var tellsNull = false
    /// True where `http://group` stands for a folder, and older versions wrote `&amp;` for `&`.
    var hasWebForms = false
    /// True where the note of a card, an identity and the like is a JSON object of it.
    var notesAreObjects = false
    /// True where a row may have more cells than there are columns: they belong to the last one.
    var repeatsLast = false

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
            "timelastused": .ignored, "timepasswordchanged": .changedMilliseconds,
        ],
        marks: ["url", "username", "password", "httprealm", "formactionorigin"], tellsNull: true)
    static let onePassword = CSVProduct(
        name: "1Password",
        roles: [
            "title": .title, "url": .url, "website": .url, "username": .username, "password": .password,
            "otpauth": .totp, "favorite": .favorite, "archived": .archived, "tags": .tags, "notes": .notes,
        ],
        marks: ["title", "username", "password", "favorite", "archived", "tags"])
    /// With the names of columns that 1Password's description has.
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
            "notes": .notes, "fields": .fields, "reprompt": .ignored, "login_uri": .urls,
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
            "notes": .notes, "totp": .totp, "icon": .ignored, "last modified": .changed, "created": .created,
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
        marks: ["account", "login name", "password", "web site", "comments"], isExact: true)
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
            "name": .title, "url": .url, "matchurl": .ignored, "login": .username, "pwd": .password, "note": .notes,
            "folder": .folder, "rffieldsv2": .formFields,
        ],
        marks: ["name", "url", "login", "pwd", "note", "folder"], repeatsLast: true)

    static let all = [
        chrome, apple, firefox, onePassword, onePasswordInWords, bitwarden, lastPass, dashlane, proton, keePassXC,
        keePassXCBefore26, keePass, nordPass, roboForm,
    ]

    /// The names of all columns that are known, in lower case.
    static let names = Set(all.flatMap { $0.marks.union($0.roles.keys) }).sorted()

    /// The program whose table has these columns, by their names in lower case, nil for others; nil for one that is not
    /// known.
    static func of(_ columns: [String?]) -> CSVProduct? {
        let names = Set(columns.compactMap { $0 })
        return all.filter { product in
            product.marks.isSubset(of: names)
                && (!product.isExact || columns.allSatisfy { $0.map { product.roles[$0] != nil } ?? false })
        }.max { $0.marks.count < $1.marks.count }
    }
}
