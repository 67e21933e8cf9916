internal import KCKeychainModel

/// Why one encrypted file of a store cannot be opened, although others may be.
package enum UnopenedFile: Error, Hashable, Sendable {
    /// The keys that it is encrypted for are not available.
    case noKey
    /// The file is encrypted with a passphrase of its own, which was not given.
    case needsPassphrase
    /// Its content cannot be decrypted, or only in part.
    case damaged
    /// The file holds more bytes than an item can have.
    case tooLarge(limit: Int)

    /// The problem of the item that the file should have become.
    ///
    /// - Parameter key: the key that is missing, in words: "no identity".
    package func problem(of key: String) -> ForeignContents.Problem {
        switch self {
        case .noKey: .damaged("\(key) opens it")
        case .needsPassphrase: .damaged("it is encrypted with a passphrase, which was not given")
        case .damaged: .damaged("it cannot be decrypted to its end")
        case .tooLarge(let limit): .item(.secretTooLarge(limit + 1))
        }
    }
}
