package import KCAgeEncryption
package import KCAsking
internal import KCByteStreams
internal import KCDeviceIdentity
package import KCFileProtection
internal import KCItemStores
package import KCKeychainKeys
internal import KCKeychainModel
package import KCKeychainStore
package import KCLocalKeychains

/// Where the keys of files can be on this device: the device itself, and its keychains.
package struct FileKeyPlaces {
    /// A place with a key.
    package enum Place {
        case device(X25519Identity)
        case keychain(LocalKeychain, Keychain, FileKeyClass)

        /// The class of the files that it opens.
        package var protection: FileProtection {
            switch self {
            case .device: .none
            case .keychain(_, _, let fileClass): .keychain(fileClass)
            }
        }

        /// Who the file names in its mark.
        package var holder: FileKeyHolder {
            switch self {
            case .device(let identity): .device(identity.recipient.publicKey)
            case .keychain(_, let keychain, let fileClass): .keychain(keychain.storeID, fileClass)
            }
        }
    }

    package private(set) var places: [Place] = []
    /// Why a keychain could not be looked at, with its name.
    private var failures: [any Error] = []
    /// Why the keychain that the user named could not be looked at.
    package private(set) var failureOfNamed: (any Error)?

    /// Looks at the device and at the keychains that are searched.
    ///
    /// - Parameters:
    ///   - given: a keychain that the user named, which comes first.
    ///   - passesOver: true if it is passed over as others are if it does not open.
    package init(_ given: String?, passesOver: Bool = false, in machine: Machine) throws {
        let device = LocalDevice(machine)
        // Without a device key, no file was ever protected here.
        if try device.keyIfAny() != nil { places.append(.device(try machine.deviceFileIdentity())) }
        let folder = machine.dataFolder
        var keychains = try given.map { [try LocalKeychain($0, in: machine)] } ?? []
        for local in try KeychainLists.load(from: folder).searched(in: folder) where try Path.exists(local.path) {
            if !keychains.contains(local) { keychains.append(local) }
        }
        for local in keychains {
            do {
                let keychain = try local.open(in: machine)
                places += FileKeyClass.allCases.map { .keychain(local, keychain, $0) }
            } catch {
                let isNamed = local.name.exact == given?.exact
                if isNamed, !passesOver { throw error }
                failures.append(error)
                if isNamed { failureOfNamed = error }
            }
        }
    }

    /// The place with the key of a file, by its mark; nil for a file that is not marked for this device.
    package func place(of stanzas: [Stanza]) throws -> Place? {
        guard let holder = try ProtectionMark.holder(of: stanzas, among: places.map(\.holder)) else { return nil }
        return places.first { $0.holder == holder }
    }

    /// Throws why a keychain could not be looked at that may have a key, if there was one.
    package func requireAll() throws { if let failure = failures.first { throw failure } }
}

extension FileKeyPlaces.Place {
    /// The keychain, as the user knows it.
    package var keychain: LocalKeychain? {
        switch self {
        case .device: nil
        case .keychain(let local, _, _): local
        }
    }

    /// Its keys as ones to encrypt to, as far as they are known: of a locked keychain, one key at most is.
    package func knownRecipients(in machine: Machine) throws -> [X25519Recipient] {
        switch self {
        case .device(let identity): return [identity.recipient]
        case .keychain(_, let keychain, let fileClass):
            guard keychain.keybag.hasFileKeys else { return [] }
            try machine.unlocked.peek(keychain)
            if keychain.canOpen(Protection(fileClass.accessibility)) {
                return try keychain.fileIdentities(fileClass).map(\.recipient)
            }
            return keychain.keybag.openFilePublicKey(fileClass).map { [X25519Recipient(publicKey: $0)] } ?? []
        }
    }

    /// True if it opens its files without a question.
    package func isOpen(in machine: Machine) throws -> Bool {
        switch self {
        case .device: return true
        case .keychain(_, let keychain, let fileClass):
            if !keychain.hasPasscode { return true }
            try machine.unlocked.resume(keychain)
            return keychain.canOpen(Protection(fileClass.accessibility))
        }
    }

    /// The identities that open its files.
    ///
    /// - Parameters:
    ///   - passcode: where a passcode comes from.
    ///   - canBeGiven: false if a passcode that is given would be for another keychain.
    package func identities(
        _ passcode: SecretSource?, canBeGiven: Bool, in context: TaskContext
    ) throws -> [any Identity] {
        switch self {
        case .device(let identity): return [identity]
        case .keychain(let local, let keychain, let fileClass):
            try context.unlock(
                keychain, of: local, for: .of([Protection(fileClass.accessibility)]), passcode: passcode,
                canBeGiven: canBeGiven)
            return try local.naming { try keychain.fileIdentities(fileClass) }
        }
    }

    /// Opens what tells the newest key, or lets it be made, and changes nothing.
    ///
    /// - Parameter passcode: where a passcode comes from, if the key is not known without.
    package func open(_ passcode: SecretSource?, in context: TaskContext) throws {
        guard case .keychain(let local, let keychain, let fileClass) = self else { return }
        if !keychain.knowsFilePublicKey(fileClass) || passcode != nil {
            try context.unlock(
                keychain, of: local, for: .of([Protection(fileClass.accessibility)]), passcode: passcode)
        }
        // The first file of a class makes its key.
        if keychain.keybag.openFilePublicKey(fileClass) == nil,
            try local.naming({ try keychain.fileKeys(fileClass).isEmpty })
        {
            try local.naming { try local.requireChangeable() }
        }
    }

    /// The identity that names the newest key, which is made if there is none.
    ///
    /// - Parameter passcode: as in `open`.
    package func identity(_ passcode: SecretSource?, in context: TaskContext) throws -> ProtectionIdentity {
        try open(passcode, in: context)
        switch self {
        case .device(let identity): return ProtectionIdentity(device: identity.recipient.publicKey)
        case .keychain(let local, let keychain, let fileClass):
            return ProtectionIdentity(
                keychain: keychain.storeID, fileClass,
                publicKey: try local.naming { try keychain.filePublicKey(fileClass) })
        }
    }
}

extension Keychain {
    /// The age identities that open the files of a class, newest first.
    package func fileIdentities(_ fileClass: FileKeyClass) throws -> [X25519Identity] {
        var identities: [X25519Identity] = []
        for key in try fileKeys(fileClass) {
            guard let identity = try X25519Identity.of(key.secret.copy()) else {
                throw KeychainStoreError.damaged("a key of files has a wrong size")
            }
            identities.append(identity)
        }
        return identities
    }
}

extension Machine {
    /// The identity of this device, which opens files of the class 'none'.
    ///
    /// - Throws: `DeviceKeyFailure`, `CryptographyFailure`.
    package func deviceFileIdentity() throws -> X25519Identity {
        guard let identity = try X25519Identity.of(LocalDevice(self).key().fileIdentityKey()) else {
            preconditionFailure("a key that was derived for files has another size")
        }
        return identity
    }

    /// True if each of these keys is one that this device, or a keychain of it, has for files; false for none.
    ///
    /// - Throws: errors of reading the device key and the list of keychains.
    package func hasKeys(of recipients: [GivenRecipient]) throws -> Bool {
        var others: Set<GivenRecipient> = Set(recipients)
        let canBeOfFiles = others.allSatisfy { if case .native(.x25519) = $0 { true } else { false } }
        guard !others.isEmpty, canBeOfFiles else { return false }
        for place in try FileKeyPlaces(nil, in: self).places {
            do {
                for own in try place.knownRecipients(in: self) { others.remove(.native(.x25519(own))) }
            } catch {
                // A problem with another keychain is no reason to make no backup; its keys are not known.
                continue
            }
        }
        return others.isEmpty
    }
}
