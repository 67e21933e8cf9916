internal import KCByteStreams
internal import KCItemStores

/// The store that a name probably means which is no keychain's.
package enum MeantStore: Hashable, Sendable {
    /// The desktop keyring, as `--keychain` takes it.
    case keyring(String)
    /// The keychain whose name differs in capital letters alone.
    case keychain(String)
    /// The file of a desktop keyring.
    case keyringFile(String)

    /// Looks what a name resembles; nil if nothing.
    ///
    /// - Parameter keychains: the names of keychains that may be meant.
    package init?(_ given: String, keychains: [String] = []) {
        func letters(_ text: some StringProtocol) -> String { text.lowercased().filter(\.isLetter) }
        let keyring = DesktopKeyring.all.name
        let parts = given.exact.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if given.lowercased().exact.hasSuffix(".keyring") {
            self = .keyringFile(given)
        } else if letters(parts[0]) == letters(keyring), !given.exact.contains("/") {
            self = .keyring(keyring + (parts.count > 1 ? parts[1] : ""))
        } else if let other = keychains.first(where: { $0.lowercased() == given.lowercased() }) {
            self = .keychain(other)
        } else {
            return nil
        }
    }
}
