internal import KCAsking

/// A wish of the user about a store, which stores of some kinds cannot meet.
package enum StoreDemand: Hashable, Sendable {
    case escrow, skipsLocked, asksDesktop, format, password, keyFile, withoutSandbox, passcode, acceptMissing
    case unencrypted, replaces, replacesUnarchived, givesUpBinding, noPasscode, removesFromFile
}

extension StoreKind {
    /// The kinds that meet each demand.
    private static let able: [StoreDemand: [StoreKind]] = [
        .escrow: [.keychain], .skipsLocked: [.keyring], .asksDesktop: [.keyring], .format: [.file], .password: [.file],
        .keyFile: [.file], .withoutSandbox: [.file], .passcode: [.keychain, .keyring],
        .unencrypted: [.keychain, .keyring, .home],
        .acceptMissing: [.home], .replaces: [.keychain, .keyring, .file], .replacesUnarchived: [.keychain],
        .givesUpBinding: [.keyring], .noPasscode: [.keychain], .removesFromFile: [.keychain],
    ]

    /// Refuses demands that this kind cannot meet.
    package func check(_ demands: [StoreDemand]) throws(StoreUnfit) {
        for demand in demands {
            guard let able = Self.able[demand], !able.contains(self) else { continue }
            throw .lacks(demand, self, able: able)
        }
    }
}

extension StoreAccess {
    /// The demands in what opens a store.
    package var demands: [StoreDemand] {
        // Where the passcode is the password of a file, a file is not asked for one.
        let isOwn = file.passwordField == .password
        let given: [(Bool, StoreDemand)] = [
            (key.escrow != nil, .escrow), (skipsLocked, .skipsLocked), (asksDesktop, .asksDesktop),
            (file.format != nil, .format), (isOwn && file.password != nil, .password), (file.keyFile != nil, .keyFile),
            (file.withoutSandbox, .withoutSandbox),
            (!acceptMissing.isEmpty, .acceptMissing), (isOwn && key.passcode != nil, .passcode),
        ]
        return given.compactMap { $0 ? $1 : nil }
    }
}
