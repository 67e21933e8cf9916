package import KCBackupEngine
package import KCKeychainStore

/// How a keychain is opened, unlocked and made, for which the user may be asked.
package struct KeychainAccess {
    /// True if the user gave a passcode, of the keychain or for a new one.
    package let hasPasscode: Bool
    /// True if the user said what opens a new keychain: a passcode, or none.
    package let isChosen: Bool
    /// Opens the file.
    let open: () throws -> Keychain
    /// Makes the keys available that an earlier command has unlocked.
    let resume: (Keychain) throws -> Void
    /// Makes all class keys available.
    package let unlock: (Keychain) throws -> Void
    /// Makes a keychain, which gets its name once `fill` has filled it; with the class keys of an unencrypted archive,
    /// if one is given.
    package let make: (_ adopting: ProvenArchive?, _ fill: (Keychain) throws -> RestoreReport) throws -> RestoreReport

    package init(
        hasPasscode: Bool, isChosen: Bool? = nil, open: @escaping () throws -> Keychain,
        resume: @escaping (Keychain) throws -> Void = { _ in },
        unlock: @escaping (Keychain) throws -> Void,
        make:
            @escaping (_ adopting: ProvenArchive?, _ fill: (Keychain) throws -> RestoreReport) throws
            -> RestoreReport
    ) {
        self.hasPasscode = hasPasscode
        self.isChosen = isChosen ?? hasPasscode
        self.open = open
        self.resume = resume
        self.unlock = unlock
        self.make = make
    }

    /// Opens the file, with the keys that need no question.
    func opened() throws -> Keychain {
        let keychain = try open()
        try resume(keychain)
        return keychain
    }
}
