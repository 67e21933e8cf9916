internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// An item as a keyring's file stores it, without its secret.
struct KeyringItem {
    /// Its number in the file, in the order of creation; 0 in files without numbers.
    var number: UInt32 = 0
    var label: AttributeValue
    /// In any order; names are unique.
    var attributes: [(name: String, value: String)] = []
    /// The names of attributes that are numbers in the file.
    var numbers: [String] = []
    /// The number of the item's type; nil for files without types.
    var type: UInt32?
    /// Seconds since 1970; 0 if unknown.
    var created: UInt64 = 0
    var modified: UInt64 = 0

    subscript(name: String) -> String? { attributes.first { $0.name.exact == name.exact }?.value }

    /// The label as text, empty if it is none; foreign text.
    var title: String { if case .text(let text) = label { text } else { "" } }

    /// Refuses items that no keyring can have.
    func check() throws(ForeignFailure) {
        var names: Set<ExactText> = []
        for (name, _) in attributes {
            guard names.insert(name.exact).inserted else {
                throw .damaged("an attribute of an item occurs twice")
            }
            // The clear part of an encrypted file has such names for hashes; a decrypted item never has.
            guard !name.exact.hasPrefix("gkr:compat:") else {
                throw .damaged("an item has hashes instead of attributes")
            }
        }
    }
}

/// Identifies a keyring as the Secret Service does.
struct KeyringName {
    /// The name that people see.
    let label: String
    /// 0 for the first keyring of this label, 1 for the next one.
    let number: Int
}

/// Limits for keyring files.
enum KeyringLimits {
    /// Items: a thousand times as many as people have.
    static let items = 1_000_000
    /// Attributes of an item; an item with more than a keychain item can have is refused by name.
    static let attributes = 10_000
    /// Rounds of SHA-256 for an encrypted file; the daemon writes 1,000 to 4,095.
    static let iterations = 1_000_000
    /// Rounds of PBKDF2 for a file of libsecret, which writes 100,000; ten million take four seconds.
    static let derivationRounds = 10_000_000
}
