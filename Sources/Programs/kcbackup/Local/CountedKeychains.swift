internal import KCKeychainKeys
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCStoreTasks

/// The keychains of this device whose passcodes a TPM counts, and which do not open without it.
enum CountedKeychains {
    /// Their names.
    ///
    /// A keychain that cannot be opened is named in a warning: what is wrong with it is no reason to keep a user from the
    /// key of the device.
    ///
    /// - Parameter isHere: true for those that the TPM of this machine counts; one that cannot be opened may be one of
    ///   them, and is an error then.
    static func names(isHere: Bool = false, in session: Session) throws -> [String] {
        defer { session.subject.store = nil }
        return try LocalKeychain.names(in: session.machine.dataFolder).filter { name in
            do {
                let keychain = try LocalKeychain(name, in: session.machine).open(in: session)
                guard keychain.keybag.counter == .chip else { return false }
                return try !isHere || !keychain.isCountedElsewhere()
            } catch KeychainStoreError.otherDevice {
                return false
            } catch let error as KeychainStoreError where !isHere {
                session.warn(session.failure(of: error).explanation.message)
                return false
            }
        }
    }
}
