internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains

/// The folder of the kept states of the desktop keyring, which can be read even if no Secret Service runs.
struct KeyringStateFolder {
    let path: String
    private let setting: StateSetting

    init(_ setting: StateSetting) {
        path = "\(setting.folder.keptStates)/\(ArchiveSource.desktopKeyring)"
        self.setting = setting
    }

    /// The names of the states, newest first.
    func names() throws(FileFailure) -> [KeyringStateName] {
        try PrivateFolder.require(path, mayBeMissing: true)
        return try Path.names(in: path).compactMap { KeyringStateName(file: $0) }.sorted(by: >)
    }

    func state(_ name: KeyringStateName) -> KeptState {
        KeptState(name: name.text, path: path(of: name), date: name.date, before: name.before)
    }

    private func path(of name: KeyringStateName) -> String { "\(path)/\(name.file)" }

    /// Opens a state, which only this device can have made.
    ///
    /// - Throws: `StateFailure.unreadable`.
    func open(_ state: KeptState) throws -> ProvenArchive {
        try state.reading {
            let archive = try ArchiveFile(OpenFile.reading(state.path)).prove().open()
            return try ProvenArchive(archive, local: setting.device.keyIfAny().map { LocalIdentity(device: $0) })
        }
    }

    /// The number of items of a state that pass `filter`.
    ///
    /// - Throws: `StateFailure.unreadable`.
    func count(_ filter: ItemFilter?, in state: KeptState) throws -> Int {
        let proven = try open(state)
        return try state.reading {
            var count = 0
            _ = try proven.survey { item in if filter?.matches(item) ?? true { count += 1 } }
            return count
        }
    }

    /// Runs `body` while no other run writes to the keyring.
    func alone<Result>(_ body: () throws -> Result) throws -> Result {
        try Path.makeFolder(path)
        let lock = try FileLock.ofFolder(path)
        return try withExtendedLifetime(lock) { try body() }
    }

    /// Removes old states, the one that was brought back, and the record of a restore that is complete; that of another
    /// one is still needed.
    ///
    /// As for a keychain, as many states are kept before restores as before changes of items.
    ///
    /// - Parameter record: the name of that record.
    func tidy(removing record: String?, using used: KeyringStateName? = nil) {
        setting.removing {
            if let record { try Path.remove("\(path)/\(record)") }
            if let used { try Path.remove(path(of: used)) }
            for isOfItems in [false, true] {
                let alike = try names().filter { ($0.before?.isOfItems ?? false) == isOfItems }
                for name in alike.dropFirst(KeptStates.limit) { try Path.remove(path(of: name)) }
            }
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
