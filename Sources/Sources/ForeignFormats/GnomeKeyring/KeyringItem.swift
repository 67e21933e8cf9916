internal import Cryptography
internal import ItemSources
internal import KeychainModel

/// An item of a keyring as its file has it, without its secret.
struct KeyringItem {
    var label: AttributeValue
    /// In any order, each name once.
    var attributes: [(name: String, value: String)] = []
    /// The names of attributes that are numbers in the file.
    var numbers: [String] = []
    /// The kind of item as a number; nil in files that have none.
    var type: UInt32?
    /// Seconds since 1970; 0 if not known.
    var created: UInt64 = 0
    var modified: UInt64 = 0

    subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// Refuses what no keyring has.
    ///
    /// - Throws: `ForeignFailure` (`damaged`, `limit`).
    func check() throws(ForeignFailure) {
        var names: Set<[UInt8]> = []
        for (name, _) in attributes {
            guard names.insert(Array(name.utf8)).inserted else { throw .damaged("an item has an attribute twice") }
            // In the clear part of an encrypted file, hashes have such names; a decrypted item never has.
            guard !name.hasPrefix("gkr:compat:") else { throw .damaged("an item has hashes in place of attributes") }
        }
    }
}

/// The limits of a keyring file.
enum KeyringLimits {
    /// Items: a thousand times what people have.
    static let items = 1_000_000
    /// Attributes of an item; one with more than an item of ours can have is refused by name.
    static let attributes = 10_000
    /// Rounds of SHA-256 of an encrypted file; the daemon writes 1,000 to 4,095.
    static let iterations = 1_000_000
    /// Rounds of PBKDF2 of a file of libsecret, which writes 100,000: ten million take four seconds.
    static let derivationRounds = 10_000_000
}
