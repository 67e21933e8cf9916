internal import KCByteStreams
internal import KCItemStores
internal import KCReportText

/// The store that a name probably means which is no keychain's.
enum MeantStore: Hashable, Sendable {
    /// The desktop keyring, as `--keychain` takes it.
    case keyring(String)
    /// The keychain whose name differs in capital letters alone.
    case keychain(String)
    /// The file of a desktop keyring.
    case keyringFile(String)

    /// Looks what a name resembles; nil if nothing.
    ///
    /// - Parameter keychains: the names of keychains that may be meant.
    init?(_ given: String, keychains: [String] = []) {
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

    /// The hint.
    var words: String {
        switch self {
        case .keyring(let name): "did you mean \(quoted(name)), the desktop keyring?"
        case .keychain(let name): "did you mean \(quoted(name))? capital letters count"
        case .keyringFile(let path):
            "did you mean the file, \(quoted(FileOfItems.name(path))), or the desktop keyring, "
                + "\(quoted(DesktopKeyring.all.name))?"
        }
    }
}
