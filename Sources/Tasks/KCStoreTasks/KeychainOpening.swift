package import KCByteStreams
internal import KCDeviceIdentity
package import KCHomeFiles
internal import KCItemStores
package import KCKeychainStore
package import KCLocalKeychains

/// A failure of a keychain, with its name.
package struct KeychainFailure: Error, Hashable, Sendable {
    /// The keychain as named by the user.
    package let name: String
    package let error: KeychainStoreError

    package init(_ name: String, _ error: KeychainStoreError) {
        (self.name, self.error) = (name, error)
    }

    /// True if the keychain is of another device, or of a key that was replaced.
    package var isOfOtherDevice: Bool { if case .otherDevice = error { true } else { false } }
}

/// A name of something else than a keychain, where only a keychain can be used.
package enum KeychainNameProblem: Error, Hashable, Sendable {
    case fileOfItems
    case desktopKeyring
    case files(HomeRoot)
    case misnamed(String, MeantStore)
    /// A file without a path.
    case emptyPath

    fileprivate init(insteadOf other: any NamedStore) {
        self =
            switch other {
            case let home as NamedHome: .files(home.root)
            case is DesktopKeyring: .desktopKeyring
            default: .fileOfItems
            }
    }
}

extension LocalKeychain {
    /// Resolves a keychain name given by the user; nil means the default keychain.
    ///
    /// - Throws: `LocalKeychainFailure` (`emptyName`, `invalidName`, `listsDamaged`, `file`), `KeychainNameProblem`.
    package init(_ given: String?, in machine: Machine) throws {
        if let other = try given.flatMap(StoreChoice.prefixed) { throw KeychainNameProblem(insteadOf: other) }
        // No name of a keychain has a colon.
        if let given, given.exact.contains(":"), let meant = MeantStore(given) {
            throw KeychainNameProblem.misnamed(given, meant)
        }
        let expanded = given.map { $0.exact.hasPrefix("~/") ? machine.resolve($0) : $0 }
        try self.init(expanded, in: machine.dataFolder, workingFolder: machine.workingFolder)
    }

    /// Opens the file; only keys that need no passcode are available.
    ///
    /// ```swift
    /// let keychain = try LocalKeychain("login", in: machine).open(in: machine)
    /// ```
    ///
    /// - Throws: `KeychainFailure`, `DeviceKeyFailure`, `LocalKeychainFailure` (`deviceKeyMissing`), `FileFailure`.
    package func open(in machine: Machine) throws -> Keychain {
        try naming {
            do {
                return try open(on: LocalDevice(machine), minimumCost: machine.costs.lowestPasscode)
            } catch KeychainStoreError.file(let failure)
                where failure.path.exact == path.exact || failure.path.exact == ("./" + path).exact
            {
                // Advice on permissions is of use only for a keychain.
                if failure.problem.isOfAccess, !Keychain.begins(path) {
                    throw KeychainStoreError.notAKeychain(.notADatabase)
                }
                // The store puts "./" before a relative path, and the user did not.
                throw KeychainStoreError.file(FileFailure(path, failure.problem))
            }
        }
    }

    /// Runs `body`, and names the keychain in its failures.
    ///
    /// - Throws: `KeychainFailure` instead of `KeychainStoreError`, also within `WrongSecret`, and what else `body` throws.
    package func naming<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as KeychainStoreError {
            throw KeychainFailure(name, error)
        } catch let wrong as WrongSecret {
            guard let error = wrong.error as? KeychainStoreError else { throw wrong }
            throw WrongSecret(error: KeychainFailure(name, error), kind: wrong.kind, doubts: wrong.doubts)
        }
    }

    /// Checks that a keychain that is to be made is not named as another store is.
    package func requireNoOther() throws(KeychainNameProblem) {
        if let meant = MeantStore(name) { throw .misnamed(name, meant) }
    }

    /// The store that is meant, where this keychain is missing.
    package func meantStore(in machine: Machine) throws(FileFailure) -> MeantStore? {
        let names = try LocalKeychain.names(in: machine.dataFolder) + [Self.defaultName]
        return MeantStore(name, keychains: names.filter { $0.exact != name.exact })
    }
}

extension Machine {
    /// The names of the keychains of this device that have a passcode, without those that cannot be opened: nothing is
    /// tried on them.
    package func keychainsWithPasscode() throws(FileFailure) -> [String] {
        try LocalKeychain.names(in: dataFolder).filter { name in
            do {
                return try LocalKeychain(name, in: self).open(in: self).hasPasscode
            } catch {
                return false
            }
        }
    }
}

extension FileFailure.Problem {
    /// True if the file is refused for its owner or its permissions.
    fileprivate var isOfAccess: Bool {
        switch self {
        case .exposed, .foreignOwner: true
        default: false
        }
    }
}

extension Keychain {
    /// True if the file begins as every keychain does, or cannot be read.
    ///
    /// The file must not be open as a keychain, whose locks this would release.
    fileprivate static func begins(_ path: String) -> Bool {
        let magic = Array("SQLite format 3\0".utf8)
        var start = SecretBytes(capacity: magic.count)
        do {
            let file = try OpenFile.reading(path)
            try start.append(upTo: magic.count) { output throws(StreamFailure) in try file.read(at: 0, into: &output) }
        } catch {
            // The failure that led here says more.
            return true
        }
        return start.withBytes { bytes in
            bytes.count == magic.count && magic.indices.allSatisfy { bytes[$0] == magic[$0] }
        }
    }
}
