internal import KCBackupCatalogue
internal import KCByteStreams
package import KCDeviceIdentity
package import KCFleet
package import KCKeychainModel

extension Receipt {
    /// Describes a run of a job by what was found in its fleet.
    ///
    /// The archives, their contents, the keys that open them and the times of verification are those of the copies:
    /// a file that is only here does not outlive this machine.
    ///
    /// - Parameters:
    ///   - good: when the job last ended well, with all archives that were due in the fleet.
    ///   - copies: the newest copy of each keychain, those alone that the run found there.
    package init(
        of job: String, on device: DeviceID, sequence: Int64, time: Timestamp, outcome: RunOutcome, good: Timestamp?,
        copies: [CopyRecord.Copy], jobs: [String]
    ) {
        var counts = ItemCounts()
        var archives: [Archive] = []
        for copy in copies.sorted(by: { ($0.created, $1.name.fileName.exact) > ($1.created, $0.name.fileName.exact) }) {
            // The contents were not known when the archive was copied: it was made before a catalogue was lost.
            guard let found = copy.counts else { continue }
            for itemClass in ItemClass.allCases { counts[itemClass] += found[itemClass] }
            archives.append(
                Archive(
                    name: copy.name.fileName, archiveID: copy.archiveID, size: copy.size, digest: copy.digest,
                    verified: copy.verified))
        }
        let keys = Set(copies.flatMap { $0.keys.map(\.exact) }).map(\.string)
        self.init(
            device: device, sequence: sequence, time: time, job: job, result: outcome.code, good: good, keys: keys,
            counts: counts, archives: archives, jobs: jobs)
    }
}
