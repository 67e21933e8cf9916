internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCHomeFiles
internal import KCItemSources
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCLocalKeychains

/// The states of a home before changes: of each change the files that it replaced, as an unencrypted archive of this
/// device, and the record of what it wrote.
struct HomeStates {
    let folder: ArchivedStateFolder
    private let root: HomeRoot
    private let setting: StateSetting

    /// - Parameter path: the path of the home, or of the system's root.
    init(_ root: HomeRoot, _ path: String, _ setting: StateSetting) {
        self.root = root
        self.setting = setting
        folder = ArchivedStateFolder(setting, of: root.sourceKind, below: path)
    }

    /// Makes codes of files, which differ if their bytes or their permissions do.
    ///
    /// - Throws: `DeviceKeyFailure`, `CryptographyFailure`.
    func coding() throws -> (_ permissions: UInt32, borrowing SecretBytes) throws -> [UInt8] {
        let (device, _) = try setting.device.keyOrFirst()
        var code = try HMAC(key: device.sourceSealKey(context: "files of a home"))
        return { permissions, bytes in
            try code.update([UInt8(permissions >> 8), UInt8(permissions & 0xff)].span)
            try code.update(bytes)
            return try code.finalize()
        }
    }

    /// Keeps what is at the paths of a record, and which folders are missing, before that changes.
    ///
    /// - Parameters:
    ///   - target: the oldest state that the change takes back; nil if it is no undo.
    ///   - planned: what was at a path when the change was planned; nil for nothing.
    /// - Throws: `StateFailure.notKept`, also if a file is no longer as planned.
    func keep(
        before change: KeptStates.Change, _ files: [HomePath: [UInt8]?], target: ArchivedStateName? = nil,
        in home: WritableHome, planned: (HomePath) -> EntryStatus?
    ) throws(StateFailure) {
        do {
            var record = HomeRecord()
            record.files = files
            record.target = target
            var items = ItemCollection(date: .reference)
            for (path, code) in files {
                guard let rule = HomeTable.rule(for: path) else { continue }
                if code != nil { record.folders.formUnion(try home.missingFolders(of: path)) }
                switch try home.entry(at: path, rule) {
                case .file(let file) where file.status == planned(path):
                    try items.add(HomeItem(path, file).draft, secret: file.bytes.copy())
                case .missing where planned(path) == nil: continue
                case .file, .missing, .inTheWay: throw HomeFailure.changedMeanwhile(path.shown)
                }
            }
            try write(items, record, before: change)
        } catch {
            throw .notKept(error)
        }
    }

    /// Keeps what is left to take back, as the newest state.
    ///
    /// - Parameter files: what was at each path of the record, and is to come back; nil for nothing.
    func keep(rest record: HomeRecord, _ files: [HomePath: KeptFile?], of state: KeptState) throws(StateFailure) {
        do {
            var items = ItemCollection(date: .reference)
            for case let (_, kept?) in files { try items.add(kept.file.draft, secret: kept.bytes.copy()) }
            try write(items, record, before: state.before)
        } catch {
            throw .notKept(error)
        }
    }

    private func write(
        _ items: consuming ItemCollection, _ record: HomeRecord, before change: KeptStates.Change?
    ) throws {
        let (device, _) = try setting.device.keyOrFirst()
        var name = ArchivedStateName(at: setting.now, after: try folder.names().first, before: change)
        let first = name
        let backup = CreateBackup(
            of: try ArchiveSource(kind: root.sourceKind, name: ""), device: device, tool: setting.tool,
            to: FolderDestination(folder: folder.path) { number in
                name = first.next(number - 1)
                return name.file
            }, now: setting.now)
        // A record without a state is removed later; a state without a record could not be undone.
        try record.write(of: folder.state(first), device)
        _ = try backup.unencrypted(SealedSource(try items.finish(), deviceKey: device))
        if name != first { try record.write(of: folder.state(name), device) }
        setting.didKeep()
    }

    /// The files that a state has, and the record of what was written after it.
    ///
    /// - Throws: `StateFailure.unreadable`.
    func contents(of state: KeptState) throws -> (files: [HomePath: KeptFile], record: HomeRecord) {
        let proven = try folder.open(state)
        return try state.reading {
            guard let device = try setting.device.keyIfAny(),
                let record = try HomeRecord.read(of: state, in: root, device)
            else { throw ArchiveFailure.damaged(rule: "its record is missing") }
            var visitor = KeptFiles()
            _ = try Bring(.archive(proven), options: RestoreOptions()).visit(&visitor, step: {})
            return (visitor.files, record)
        }
    }

    /// Removes states that were brought back, old ones, and records without a state.
    func tidy(used: [ArchivedStateName] = []) {
        setting.removing {
            try folder.removeStates(used: used)
            let known = try folder.names()
            for name in try Path.names(in: folder.path) {
                guard let state = HomeRecord.state(ofRecord: name), !known.contains(state) else { continue }
                try Path.remove("\(folder.path)/\(name)")
            }
        }
    }
}

/// A file as a state has it.
final class KeptFile {
    let item: Item
    let file: HomeItem
    let bytes: SecretBytes

    init(_ item: Item, _ file: HomeItem, _ bytes: consuming SecretBytes) {
        self.item = item
        self.file = file
        self.bytes = bytes
    }
}

/// Takes the files of a state.
private struct KeptFiles: ItemVisitor {
    var files: [HomePath: KeptFile] = [:]

    func wants(_ item: Item) -> Bool { HomeItem(item) != nil }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        guard let file = HomeItem(item) else { return }
        files[file.path] = KeptFile(item, file, secret.copy())
    }

    func skip(damaged item: Item?) {}
}
