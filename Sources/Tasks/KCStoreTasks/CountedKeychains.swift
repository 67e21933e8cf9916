internal import KCKeychainKeys
internal import KCKeychainStore
internal import KCLocalKeychains

/// The keychains of this device whose passcodes a TPM counts, and which do not open without it.
package struct CountedKeychains {
    package private(set) var names: [String] = []
    /// Why others cannot be opened: no reason to keep a user from the key of the device.
    package private(set) var failures: [KeychainFailure] = []

    /// Looks at all keychains.
    ///
    /// - Parameter isHere: true for those that the TPM of this machine counts; one that cannot be opened may be one of
    ///   them, and is an error then.
    package init(isHere: Bool = false, in machine: Machine) throws {
        for name in try LocalKeychain.names(in: machine.dataFolder) {
            let local = try LocalKeychain(name, in: machine)
            do {
                let isCounted = try local.naming {
                    let keychain = try local.open(in: machine)
                    return try keychain.keybag.counter == .chip && (!isHere || !keychain.isCountedElsewhere())
                }
                if isCounted { names.append(name) }
            } catch let failure as KeychainFailure {
                if failure.isOfOtherDevice { continue }
                if isHere { throw failure }
                failures.append(failure)
            }
        }
    }
}
