internal import KCAsking
internal import KCByteStreams
package import KCDeviceIdentity
internal import KCHomeFiles
internal import KCItemStores
internal import KCLocalKeychains

/// Finds the store that the user means.
package enum StoreChoice {
    /// Returns the store that a name with the prefix of a kind means; nil for any other name.
    package static func prefixed(_ given: String) throws(KeychainNameProblem) -> (any NamedStore)? {
        if let keyring = DesktopKeyring(given) { return keyring }
        if let root = HomeRoot(storeName: given) { return NamedHome(root: root) }
        guard let path = FileOfItems.path(given) else { return nil }
        if path.isEmpty { throw .emptyPath }
        return NamedFile(path: path)
    }

    /// Returns what the user named; nil means the default keychain.
    ///
    /// - Throws: `LocalKeychainFailure`, `KeychainNameProblem`.
    package static func named(_ given: String?, in machine: Machine) throws -> any NamedStore {
        try given.flatMap(prefixed) ?? LocalKeychain(given, in: machine)
    }
}

extension StandardStore {
    /// The store, as if it were named.
    package var store: any NamedStore {
        switch self {
        case .keychain(let local): local
        case .desktop: DesktopKeyring.all
        }
    }
}

/// A key of this device that was made for the first store that needs it.
package struct DeviceMade: TaskEvent, Hashable, Sendable {
    package let device: DeviceID

    package init(device: DeviceID) { self.device = device }
}

extension TaskContext {
    /// Creates the device key if there is none.
    ///
    /// - Throws: `DeviceKeyFailure`.
    package func makeDeviceKey() throws {
        let (key, isNew) = try LocalDevice(machine).keyOrFirst()
        if isNew { tell(DeviceMade(device: key.id)) }
    }
}
