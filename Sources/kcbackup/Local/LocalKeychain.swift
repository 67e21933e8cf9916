internal import ByteStreams
internal import DeviceIdentity
internal import KeychainStore

/// A keychain as the command line names it, and where its file is.
struct LocalKeychain {
    /// The keychain of somebody who names none.
    static let defaultName = "login"
    private static let ending = ".keychain"
    // A file name has at most 255 bytes, of which the endings of keychain, journal and lock take up to 17.
    private static let nameLimit = 64

    /// As the user named it.
    let name: String
    /// The file.
    let path: String

    /// Finds the file of a name (in the data folder) or of a path (anything with a `/`); nil means `login`.
    ///
    /// - Throws: `UsageProblem` (`empty`, `keychainName`).
    init(_ given: String?, in world: World) throws(UsageProblem) {
        name = given ?? Self.defaultName
        if name.isEmpty { throw .empty(.keychain) }
        if name.contains("/") {
            path = world.resolve(name)
        } else {
            guard Self.isName(name) else { throw .keychainName }
            path = "\(Self.folder(in: world))/\(name)\(Self.ending)"
        }
    }

    /// Where keychains with a name are.
    static func folder(in world: World) -> String { world.dataFolder + "/keychains" }

    /// The names of the keychains in the data folder, sorted.
    ///
    /// - Throws: `FileFailure`.
    static func names(in world: World) throws(FileFailure) -> [String] {
        try fileNames(in: folder(in: world)).filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }
            .filter(isName).sorted()
    }

    /// Opens the file; only what needs no passcode is at hand.
    ///
    /// - Throws: `KeychainStoreError`, `DeviceKeyFailure`, `Refusal` (`deviceKeyMissing`).
    func open(in session: Session) throws -> Keychain {
        session.subjects.keychain = name
        guard Path.exists(path) else { throw KeychainStoreError.notFound(path) }
        let device = try LocalDevice(session.world).key()
        return try Keychain.open(at: path, deviceKey: device, minimumCost: session.world.costs.lowestPasscode)
    }

    private static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= nameLimit else { return false }
        return ![UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: " ")].contains(first)
            && name.unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "._- ".unicodeScalars.contains(scalar)
            }
    }
}
