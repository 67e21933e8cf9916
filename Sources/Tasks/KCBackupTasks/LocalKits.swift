package import KCDeviceIdentity
package import KCLocalKeychains
package import KCRecoveryKits
package import KCStoreTasks

/// The recovery kits of this device, with failures of their list told apart from those of other lists.
package struct LocalKits {
    private let kits: RecoveryKits

    /// Locates the list of the owner of `key`.
    package init(of key: DeviceKey, at device: LocalDevice) {
        kits = RecoveryKits(besideKeyAt: device.keyPath, of: key)
    }

    /// The kits, oldest first.
    package func list() throws(KitProblem) -> [RecoveryKit] {
        do throws(StateFileFailure) {
            return try kits.list()
        } catch {
            throw .list(error)
        }
    }

    /// Reads the kits, changes them, and writes them; what `body` throws leaves them as they were.
    package func change<Result>(_ body: (inout [RecoveryKit]) throws -> Result) throws -> Result {
        do {
            return try kits.change(body)
        } catch let failure as StateFileFailure {
            throw KitProblem.list(failure)
        }
    }
}

extension Machine {
    /// The recovery kits of this device; none if it has no key yet.
    ///
    /// - Throws: `DeviceKeyFailure`, `KitProblem`.
    package func recoveryKits() throws -> [RecoveryKit] {
        let device = LocalDevice(self)
        return try device.keyIfAny().map { try LocalKits(of: $0, at: device).list() } ?? []
    }
}
