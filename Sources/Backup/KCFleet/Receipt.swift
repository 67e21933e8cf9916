internal import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// The report of a machine about one run of one job, signed by its device (docs/fleet.md).
///
/// ```swift
/// let bytes = try receipt.signed(by: device)
/// let same = try Receipt(verifying: bytes)
/// ```
package struct Receipt: Hashable, Sendable {
    /// The largest receipt, in bytes.
    package static let sizeLimit = 2_048
    /// The longest name of a job, in bytes.
    package static let jobLimit = 100
    /// The longest list of jobs, in bytes of its JSON; archives and keys need room, too.
    static let jobsLimit = 512
    // Of archives; a job has one for each keychain.
    static let countLimit = 100_000
    // Of keys whose fingerprints are listed; all of them are in `keySet`.
    private static let listedKeyLimit = 6

    /// The machine.
    package let device: DeviceID
    /// Greater than that of every earlier receipt of the device; at least 1.
    package let sequence: Int64
    /// When it was made, in whole seconds, by the clock of the machine.
    package let time: Timestamp
    /// The name of the job.
    package let job: String
    /// The names of all jobs of the machine that report to the same folder, sorted; empty if they are not known.
    package let jobs: [String]
    /// The exit status of the run, 0 for a good one.
    package let result: Int32
    /// When the job last ended well, by the clock of the machine; nil for never.
    package let good: Timestamp?
    /// The digest that distinguishes the keys that open the archives from any other keys.
    package let keySet: SHA256Digest
    /// 16 hexadecimal digits for each of the first of these keys, sorted.
    package let keys: [String]
    /// The items in the newest archives of the job.
    package let counts: ItemCounts
    /// The number of the newest archives, one for each keychain.
    package let archiveCount: Int
    /// The sizes of these archives together, in bytes.
    package let size: UInt64
    /// When the one of them that was not verified for the longest time was last found intact; nil if one never was, or
    /// there is none.
    package let verified: Timestamp?
    /// As many of them as fit.
    package let archives: [Archive]

    package struct Archive: Hashable, Sendable {
        /// The name of the file.
        package let name: String
        /// 32 bytes, unique to the archive.
        package let archiveID: [UInt8]
        /// The size of the file in bytes.
        package let size: UInt64
        /// The SHA-256 of the file.
        package let digest: SHA256Digest
        /// When it was last read to its end and found intact; nil if the machine may not read it.
        package let verified: Timestamp?

        /// Creates a description of an archive.
        package init(name: String, archiveID: [UInt8], size: UInt64, digest: SHA256Digest, verified: Timestamp?) {
            self.name = name
            self.archiveID = archiveID
            self.size = size
            self.digest = digest
            self.verified = verified
        }
    }

    /// Describes a run.
    ///
    /// - Parameters:
    ///   - keys: what opens the archives, as in `BackupPin`.
    ///   - archives: the newest archive of each keychain, those that matter most first.
    ///   - counts: the items in all of them.
    ///   - jobs: all jobs of the machine that report to the same folder; they are left out if they do not fit.
    package init(
        device: DeviceID, sequence: Int64, time: Timestamp, job: String, result: Int32, good: Timestamp?,
        keys: [String], counts: ItemCounts, archives: [Archive], jobs: [String] = []
    ) {
        let names = Set(jobs.map(\.exact)).sorted().map(\.string)
        let sorted = keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        var hash = SHA256()
        for key in sorted { hash.update((key + [0x0a]).span) }
        self.init(
            device: device, sequence: sequence,
            time: Timestamp(microseconds: time.seconds * 1_000_000) ?? time, job: job,
            jobs: Self.list(names).count <= Self.jobsLimit ? names : [], result: result, good: good,
            keySet: hash.finalize(), keys: Array(sorted.map(Self.fingerprint).sorted().prefix(Self.listedKeyLimit)),
            counts: counts, archiveCount: archives.count, size: archives.reduce(0) { $0 &+ $1.size },
            verified: archives.contains { $0.verified == nil } ? nil : archives.compactMap(\.verified).min(),
            archives: archives)
    }

    /// Creates a receipt from what is in a file.
    init(
        device: DeviceID, sequence: Int64, time: Timestamp, job: String, jobs: [String], result: Int32,
        good: Timestamp?, keySet: SHA256Digest, keys: [String], counts: ItemCounts, archiveCount: Int, size: UInt64,
        verified: Timestamp?, archives: [Archive]
    ) {
        self.device = device
        self.sequence = sequence
        self.time = time
        self.job = job
        self.jobs = jobs
        self.result = result
        self.good = good
        self.keySet = keySet
        self.keys = keys
        self.counts = counts
        self.archiveCount = archiveCount
        self.size = size
        self.verified = verified
        self.archives = archives
    }

    /// The name of its file, and the folder of its day.
    package var name: ReceiptName { ReceiptName(device: device, time: time, sequence: sequence) }

    /// The receipt with only the first `count` archives listed.
    func listing(_ count: Int) -> Receipt {
        Receipt(
            device: device, sequence: sequence, time: time, job: job, jobs: jobs, result: result, good: good,
            keySet: keySet, keys: keys, counts: counts, archiveCount: archiveCount, size: size, verified: verified,
            archives: Array(archives.prefix(count)))
    }

    private static func fingerprint(_ key: [UInt8]) -> String { String(SHA256.hash(key.span).hex.prefix(16)) }
}
