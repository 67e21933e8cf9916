package import KCAgeEncryption
internal import KCBackupArchive
internal import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
package import KCFleet
package import KCKeychainModel
internal import KCKeychainStore
package import KCRemotes

/// Why an archive has no items in an index.
package enum IndexProblem: Error, Hashable, Sendable {
    /// No key opens its metadata.
    case noKey
    /// Another device made it than the one in whose folder it is.
    case otherDevice(DeviceID)
    /// The archive is not genuine, or not whole; the rule has no foreign text.
    case damaged(String)
    /// A newer program wrote it.
    case newerFormat
    /// The archive is larger than allowed, or something in it is.
    case limit(String)
    /// The index has it under another name.
    case copy

    /// The stable name in the index.
    package var name: String {
        switch self {
        case .noKey: "no-key"
        case .otherDevice: "other-device"
        case .damaged: "damaged"
        case .newerFormat: "newer-format"
        case .limit: "limit"
        case .copy: "copy"
        }
    }

    /// The details of the problem; nil if there are none.
    package var detail: String? {
        switch self {
        case .otherDevice(let device): device.description
        case .damaged(let rule): rule
        case .limit(let what): what
        case .noKey, .newerFormat, .copy: nil
        }
    }
}

/// The result of an indexer's run.
package struct FleetIndexReport: Sendable {
    /// How many files there are with the names of archives.
    package var listed = 0
    /// How many of them the index had, or got from another indexer meanwhile.
    package var known = 0
    /// How many were read.
    package var added = 0
    /// How many items the index did not have, or not as they are now.
    package var newItems = 0
    /// Archives that were fetched, and could not be read; they are not fetched again.
    package var rejected: [(path: String, problem: IndexProblem)] = []
    /// Archives that could not be fetched; the next run tries again.
    package var unfetched: [String] = []
    /// Why some could not be fetched.
    package var failure: RemoteFailure?
    /// How many archives there are of each device whose signature does not count; they are not fetched.
    package var unknown: [DeviceID: Int] = [:]
    /// The first files that have no names of archives.
    package var strange: [String] = []
    /// How many of these there are.
    package var strangeCount = 0

    /// Creates a report of nothing.
    package init() {}
}

/// Metadata of an archive, both of whose streams are genuine.
struct ProvedMetadata {
    let metadata: OpenedMetadata
    let source: ArchiveSource
    let digest: SHA256Digest
    /// The number of items.
    let count: Int
    /// The cost of the items if the index had none of them, in bytes; within the budget of an archive.
    let size: Int64
}

/// Reads the archives of a fleet into an index.
///
/// Each batch of archives is one transaction, so that an indexer may be killed at any time, and others may work on the
/// same index: the batch is then fetched again, and each archive is in the index once.
package struct FleetIndexer {
    // In bytes: more than an archive of a million items.
    private static let archiveLimit: UInt64 = 1 << 30
    // An indexer that is killed has done as many in vain; each is an open file.
    private static let batchLimit = 256
    // In bytes, of what one batch needs on disk.
    private static let batchSizeLimit: UInt64 = 256 << 20
    // Names of files that are kept for a report; more would only fill the screen.
    private static let strangeLimit = 1_000

    private let fleet: FleetFolder
    private let members: FleetMembers
    private let identities: [any HeldIdentity]
    private let keys: IndexKeys
    private let index: FleetIndex
    private let temporaryFolder: String
    private let now: Timestamp
    private let budget: IndexBudget
    private let shard: FleetShard?

    /// - Parameters:
    ///   - temporaryFolder: where archives are kept while they are read.
    ///   - shard: the part of the machines whose archives are read; nil for all.
    package init(
        _ fleet: FleetFolder, _ members: FleetMembers, identities: [any HeldIdentity], index: FleetIndex,
        temporaryFolder: String, now: Timestamp, shard: FleetShard? = nil, budget: IndexBudget = .standard
    ) {
        self.shard = shard
        self.now = now
        self.budget = budget
        self.fleet = fleet
        self.members = members
        self.identities = identities
        self.index = index
        self.temporaryFolder = temporaryFolder
        keys = IndexKeys(recipients: identities.map(\.publicKey))
    }

    /// Reads all archives that the index does not have.
    ///
    /// - Parameter step: called for each archive that is to be read, with the number of all of them.
    /// - Throws: `FleetIndexFailure`, `RemoteFailure`, `FileFailure`, `StreamFailure`, `ArchiveFailure` for failures of
    ///   this machine, and as the runner of rclone. Archives read before stay in the index.
    package func run(into report: inout FleetIndexReport, _ step: (_ total: Int) -> Void) throws {
        try index.rename(members.devices.map { ($0, members.name(of: $0)) })
        var list = try self.list(&report)
        var batch: [FleetArchive] = []
        var size: UInt64 = 0
        while let archive = try list.next() {
            if batch.count == Self.batchLimit || (!batch.isEmpty && size + archive.size > Self.batchSizeLimit) {
                try take(batch, &report)
                batch = []
                size = 0
            }
            batch.append(archive)
            size += archive.size
            step(list.count)
        }
        if !batch.isEmpty { try take(batch, &report) }
    }

    /// Lists what the index does not have, into a file: the first time that may be millions.
    private func list(_ report: inout FleetIndexReport) throws -> ArchiveList {
        var missing = MissingArchives(try UnnamedFile(inFolder: temporaryFolder), index, keys)
        try fleet.visitArchives { archive in
            if shard?.contains(archive.device) == false { return }
            report.listed += 1
            if members.isKnown(archive.device) {
                try missing.add(archive)
            } else {
                report.unknown[archive.device, default: 0] += 1
            }
        } other: { path in
            // The first worker names them.
            if let shard, shard.number > 1 { return }
            report.strangeCount += 1
            if report.strange.count < Self.strangeLimit { report.strange.append(path) }
        }
        return try missing.finish(&report)
    }

    /// Fetches and proves archives, and writes them to the index in one transaction.
    private func take(_ listed: [FleetArchive], _ report: inout FleetIndexReport) throws {
        // Another indexer may have read them meanwhile.
        let archives = try index.missing(listed, keys)
        report.known += listed.count - archives.count
        if archives.isEmpty { return }
        let isLarge = archives.map { $0.size > Self.archiveLimit }
        let wanted = zip(archives, isLarge).filter { !$0.1 }.map(\.0)
        let fetched = wanted.isEmpty ? nil : try fleet.fetch(wanted)
        report.failure = report.failure ?? fetched?.failure
        var outcomes: [(FleetArchive, Result<ProvedMetadata, IndexProblem>)] = []
        for (archive, isLarge) in zip(archives, isLarge) {
            if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
            if isLarge {
                outcomes.append((archive, .failure(.limit("\(archive.size) bytes"))))
            } else if let file = try fetched?.file(archive) {
                outcomes.append((archive, try prove(file, of: archive)))
            } else {
                report.unfetched.append(archive.path)
            }
        }
        try write(outcomes, &report)
        withExtendedLifetime(fetched) {}
    }

    private func write(
        _ outcomes: [(FleetArchive, Result<ProvedMetadata, IndexProblem>)], _ report: inout FleetIndexReport
    ) throws {
        let taken = try index.failing {
            try index.database.write {
                let writer = try IndexWriter(index.database, keys, members, budget, now: now)
                return try outcomes.map { archive, outcome in
                    switch outcome {
                    case .success(let proved): try writer.add(archive, proved)
                    case .failure(let problem): try writer.reject(archive, problem)
                    }
                }
            }
        }
        for ((archive, _), taken) in zip(outcomes, taken) {
            switch taken {
            case .known: report.known += 1
            case .added(let newItems):
                report.added += 1
                report.newItems += newItems
            case .rejected(let problem): report.rejected.append((archive.path, problem))
            }
        }
    }

    /// Proves an archive as `inspect` does: signature, checksums, and the metadata to its end.
    ///
    /// - Throws: `ArchiveFailure` for failures of this machine.
    private func prove(_ file: OpenFile, of listed: FleetArchive) throws -> Result<ProvedMetadata, IndexProblem> {
        do {
            let archive = try ArchiveFile(file)
            let genuine = try archive.prove()
            guard genuine.header.device == listed.device else { return .failure(.otherDevice(genuine.header.device)) }
            let metadata = try genuine.openMetadata(identities: identities)
            try metadata.proveStreams()
            var hasher = ContentsHasher(limit: budget.archive)
            let read = try metadata.read(&hasher)
            return .success(
                ProvedMetadata(
                    metadata: metadata, source: read.source, digest: hasher.finish(), count: hasher.count,
                    size: hasher.size))
        } catch let problem as IndexProblem {
            return .failure(problem)
        } catch let failure as ArchiveFailure {
            guard let problem = IndexProblem(failure) else { throw failure }
            return .failure(problem)
        }
    }
}

extension IndexProblem {
    /// Creates the problem of an archive from a failure; nil for a failure of this machine.
    fileprivate init?(_ failure: ArchiveFailure) {
        switch failure {
        case .notAnArchive: self = .damaged("it is not an archive")
        case .newerFormat: self = .newerFormat
        case .damaged(let rule): self = .damaged(rule)
        case .limit(let what): self = .limit(what)
        case .noPassphraseSet, .wrongPassphrase, .noMatchingIdentity, .keyNeeded: self = .noKey
        case .wrongPasscode, .passcodeNeeded, .notRekeyable, .age, .stream, .file, .cryptography: return nil
        }
    }
}

/// Writes a list of the archives that an index does not have.
private struct MissingArchives: ~Copyable {
    private let index: FleetIndex
    private let keys: IndexKeys
    private var sink: UnnamedFileSink
    private var batch: [FleetArchive] = []
    private var known = 0
    private var count = 0

    // The number of archives that are looked for in one transaction.
    private static let batchLimit = 1_000

    init(_ file: UnnamedFile, _ index: FleetIndex, _ keys: IndexKeys) {
        self.index = index
        self.keys = keys
        sink = UnnamedFileSink(file)
    }

    mutating func add(_ archive: FleetArchive) throws {
        batch.append(archive)
        if batch.count == Self.batchLimit { try look() }
    }

    private mutating func look() throws {
        let missing = try index.missing(batch, keys)
        known += batch.count - missing.count
        count += missing.count
        for archive in missing {
            let line = Array("\(archive.size)\t\(archive.path)\n".utf8)
            try sink.write(line.span)
        }
        batch.removeAll(keepingCapacity: true)
    }

    consuming func finish(_ report: inout FleetIndexReport) throws -> ArchiveList {
        try look()
        report.known += known
        return try ArchiveList(sink.finish().file, count: count)
    }
}

/// The archives in a list that `FleetIndexer` has written.
private struct ArchiveList: ~Copyable {
    private var lines: LineReader<FileSlice>
    /// How many there are.
    let count: Int
    // In bytes: a path and a size.
    private static let lineLimit = 512

    init(_ file: OpenFile, count: Int) throws(FileFailure) {
        self.count = count
        lines = LineReader(try FileSlice(whole: file))
    }

    /// The next one; nil at the end.
    mutating func next() throws -> FleetArchive? {
        guard try lines.advance(limit: Self.lineLimit) != nil else { return nil }
        let archive = lines.withLine { line -> FleetArchive? in
            let bytes = line.indices.map { line[$0] }
            let parts = bytes.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
            guard parts.count == 2, let size = UInt64(String(decoding: parts[0], as: UTF8.self)) else { return nil }
            return FleetArchive(path: Array(parts[1]), size: size)
        }
        guard let archive else {
            throw StreamFailure(.reading, .malformed("the list of archives is as it was written"))
        }
        return archive
    }
}
