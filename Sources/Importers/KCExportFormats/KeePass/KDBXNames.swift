internal import KCByteStreams
internal import KCItemSources

/// The names of the strings and the attachments of an entry, none of which may be there twice.
struct KDBXNames {
    private var strings: Set<ExactText> = []
    private var files: Set<ExactText> = []

    /// Begins the names of the strings of a passkey in KeePassXC.
    static let passkeyPrefix = "KPEX_PASSKEY_"

    /// Takes a name that programs understand; false if it is taken.
    mutating func take(_ name: String) -> Bool { strings.insert(name.exact).inserted }

    /// A name for a field: the one that is given, unless another field has it or programs take it for something else.
    mutating func unique(_ name: String) -> String {
        let plain = KDBXFragment.isXML(name.utf8.span) && !name.isEmpty ? name : "field"
        return Self.unique(Self.isReserved(plain) ? plain + " (field)" : plain, among: &strings)
    }

    /// A name for an attachment.
    mutating func uniqueFile(_ name: String) -> String {
        let plain = KDBXFragment.isXML(name.utf8.span) && !name.isEmpty ? name : "attachment"
        return Self.unique(plain, among: &files)
    }

    private static func unique(_ name: String, among names: inout Set<ExactText>) -> String {
        var (unique, number) = (name, 1)
        while !names.insert(unique.exact).inserted {
            number += 1
            unique = "\(name) (\(number))"
        }
        return unique
    }

    // The strings that KeePass, KeePassXC and kcbackup understand, and the beginnings of others.
    private static let known: Set<ExactText> = Set(
        ["Title", "UserName", "Password", "URL", "Notes", "otp", "TOTP Seed", "TOTP Settings"].map(\.exact))
    private static let starts = ["KP2A_URL", "TimeOtp-", "HmacOtp-", passkeyPrefix, "kcbackup."]

    private static func isReserved(_ name: String) -> Bool {
        known.contains(name.exact) || starts.contains { name.exact.hasPrefix($0) }
    }
}
