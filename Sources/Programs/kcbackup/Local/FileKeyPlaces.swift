internal import KCAgeEncryption
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCFileProtection
internal import KCItemStores
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

/// Where the keys of files can be on this device: the device itself, and its keychains.
struct FileKeyPlaces {
    /// A place with a key.
    enum Place {
        case device(X25519Identity)
        case keychain(LocalKeychain, Keychain, FileKeyClass)

        /// The class of the files that it opens.
        var protection: FileProtection {
            switch self {
            case .device: .none
            case .keychain(_, _, let fileClass): .keychain(fileClass)
            }
        }

        /// Who the file names in its mark.
        var holder: FileKeyHolder {
            switch self {
            case .device(let identity): .device(identity.recipient.publicKey)
            case .keychain(_, let keychain, let fileClass): .keychain(keychain.storeID, fileClass)
            }
        }
    }

    private(set) var places: [Place] = []
    /// Why a keychain could not be looked at, with its name.
    private var failures: [Failure] = []
    /// Why the keychain that the user named could not be looked at.
    private(set) var failureOfNamed: Failure?

    /// Looks at the device and at the keychains that are searched.
    ///
    /// - Parameters:
    ///   - given: a keychain that the user named, which comes first.
    ///   - passesOver: true if it is passed over as others are if it does not open.
    init(_ given: String?, passesOver: Bool = false, in session: Session) throws {
        let device = LocalDevice(session.machine)
        // Without a device key, no file was ever protected here.
        if try device.keyIfAny() != nil { places.append(.device(try LocalFileKeys.deviceIdentity(in: session))) }
        let folder = session.machine.dataFolder
        var keychains = try given.map { [try LocalKeychain($0, in: session.machine)] } ?? []
        for local in try KeychainLists.load(from: folder).searched(in: folder) where try Path.exists(local.path) {
            if !keychains.contains(local) { keychains.append(local) }
        }
        for local in keychains {
            do {
                let keychain = try local.open(in: session.machine)
                places += FileKeyClass.allCases.map { .keychain(local, keychain, $0) }
            } catch {
                let isNamed = local.name.exact == given?.exact
                if isNamed, !passesOver { throw error }
                let failure = session.failure(of: error)
                failures.append(failure)
                if isNamed { failureOfNamed = failure }
            }
        }
    }

    /// The place with the key of a file, by its mark; nil for a file that is not marked for this device.
    func place(of stanzas: [Stanza]) throws -> Place? {
        guard let holder = try ProtectionMark.holder(of: stanzas, among: places.map(\.holder)) else { return nil }
        return places.first { $0.holder == holder }
    }

    /// Throws why a keychain could not be looked at that may have a key, if there was one.
    func requireAll() throws(Failure) { if let failure = failures.first { throw failure } }
}

extension FileKeyPlaces.Place {
    /// The keychain, as the user knows it.
    var keychain: LocalKeychain? {
        switch self {
        case .device: nil
        case .keychain(let local, _, _): local
        }
    }

    /// Its keys as ones to encrypt to, as far as they are known: of a locked keychain, one key at most is.
    func knownRecipients(in session: Session) throws -> [X25519Recipient] {
        switch self {
        case .device(let identity): return [identity.recipient]
        case .keychain(_, let keychain, let fileClass):
            guard keychain.keybag.hasFileKeys else { return [] }
            try session.machine.unlocked.peek(keychain)
            if keychain.canOpen(Protection(fileClass.accessibility)) {
                return try keychain.fileIdentities(fileClass).map(\.recipient)
            }
            return keychain.keybag.openFilePublicKey(fileClass).map { [X25519Recipient(publicKey: $0)] } ?? []
        }
    }

    /// True if it opens its files without a question.
    func isOpen(in session: Session) throws -> Bool {
        switch self {
        case .device: return true
        case .keychain(_, let keychain, let fileClass):
            if !keychain.hasPasscode { return true }
            try session.machine.unlocked.resume(keychain)
            return keychain.canOpen(Protection(fileClass.accessibility))
        }
    }

    /// The identities that open its files.
    ///
    /// - Parameters:
    ///   - option: where a passcode comes from.
    ///   - isMeant: false if a passcode that is given would be for another keychain.
    func identities(_ option: PasscodeOption, isMeant: Bool, in session: Session) throws -> [any Identity] {
        switch self {
        case .device(let identity): return [identity]
        case .keychain(let local, let keychain, let fileClass):
            session.subject.store = local.name
            try session.context.unlock(
                keychain, of: local, for: .of([Protection(fileClass.accessibility)]), passcode: option.passcode,
                canBeGiven: isMeant)
            return try keychain.fileIdentities(fileClass)
        }
    }

    /// Opens what tells the newest key, or lets it be made, and changes nothing.
    ///
    /// - Parameter option: where a passcode comes from, if the key is not known without.
    func open(_ option: PasscodeOption, in session: Session) throws {
        guard case .keychain(let local, let keychain, let fileClass) = self else { return }
        session.subject.store = local.name
        if !keychain.knowsFilePublicKey(fileClass) || option.passcode != nil {
            try session.context.unlock(
                keychain, of: local, for: .of([Protection(fileClass.accessibility)]), passcode: option.passcode)
        }
        // The first file of a class makes its key.
        if keychain.keybag.openFilePublicKey(fileClass) == nil, try keychain.fileKeys(fileClass).isEmpty {
            try local.requireChangeable()
        }
    }

    /// The identity that names the newest key, which is made if there is none.
    ///
    /// - Parameter option: as in `open`.
    func identity(_ option: PasscodeOption, in session: Session) throws -> ProtectionIdentity {
        try open(option, in: session)
        switch self {
        case .device(let identity): return ProtectionIdentity(device: identity.recipient.publicKey)
        case .keychain(_, let keychain, let fileClass):
            return ProtectionIdentity(
                keychain: keychain.storeID, fileClass, publicKey: try keychain.filePublicKey(fileClass))
        }
    }
}

extension FileProtection {
    /// The place with the key of this class, of the keychain that the options name.
    func place(_ options: LocalKeychainOptions, in session: Session) throws -> FileKeyPlaces.Place {
        switch self {
        case .none:
            if options.keychain != nil { throw UsageProblem.deviceAlone(.keychain) }
            if options.passcode != nil { throw UsageProblem.deviceAlone(.passcode) }
            return .device(try LocalFileKeys.deviceIdentity(in: session))
        case .keychain(let fileClass):
            let local = try LocalKeychain(options.keychain, in: session.machine)
            return .keychain(local, try options.passcodeOption.open(local, in: session), fileClass)
        }
    }
}
