import KCBackupArchive
import KCBackupCatalogue
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import Testing

@testable import KCBackupJobs

@Suite("Which archives a run copies")
struct CopyPlanTests {
    private func time(_ day: Int64) -> Timestamp { Timestamp.reference.advanced(byMicroseconds: day * 86_400_000_000) }

    private func entry(_ series: String, _ day: Int64, file: UInt8 = 1) throws -> CatalogueEntry {
        let device = try #require(DeviceID("KC-ABCD-EFGH-IJKL-MNOP-QRST"))
        let digest = try #require(SHA256Digest(bytes: Array(repeating: file, count: 32)))
        var counts = ItemCounts()
        counts[.genericPassword] = 12
        // The contents of an archive that a catalogue was rebuilt from are not known.
        let content = CatalogueEntry.Content(counts: counts, groups: [:], damaged: 0, fingerprint: [])
        return CatalogueEntry(
            name: ArchiveName(series: series, device: device, time: time(day)).fileName,
            archiveID: Array(repeating: UInt8(day), count: 32), created: time(day), series: series, mode: .encrypted,
            file: CatalogueEntry.File(keys: ["age1a", "inspect:age1b"], size: 1, checksum: ArchiveChecksum(digest)),
            content: series == "b" ? nil : content,
            state: .complete, verified: time(day))
    }

    private func record(_ copied: [CatalogueEntry], verified: Int64) throws -> CopyRecord {
        var record = CopyRecord(to: "nas:x", tried: time(verified))
        for entry in copied {
            record.newest[entry.series.exact] = CopyRecord.Newest(
                entry, named: try #require(ArchiveName(entry.name)), size: entry.file.size,
                digest: entry.file.checksum.digest, verified: time(verified))
        }
        return record
    }

    private func sizes(_ entries: [CatalogueEntry], _ size: UInt64 = 1) -> [ExactText: UInt64] {
        Dictionary(entries.map { ($0.name.exact, size) }) { first, _ in first }
    }

    @Test("A newest copy that has another size is compared at once")
    func size() throws {
        let entry = try entry("a", 1)
        let record = try record([entry], verified: 1)
        #expect(CopyPlan([entry], onRemote: sizes([entry], 2), record, now: time(1)).due == [entry])
        #expect(CopyPlan([entry], onRemote: sizes([entry]), record, now: time(1)).due.isEmpty)
    }

    @Test("What was made since the newest copy of each keychain is due; at first only the newest")
    func since() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("a", 3), entry("b", 1), entry("b", 2)]
        let plan = CopyPlan(
            entries, onRemote: sizes([entries[0]]), try record([entries[0]], verified: 1), now: time(3))
        #expect(plan.due == [entries[1], entries[4], entries[2]])
        #expect(plan.gone.isEmpty)
    }

    @Test("A newest copy is compared once a week, unless a rekey has made another file of the archive here")
    func weekly() throws {
        let old = try entry("a", 1)
        let names = sizes([old])
        #expect(CopyPlan([old], onRemote: names, try record([old], verified: 1), now: time(7)).due.isEmpty)
        #expect(CopyPlan([old], onRemote: names, try record([old], verified: 1), now: time(9)).due == [old])
        let rekeyed = try entry("a", 1, file: 2)
        #expect(CopyPlan([rekeyed], onRemote: names, try record([old], verified: 1), now: time(9)).due.isEmpty)
    }

    @Test("A newest copy that is gone is due, and named; older ones may go")
    func gone() throws {
        let entries = try [entry("a", 1), entry("a", 2)]
        let plan = CopyPlan(entries, onRemote: [:], try record([entries[1]], verified: 2), now: time(3))
        #expect(plan.due == [entries[1]] && plan.gone == [entries[1].name])
    }

    @Test("A newest copy that is gone is due with what was made since; it is only named if its archive is gone here")
    func goneSince() throws {
        let entries = try [entry("a", 1), entry("a", 2)]
        let record = try record([entries[0]], verified: 1)
        let plan = CopyPlan(entries, onRemote: [:], record, now: time(3))
        #expect(plan.due == entries && plan.gone == [entries[0].name])
        let later = CopyPlan([entries[1]], onRemote: [:], record, now: time(3))
        #expect(later.due == [entries[1]] && later.gone == [entries[0].name])
    }

    @Test("Records are read as they were written, and others are not")
    func lines() throws {
        var first = try record([entry("a", 1), entry("b", 2)], verified: 3)
        first.good = time(3)
        var second = CopyRecord(to: "nas:y", tried: time(4))
        second.failed = CopyRecord.Failed(RunOutcome(code: 74), message: "no such host", hints: ["one", "two"])
        let fields = CopyRecord.fields([first, second])
        #expect(CopyRecord.records(fields) == [first, second])
        #expect(CopyRecord.records(StateFields()) == [])
        let text = String(decoding: fields.encoded, as: UTF8.self)
        for (part, other) in [
            ("tried", "tired"), ("newest 2", "newest x"), ("failed 74", "failed x"), ("to nas:x", "at nas:x"),
            ("file 1", "file"), ("genp", "gemp"), ("key age1a", "kex age1a"),
        ] {
            let changed = try #require(StateFields(parsing: Array(text.replacing(part, with: other).utf8)))
            #expect(CopyRecord.records(changed) == nil, "\(other)")
        }
    }
}
