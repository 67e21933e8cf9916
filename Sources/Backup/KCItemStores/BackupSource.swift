internal import KCCryptography
package import KCDeviceIdentity
package import KCItemSources
internal import KCKeychainKeys
package import KCKeychainModel
package import KCKeychainStore
package import KCSecretService

/// What items are read from to be taken elsewhere, opened: a keychain, the desktop keyring, a file.
///
/// A backup, an export and a comparison read it in the same way; they do not know which one it is.
package protocol BackupSource: ItemSource {
    /// What tells it from others of the same name.
    var identity: String { get }

    /// What could not be read when it was opened; a visit reports as many items as unreadable.
    var unread: UnreadItems { get }

    /// The number of items.
    func itemCount() throws -> Int

    /// Makes the secrets readable, for which the user may be asked.
    func open() throws

    /// The same items with their secrets as this device stores them, for an unencrypted archive.
    func stored(_ device: DeviceKey) throws -> any StoredItemSource
}

extension BackupSource {
    package var unread: UnreadItems { UnreadItems() }

    /// Does nothing: what was read has its secrets.
    package func open() {}

    /// Seals the secrets under keys of the device.
    package func stored(_ device: DeviceKey) throws -> any StoredItemSource { SealedSource(self, deviceKey: device) }
}

/// Items that a source has and does not give.
package struct UnreadItems: Sendable {
    /// How many there are, at least.
    package var count = 0
    /// The names of those that have one; foreign text.
    package var names: [String] = []
    /// The labels of the collections that are locked.
    package var lockedCollections: [String] = []

    package init() {}
}

/// A keychain, which gives its secrets when it is open.
package final class KeychainBackup: BackupSource {
    private let keychain: Keychain
    private let opening: (_ needsSecrets: Bool) throws -> any StoredItemSource
    private var opened: any StoredItemSource

    /// - Parameter opening: makes secrets readable, all of them if they are needed, and returns what to read them from:
    ///   the keychain, or the keychain as opened with another key.
    package init(
        _ keychain: Keychain, opening: @escaping (_ needsSecrets: Bool) throws -> any StoredItemSource
    ) {
        self.keychain = keychain
        self.opening = opening
        opened = keychain
    }

    package var identity: String { Hexadecimal.encode(keychain.storeID) }

    package func itemCount() throws -> Int { try keychain.itemCount() }

    package func open() throws { opened = try opening(true) }

    /// As they are in the keychain, which needs no key.
    package func stored(_ device: DeviceKey) throws -> any StoredItemSource { try opening(false) }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws { try opened.visitItems(&visitor) }
}

/// The desktop keyring as it was read.
package struct KeyringBackup: BackupSource {
    package let identity: String
    private let source: ServiceSource

    package init(_ source: ServiceSource, identity: String) {
        self.source = source
        self.identity = identity
    }

    package var unread: UnreadItems {
        var unread = UnreadItems()
        unread.count = source.unreadableCount
        unread.names = source.unreadableLabels
        unread.lockedCollections = source.lockedCollections
        return unread
    }

    package func itemCount() -> Int { source.count }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws { try source.visitItems(&visitor) }
}

/// The items of a file or folder as they were read.
package struct FileBackup: BackupSource {
    package let identity: String
    private let contents: ForeignContents

    package init(_ contents: ForeignContents, identity: String) {
        self.contents = contents
        self.identity = identity
    }

    package var unread: UnreadItems {
        var unread = UnreadItems()
        unread.count = contents.refused.count
        unread.names = contents.refused.map(\.name)
        return unread
    }

    package func itemCount() -> Int { contents.items.count }

    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws { try contents.visitItems(&visitor) }
}
