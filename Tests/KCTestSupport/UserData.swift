import KCByteStreams
import KCCryptography
import KCDeviceIdentity
package import KCKeychainModel
package import KCKeychainStore
package import KCLocalKeychains

/// A user's data folder, laid out as the programs keep it.
package struct UserData: Sendable {
    /// The passcode of keychains that have one.
    package static let passcode = "walnut"

    /// The folder that contains the data folder.
    package let folder: TemporaryFolder
    /// The folder with keychains and device key; programs find it if `XDG_DATA_HOME` is the path of `folder`.
    package let data: DataFolder
    /// The path of the machine ID file.
    package let machineIDPath: String

    /// Makes a folder without keychains.
    ///
    /// - Parameters:
    ///   - isThisMachine: true to use the machine ID of this machine, which the real programs read.
    ///   - inMemory: as in `TemporaryFolder`.
    package init(isThisMachine: Bool = false, inMemory: Bool = false) throws {
        folder = try TemporaryFolder(inMemory: inMemory)
        data = DataFolder(path: folder.path("kcbackup"))
        machineIDPath = isThisMachine ? "/etc/machine-id" : folder.path(TemporaryFolder.machineIDName)
        if !isThisMachine { try folder.writeMachineID() }
        try Path.makeFolder(data.keychains)
    }

    /// The device key, and the files beside it.
    package var device: LocalDevice { LocalDevice(data, machineIDPath: machineIDPath) }
    /// The path of the default keychain.
    package var keychainPath: String { data.keychains + "/login.keychain" }

    /// Makes a keychain, and the device key with the first one.
    ///
    /// - Parameter name: nil for the default keychain.
    @discardableResult
    package func makeKeychain(_ name: String? = nil, hasPasscode: Bool = false, now: Timestamp) throws -> Keychain {
        let passcode = hasPasscode ? SecretBytes(copying: Self.passcode.utf8) : nil
        return try Keychain.create(
            at: LocalKeychain(name, in: data).path, deviceKey: device.keyOrFirst().key, passcode: passcode,
            cost: ScryptCost(logN: 14), now: now)
    }
}

extension TemporaryFolder {
    static let machineIDName = "machine-id"

    /// Writes the machine ID (machine-id(5)) of another machine.
    func writeMachineID() throws {
        try write(Self.machineIDName, Array("0123456789abcdef0123456789abcdef\n".utf8), mode: 0o644)
    }
}
