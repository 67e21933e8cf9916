import Foundation
package import KCAsking
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCKeychainStore
package import KCLocalKeychains
package import KCStoreTasks
package import KCTestSupport

/// A machine of its own in a temporary folder, on which deriving keys costs little and no desktop runs.
package final class ScratchMachine {
    package let folder: TemporaryFolder
    package let machine: Machine
    /// The events that tasks have told.
    package private(set) var events: [any TaskEvent] = []

    package init() throws {
        folder = try TemporaryFolder(inMemory: true)
        var machine = Machine(
            clock: { .reference }, environment: [:], home: folder.path,
            costs: DerivationCosts(passcode: ScryptCost(logN: 1), lowestPasscode: ScryptCost(logN: 1)),
            program: "kcbackup")
        machine.machineIDPath = "/none"
        machine.userRuntimeFolder = folder.path
        machine.workingFolder = folder.path
        self.machine = machine
    }

    /// The context that tasks work with.
    package func context(_ asking: ScriptedAsking = ScriptedAsking()) -> TaskContext {
        TaskContext(machine: machine, asking: asking, now: .reference) { self.events.append($0) }
    }

    /// Makes a keychain.
    package func make(_ name: String, passcode: String? = nil) throws -> LocalKeychain {
        let local = try LocalKeychain(name, in: machine)
        try FileManager.default.createDirectory(
            atPath: machine.dataFolder.keychains, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let secret: SecretBytes? = if let passcode { SecretBytes(copying: passcode.utf8) } else { nil }
        _ = try Keychain.create(
            at: local.path, deviceKey: LocalDevice(machine).keyOrFirst().key, passcode: secret,
            cost: ScryptCost(logN: 1), now: .reference)
        return local
    }
}
