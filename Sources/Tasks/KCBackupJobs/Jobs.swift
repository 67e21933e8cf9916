package import KCByteStreams
package import KCDeviceIdentity
package import KCLocalKeychains

/// The jobs of a user, each in a `StateFile` of the data folder.
package struct Jobs: Sendable {
    let dataFolder: DataFolder
    let device: LocalDevice
    private let folder: String

    private static let ending = ".job"
    private static let kind = StateFile.Kind("job", version: 3)
    private static let runKind = StateFile.Kind("run", version: 1)
    // Enough for the names of as many archives as a catalogue has.
    private static let copyKind = StateFile.Kind("copies", version: 3, sizeLimit: 64 << 20)
    private static let receiptKind = StateFile.Kind("receipts", version: 1)

    /// Creates an instance for a data folder.
    ///
    /// - Parameter device: the device whose key guards the jobs.
    package init(in dataFolder: DataFolder, of device: LocalDevice) {
        self.dataFolder = dataFolder
        self.device = device
        folder = Self.folder(in: dataFolder)
    }

    private static func folder(in dataFolder: DataFolder) -> String { dataFolder.path + "/jobs" }

    /// Returns the names of all jobs, sorted.
    package func names() throws(FileFailure) -> [String] { try Self.names(inFolder: folder) }

    /// Returns the names of all jobs in a data folder, sorted.
    package static func names(in dataFolder: DataFolder) throws(FileFailure) -> [String] {
        try names(inFolder: folder(in: dataFolder))
    }

    private static func names(inFolder folder: String) throws(FileFailure) -> [String] {
        try PrivateFolder.require(folder, mayBeMissing: true)
        return try Path.names(in: folder).compactMap { $0.exact.removingSuffix(ending) }
            .filter(Job.isName).sorted()
    }

    /// Returns the names of the jobs that a device made, sorted, as their files tell the holder of another key.
    ///
    /// - Throws: `FileFailure`, `CryptographyFailure`.
    package func names(of maker: DeviceID, seenBy other: DeviceKey) throws -> [String] {
        try names().filter { name in
            do throws(StateFileFailure) {
                _ = try StateFile(path(name), Self.kind, about: name, of: other).read()
                return false
            } catch {
                switch error {
                case .otherDevice(_, let owner): return owner == maker
                case .cryptography(let failure): throw failure
                // The job runs with no key.
                case .altered, .otherFormat, .file: return false
                }
            }
        }
    }

    /// Returns the job with this name.
    ///
    /// - Throws: `JobFailure` (`invalidName`, `notFound`, `damaged`, `otherDevice`, `otherFormat`), `FileFailure`, and the
    ///   errors of `LocalDevice.key`.
    package func job(_ name: String) throws -> Job {
        try requireExisting(name)
        let file = try file(of: name)
        let body: [UInt8]?
        do throws(StateFileFailure) {
            body = try file.read()
        } catch {
            switch error {
            case .altered: throw JobFailure.damaged(job: name, path: file.path)
            case .otherDevice(_, let device): throw JobFailure.otherDevice(job: name, device)
            case .otherFormat: throw JobFailure.otherFormat(job: name)
            case .file(let failure): throw failure
            case .cryptography(let failure): throw failure
            }
        }
        guard let body else { throw JobFailure.notFound(name) }
        guard let fields = StateFields(parsing: body), let job = Job(name: name, fields) else {
            throw JobFailure.damaged(job: name, path: file.path)
        }
        return job
    }

    /// Refuses a name that another job has, or that no job can have.
    ///
    /// - Throws: `JobFailure` (`invalidName`, `exists`), `FileFailure`.
    package func requireFree(_ name: String) throws {
        guard Job.isName(name) else { throw JobFailure.invalidName }
        if try Path.exists(path(name)) { throw JobFailure.exists(name) }
    }

    /// Adds a job.
    ///
    /// - Throws: `JobFailure` (`invalidName`, `exists`, `severalLines`), `FileFailure`, and the errors of
    ///   `LocalDevice.key`.
    package func add(_ job: Job) throws {
        try requireFree(job.name)
        guard job.hasOnlyLines else { throw JobFailure.severalLines }
        try Path.makeFolder(folder)
        // Records that an earlier job of this name has left are not about this one.
        try removeRecords(of: job.name)
        let file = try file(of: job.name)
        do throws(StateFileFailure) {
            try file.create(job.fields.encoded)
        } catch {
            if case .file(let failure) = error, failure.problem == .exists { throw JobFailure.exists(job.name) }
            throw error.cause
        }
    }

    /// Replaces a job.
    ///
    /// - Throws: `JobFailure` (`severalLines`), `FileFailure`, and the errors of `LocalDevice.key`.
    package func replace(_ job: Job) throws {
        guard job.hasOnlyLines else { throw JobFailure.severalLines }
        let file = try file(of: job.name)
        do throws(StateFileFailure) {
            try file.write(job.fields.encoded)
        } catch {
            throw error.cause
        }
    }

    /// Removes a job and the record of its runs, also if their files are damaged.
    ///
    /// - Throws: `JobFailure` (`invalidName`, `notFound`), `FileFailure`.
    package func remove(_ name: String) throws {
        try requireExisting(name)
        try Path.remove(path(name))
        try removeRecords(of: name)
        // The lock stays: a run may wait for it.
    }

    /// Refuses a name that no job has.
    ///
    /// - Throws: `JobFailure` (`invalidName`, `notFound`), `FileFailure`.
    package func requireExisting(_ name: String) throws {
        guard Job.isName(name) else { throw JobFailure.invalidName }
        try PrivateFolder.require(folder, mayBeMissing: true)
        guard try Path.exists(path(name)) else { throw JobFailure.notFound(name) }
    }

    private func removeRecords(of name: String) throws(FileFailure) {
        for ending in [".last", ".copies", ".receipts"] { try Path.remove("\(folder)/\(name)\(ending)") }
    }

    /// Returns the record of a job's last runs; nil if it never ran.
    ///
    /// - Throws: `JobFailure` (`recordDamaged`), `FileFailure`, and the errors of `LocalDevice.key`.
    package func record(_ name: String) throws -> RunRecord? {
        let file = try recordFile(of: name)
        guard let fields = try fields(in: file, of: name) else { return nil }
        guard let record = RunRecord(fields) else { throw JobFailure.recordDamaged(job: name, path: file.path) }
        return record
    }

    /// Saves the record of a job's last runs.
    ///
    /// - Throws: `FileFailure`, `CryptographyFailure`, and the errors of `LocalDevice.key`.
    package func save(_ record: RunRecord, of name: String) throws {
        try write(record.fields, to: recordFile(of: name))
    }

    /// Forgets that a job had backups, which are not in its folder from now on.
    ///
    /// - Throws: `FileFailure`, `CryptographyFailure`, and the errors of `LocalDevice.key`.
    package func forgetGood(of name: String) throws {
        do {
            guard var record = try record(name) else { return }
            record.good = nil
            record.items = 0
            try save(record, of: name)
        } catch JobFailure.recordDamaged {
            // The next run writes a new one.
        }
    }

    /// Returns the records of a job's copies; none if it never copied.
    ///
    /// - Throws: as `record`.
    package func copies(_ name: String) throws -> [CopyRecord] {
        let file = try copiesFile(of: name)
        guard let fields = try fields(in: file, of: name) else { return [] }
        guard let records = CopyRecord.records(fields) else {
            throw JobFailure.recordDamaged(job: name, path: file.path)
        }
        return records
    }

    /// Saves the records of a job's copies.
    ///
    /// - Throws: `FileFailure`, `CryptographyFailure`, and the errors of `LocalDevice.key`.
    package func save(_ records: [CopyRecord], of name: String) throws {
        try write(CopyRecord.fields(records), to: copiesFile(of: name))
    }

    /// Returns the record of a job's receipts; nil if it never wrote one.
    ///
    /// - Throws: as `record`.
    package func receipts(_ name: String) throws -> ReceiptRecord? {
        let file = try receiptsFile(of: name)
        guard let fields = try fields(in: file, of: name) else { return nil }
        guard let record = ReceiptRecord(fields) else {
            throw JobFailure.recordDamaged(job: name, path: file.path)
        }
        return record
    }

    /// Saves the record of a job's receipts.
    ///
    /// - Throws: `FileFailure`, `CryptographyFailure`, and the errors of `LocalDevice.key`.
    package func save(_ record: ReceiptRecord, of name: String) throws {
        try write(record.fields, to: receiptsFile(of: name))
    }

    /// The lines of a record; nil if there is no file.
    private func fields(in file: StateFile, of name: String) throws -> StateFields? {
        let body: [UInt8]?
        do throws(StateFileFailure) {
            body = try file.read()
        } catch {
            if case .file(let failure) = error { throw failure }
            throw JobFailure.recordDamaged(job: name, path: file.path)
        }
        guard let body else { return nil }
        guard let fields = StateFields(parsing: body) else {
            throw JobFailure.recordDamaged(job: name, path: file.path)
        }
        return fields
    }

    private func write(_ fields: StateFields, to file: StateFile) throws {
        do throws(StateFileFailure) {
            try file.write(fields.encoded)
        } catch {
            throw error.cause
        }
    }

    /// Locks out other runs of a job; the kernel releases the lock when the process ends, for whatever reason.
    package func lock(_ name: String, waitingAtMost wait: Duration) throws(FileFailure) -> FileLock {
        try FileLock("\(folder)/\(name).lock", waitingAtMost: wait)
    }

    /// True if a run of the job has begun and not ended.
    package func isRunning(_ name: String) throws(FileFailure) -> Bool {
        do throws(FileFailure) {
            _ = try lock(name, waitingAtMost: .zero)
            return false
        } catch {
            if error.problem == .busy { return true }
            throw error
        }
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)\(Self.ending)" }

    private func file(of name: String) throws -> StateFile {
        StateFile(path(name), Self.kind, about: name, of: try device.key())
    }

    private func copiesFile(of name: String) throws -> StateFile {
        StateFile("\(folder)/\(name).copies", Self.copyKind, about: name, of: try device.key())
    }

    private func receiptsFile(of name: String) throws -> StateFile {
        StateFile("\(folder)/\(name).receipts", Self.receiptKind, about: name, of: try device.key())
    }

    private func recordFile(of name: String) throws -> StateFile {
        StateFile("\(folder)/\(name).last", Self.runKind, about: name, of: try device.key())
    }
}

extension StateFileFailure {
    /// The failure below, of a file that was written.
    fileprivate var cause: any Error {
        switch self {
        case .file(let failure): failure
        case .cryptography(let failure): failure
        case .altered, .otherDevice, .otherFormat: self
        }
    }
}
