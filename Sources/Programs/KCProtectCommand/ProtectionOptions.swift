internal import KCFileProtection
internal import KCLocalKeychains
internal import KCStoreTasks
internal import KCTerminal

extension FileProtection {
    /// The place with the key of this class, of the keychain that the options name.
    func place(_ options: LocalKeychainOptions, in session: Session) throws -> FileKeyPlaces.Place {
        switch self {
        case .none:
            if options.keychain != nil { throw UsageProblem.deviceAlone(.keychain) }
            if options.passcode != nil { throw UsageProblem.deviceAlone(.passcode) }
            return .device(try session.machine.deviceFileIdentity())
        case .keychain(let fileClass):
            let local = try LocalKeychain(options.keychain, in: session.machine)
            return .keychain(local, try options.passcodeOption.open(local, in: session), fileClass)
        }
    }
}
