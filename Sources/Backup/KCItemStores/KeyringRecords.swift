internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCLocalKeychains

// The records of restores into the desktop keyring, which are beside its states.
extension ArchivedStateFolder {
    /// Removes old states, the one that was brought back, and the record of a restore that is complete; that of another
    /// one is still needed.
    ///
    /// - Parameter record: the name of that record.
    func tidy(removing record: String?, using used: ArchivedStateName? = nil) {
        setting.removing {
            if let record { try Path.remove("\(path)/\(record)") }
            try removeStates(used: used.map { [$0] } ?? [])
            // Without its state, a restore cannot be undone any longer, and a record that is not used is of no use.
            let known = try names()
            for name in try Path.names(in: path) where RestoreRecord.isName(name) {
                let record = try self.record(name)
                if record == nil || record?.state.map(known.contains) == false { try Path.remove("\(path)/\(name)") }
            }
        }
    }

    /// The file of a record; nil if there is no device key.
    func file(ofRecord name: String) throws(DeviceKeyFailure) -> StateFile? {
        try setting.device.keyIfAny().map { RestoreRecord.file(name, in: path, of: $0) }
    }

    /// Reads a record; nil if there is none, or if it is not as this device wrote it, which is told.
    ///
    /// - Throws: `DeviceKeyFailure`, `FileFailure`, `CryptographyFailure`.
    func record(_ name: String) throws -> RestoreRecord? {
        guard let file = try file(ofRecord: name) else { return nil }
        do throws(StateFileFailure) {
            return try RestoreRecord(in: file)
        } catch {
            switch error {
            case .altered(let path), .otherDevice(let path, _), .otherFormat(let path):
                setting.warn(.lostRecord(path: path))
                return nil
            case .file(let failure): throw failure
            case .cryptography(let failure): throw failure
            }
        }
    }
}
