internal import KCBackupArchive
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCHomeFiles

/// Which files a change of a home writes, and what they are after it.
///
/// The record is beside the state that was kept before the change. Undo takes back these files alone, and knows by the
/// codes which of them were changed again.
struct HomeRecord {
    /// For each file the code of what is there after the change; nil if nothing is.
    var files: [HomePath: [UInt8]?] = [:]
    /// The folders that it makes.
    var folders: Set<HomePath> = []
    /// The oldest state that the change takes back, for an undo and for what is left of one; the undo is finished once that
    /// state is removed.
    var target: ArchivedStateName?

    // A line has a code and the path, at most 4,096 bytes in hexadecimal; see `HomeReader.countLimit`.
    private static let kind = StateFile.Kind("changed files", version: 1, sizeLimit: 1 << 30)
    private static let ending = ".files"

    private static func file(of state: KeptState, _ device: DeviceKey) -> StateFile {
        StateFile(path(of: state), kind, about: state.name, of: device)
    }

    private static func path(of state: KeptState) -> String { state.path + ending }

    /// The name of the state whose record has this name; nil if it is no record.
    static func state(ofRecord name: String) -> ArchivedStateName? {
        name.exact.removingSuffix(ending).flatMap { ArchivedStateName(file: $0) }
    }

    init() {}

    /// Reads the record of a state; nil if there is none.
    ///
    /// - Throws: `ArchiveFailure.damaged` for a file that is no record of this device, `FileFailure`, `CryptographyFailure`.
    static func read(of state: KeptState, in root: HomeRoot, _ device: DeviceKey) throws -> HomeRecord? {
        do throws(StateFileFailure) {
            return try HomeRecord(of: state, in: root, device)
        } catch {
            throw cause(of: error)
        }
    }

    /// Returns the error with which a state file fails, as a part of the state that the record belongs to.
    private static func cause(of failure: StateFileFailure) -> any Error {
        switch failure {
        case .file(let failure): failure
        case .cryptography(let failure): failure
        case .altered, .otherDevice, .otherFormat: ArchiveFailure.damaged(rule: "its record was changed")
        }
    }

    private init?(of state: KeptState, in root: HomeRoot, _ device: DeviceKey) throws(StateFileFailure) {
        let file = Self.file(of: state, device)
        guard let body = try file.read() else { return nil }
        guard let fields = StateFields(parsing: body) else { throw .altered(path: file.path) }
        for field in fields.fields {
            if field.name.exact == "target" {
                guard let name = ArchivedStateName(file: field.value) else { throw .altered(path: file.path) }
                target = name
                continue
            }
            let words = field.value.exact.split(separator: " ")
            guard let last = words.last, let bytes = Hexadecimal.decode(last),
                let path = String(validating: bytes, as: UTF8.self).flatMap({ HomePath($0, in: root) })
            else { throw .altered(path: file.path) }
            switch (field.name.exact, words.count) {
            case ("folder", 1): folders.insert(path)
            case ("file", 2) where words[0].exact == "-": files[path] = .some(nil)
            case ("file", 2):
                guard let code = Hexadecimal.decode(words[0]) else { throw .altered(path: file.path) }
                files[path] = code
            default: throw .altered(path: file.path)
            }
        }
    }

    /// Writes the record, in the place of one that a broken-off change left without a state.
    ///
    /// - Throws: `FileFailure`, `CryptographyFailure`.
    func write(of state: KeptState, _ device: DeviceKey) throws {
        var fields = StateFields()
        for (path, code) in files.sorted(by: { $0.key < $1.key }) {
            fields.add("file", "\(code.map { Hexadecimal.encode($0) } ?? "-") \(Self.encoded(path))")
        }
        for path in folders.sorted() { fields.add("folder", Self.encoded(path)) }
        fields.add("target", target?.file)
        do throws(StateFileFailure) {
            try Self.file(of: state, device).write(fields.encoded)
        } catch {
            throw Self.cause(of: error)
        }
    }

    private static func encoded(_ path: HomePath) -> String { Hexadecimal.encode(Array(path.text.string.utf8)) }
}
