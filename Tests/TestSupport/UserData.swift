import ByteStreams
import Cryptography
import DeviceIdentity
package import KeychainModel
package import KeychainStore
package import LocalKeychains

/// A user's data folder, as the programs of the user keep it.
package struct UserData: Sendable {
    /// The passcode of keychains that have one.
    package static let passcode = "walnut"

    /// What the data folder is in.
    package let folder: TemporaryFolder
    /// Where keychains and device key are; with `XDG_DATA_HOME` set to the path of `folder`, programs find it.
    package let data: DataFolder
    /// Where the machine ID is.
    package let machineIDPath: String

    /// Makes a folder without keychains.
    ///
    /// - Parameters:
    ///   - isThisMachine: true for the machine ID of this machine, which the real programs read.
    ///   - inMemory: as in `TemporaryFolder`.
    package init(isThisMachine: Bool = false, inMemory: Bool = false) throws {
        folder = try TemporaryFolder(inMemory: inMemory)
        data = DataFolder(path: folder.path("kcbackup"))
        machineIDPath = isThisMachine ? "/etc/machine-id" : folder.path(TemporaryFolder.machineIDName)
        if !isThisMachine { try folder.writeMachineID() }
        try Path.makeFolder(data.keychains)
    }

    /// The device key, and what lies beside it.
    package var device: LocalDevice { LocalDevice(data, machineIDPath: machineIDPath) }
    /// Where the default keychain is.
    package var keychainPath: String { data.keychains + "/login.keychain" }

    /// Makes a keychain; the first one makes the device key too.
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

    /// Writes the machine ID (machine-id(5)) of a machine that is not this one.
    func writeMachineID() throws {
        try write(Self.machineIDName, Array("0123456789abcdef0123456789abcdef\n".utf8), mode: 0o644)
    }
}
