/// Columns whose names say what they mean, in tables of programs that are not known.
///
/// Such a table has one column for passwords, one for user names, and one for titles or addresses; no two columns have
/// the same meaning. All other columns become fields of the items, so nothing is lost if a name meant something else.
enum PlainColumns {
    /// The meaning of a column by its name in lower case.
    static let roles: [String: CSVRole] = {
        var roles: [String: CSVRole] = [:]
        for (role, names) in namesByRole { for name in names { roles[name] = role } }
        return roles
    }()

    private static let namesByRole: [(CSVRole, [String])] = [
        (
            .title,
            [
                "title", "name", "account name", "account_name", "display name", "display_name", "entry", "entry name",
                "item", "item name", "label", "site name",
            ]
        ),
        (
            .url,
            [
                "url", "website", "web site", "website address", "website url", "web address", "site", "address",
                "link",
                "login url", "login_url", "uri",
            ]
        ),
        (.urls, ["urls", "websites", "login_urls", "login urls"]),
        (
            .username,
            [
                "username", "user name", "user_name", "user", "userid", "user id", "login", "login name", "login_name",
                "login username", "login_username", "loginname",
            ]
        ),
        (.password, ["password", "pass", "passphrase", "pwd", "login password", "login_password"]),
        (.email, ["email", "e-mail", "email address", "e-mail address"]),
        (.notes, ["notes", "note", "comment", "comments", "description", "extra", "memo", "remarks"]),
        (
            .totp,
            [
                "otpauth", "totp", "otp", "login_totp", "login totp", "2fa", "totp secret", "otp secret", "otpsecret",
                "one-time password", "two-factor secret", "totp secret key",
            ]
        ),
        (.folder, ["folder", "group", "grouping", "category", "vault", "collection"]),
        (.tags, ["tags", "tag", "labels"]),
    ]

    /// The product that stands for the columns of a table; nil if they do not say enough, or say something twice.
    ///
    /// - Parameter columns: the names in lower case; nil for columns whose names are not known.
    static func product(_ columns: [String?]) -> CSVProduct? {
        var found: [String: CSVRole] = [:]
        var taken: Set<CSVRole> = []
        for name in columns {
            guard let name, let role = roles[name] else { continue }
            guard taken.insert(role).inserted else { return nil }
            found[name] = role
        }
        let names = !taken.isDisjoint(with: [.username, .email])
        guard taken.contains(.password), names, !taken.isDisjoint(with: [.title, .url, .urls]) else { return nil }
        return CSVProduct(name: nil, roles: found, marks: Set(found.keys))
    }
}
