internal import KeychainModel

/// Why one encrypted file of a store does not open, although others may.
package enum UnopenedFile: Error, Hashable, Sendable {
    /// It is for keys that are not there.
    case noKey
    /// What it holds cannot be decrypted, or not to its end.
    case damaged
    /// It holds more bytes than an item can have.
    case tooLarge(limit: Int)

    /// The problem of the item that it should become.
    ///
    /// - Parameter key: what would open it, in words.
    package func problem(of key: String) -> ForeignContents.Problem {
        switch self {
        case .noKey: .damaged("\(key) opens it")
        case .damaged: .damaged("it cannot be decrypted to its end")
        case .tooLarge(let limit): .item(.secretTooLarge(limit + 1))
        }
    }
}
