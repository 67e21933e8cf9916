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

    private func entry(
        _ series: String, _ day: Int64, file: UInt8 = 1, isComplete: Bool = true
    ) throws -> CatalogueEntry {
        let device = try #require(DeviceID("KC-ABCD-EFGH-IJKL-MNOP-QRST"))
        let digest = try #require(SHA256Digest(bytes: Array(repeating: file, count: 32)))
        var counts = ItemCounts()
        counts[.genericPassword] = 12
        // The contents of an archive that a catalogue was rebuilt from are not known.
        let content = CatalogueEntry.Content(
            counts: counts, groups: [:], damaged: isComplete ? 0 : 1, fingerprint: [])
        return CatalogueEntry(
            name: ArchiveName(series: series, device: device, time: time(day)).fileName,
            archiveID: Array(repeating: UInt8(truncatingIfNeeded: day), count: 32), created: time(day), series: series,
            mode: .encrypted,
            file: CatalogueEntry.File(
                keys: ["age1a", "inspect:age1b"], size: 100 + UInt64(file), checksum: ArchiveChecksum(digest)),
            content: series == "b" ? nil : content,
            state: .complete, verified: time(day))
    }

    /// The files of archives on a remote.
    private func sizes(_ entries: CatalogueEntry...) -> [ExactText: UInt64] {
        Dictionary(entries.map { ($0.name.exact, $0.file.size) }) { first, _ in first }
    }

    private func record(
        _ newest: [CatalogueEntry], after copied: [CatalogueEntry] = [], passed: [CatalogueEntry] = [], verified: Int64
    ) throws -> CopyRecord {
        var record = CopyRecord(to: "nas:x", tried: time(verified))
        for entry in newest {
            record.newest[entry.series.exact] = CopyRecord.Newest(
                entry, named: try #require(ArchiveName(entry.name)), size: entry.file.size,
                digest: entry.file.checksum.digest, verified: time(verified))
        }
        record.copied = Set((newest + copied).map(\.name.exact))
        record.passed = Set(passed.map(\.name.exact))
        return record
    }

    @Test("What no run has copied is due, also of a keychain that is new")
    func since() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("a", 3), entry("b", 1), entry("b", 2)]
        let plan = CopyPlan(
            entries, onRemote: sizes(entries[0]), try record([entries[0]], verified: 1), now: time(3))
        #expect(plan.due == Array(entries[1...]) && plan.gone.isEmpty)
    }

    @Test("At the first try, only the newest is due; until one succeeds, all that was made since stays due")
    func firstTries() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("b", 1), entry("a", 3), entry("a", 4)]
        let known = CopyRecord(to: "nas:x", tried: time(2), knowing: Array(entries[..<3]))
        #expect(CopyPlan(Array(entries[..<3]), onRemote: [:], known, now: time(2)).due == Array(entries[1...2]))
        #expect(CopyPlan(entries, onRemote: [:], known, now: time(4)).due == Array(entries[1...]))
        #expect(entries.filter(known.misses) == Array(entries[1...]))
    }

    @Test("A newest copy whose archive a rule has removed here is read back if it has another size")
    func pruned() throws {
        let entries = try [entry("a", 1), entry("a", 2)]
        let known = try record([entries[0]], verified: 1)
        let changed = CopyPlan([entries[1]], onRemote: [entries[0].name.exact: 3], known, now: time(2))
        #expect(changed.due == [entries[1]] && changed.alone.map(\.name.fileName) == [entries[0].name])
        #expect(CopyPlan([entries[1]], onRemote: sizes(entries[0]), known, now: time(2)).alone.isEmpty)
    }

    @Test("A copy that was not what it should be stays due, and one from before a rekey is compared with what it was")
    func doubtful() throws {
        let entries = try [entry("a", 1), entry("a", 2)]
        var known = try record([entries[1]], after: [entries[0]], verified: 2)
        known.copied = []
        let plan = CopyPlan(entries, onRemote: sizes(entries[0], entries[1]), known, now: time(2))
        #expect(plan.due == entries && plan.alone.isEmpty)
        let rekeyed = try [entries[0], entry("a", 2, file: 2)]
        let alone = CopyPlan(rekeyed, onRemote: sizes(entries[0], entries[1]), known, now: time(2))
        #expect(alone.due == [entries[0]] && alone.alone.map(\.checksum) == [entries[1].file.checksum])
    }

    @Test("A copy that was not what it should be is read back whenever it is there, whatever was copied since")
    func doubtfulAndPruned() throws {
        let entries = try [entry("a", 1), entry("a", 2)]
        var known = try record([entries[1]], verified: 2)
        known.doubtful = Array(try record([entries[0]], verified: 1).newest.values)
        let there = sizes(entries[0], entries[1])
        let pruned = CopyPlan([entries[1]], onRemote: there, known, now: time(2))
        #expect(pruned.due.isEmpty && pruned.alone == known.doubtful && pruned.doubtful == known.doubtful)
        let removed = CopyPlan([entries[1]], onRemote: sizes(entries[1]), known, now: time(2))
        #expect(removed.alone.isEmpty && removed.doubtful.isEmpty && removed.unseen == known.doubtful)
        let unmounted = CopyPlan([entries[1]], onRemote: [:], known, now: time(2))
        #expect(unmounted.alone.isEmpty && unmounted.doubtful.isEmpty && unmounted.unseen == known.doubtful)
        #expect(pruned.unseen.isEmpty)
        let kept = CopyPlan(entries, onRemote: there, known, now: time(2))
        #expect(kept.due == [entries[0]] && kept.alone.isEmpty && kept.doubtful == known.doubtful)
    }

    @Test("Archives made after one that a fast clock dated too late are due all the same, and none twice")
    func fastClock() throws {
        // In the order in which they were made.
        let entries = try [entry("a", 1), entry("a", 400), entry("a", 2), entry("a", 3)]
        let known = try record([entries[1]], after: [entries[0]], verified: 400)
        let plan = CopyPlan(entries, onRemote: sizes(entries[0], entries[1]), known, now: time(3))
        #expect(plan.due == [entries[2], entries[3]])
        let later = try record([entries[3]], after: Array(entries[..<3]), verified: 3)
        #expect(
            CopyPlan(entries, onRemote: sizes(entries[0], entries[1], entries[2], entries[3]), later, now: time(4)).due
                .isEmpty)
    }

    @Test("A newest copy that was read back at a time in the future is compared again")
    func verifiedLater() throws {
        let last = try entry("a", 1)
        #expect(
            CopyPlan([last], onRemote: sizes(last), try record([last], verified: 400), now: time(3)).due == [last])
    }

    @Test("Without a record, what is on the remote decides; a file of another size is no copy")
    func withoutRecord() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("a", 3)]
        let none = CopyRecord(to: "nas:x", tried: time(3), knowing: entries)
        let plan = CopyPlan(entries, onRemote: sizes(entries[1]), none, now: time(3))
        #expect(plan.due == [entries[1], entries[2]])
        #expect(CopyPlan(entries, onRemote: [entries[1].name.exact: 7], none, now: time(3)).due == [entries[2]])
    }

    @Test("If the newest archive lacks something, the newest that lacks nothing is copied first, too")
    func incomplete() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("a", 3, isComplete: false)]
        let none = CopyRecord(to: "nas:x", tried: time(3), knowing: entries)
        let plan = CopyPlan(entries, onRemote: [:], none, now: time(3))
        #expect(plan.due == [entries[1], entries[2]])
    }

    @Test("A newest copy is compared once a week, unless a rekey has made another file of the archive here")
    func weekly() throws {
        let old = try entry("a", 1)
        #expect(CopyPlan([old], onRemote: sizes(old), try record([old], verified: 1), now: time(7)).due.isEmpty)
        #expect(CopyPlan([old], onRemote: sizes(old), try record([old], verified: 1), now: time(9)).due == [old])
        let rekeyed = try entry("a", 1, file: 2)
        let replaced = CopyPlan([rekeyed], onRemote: sizes(old), try record([old], verified: 1), now: time(9))
        #expect(replaced.due.isEmpty && replaced.alone.map(\.checksum) == [old.file.checksum])
        let soon = CopyPlan([rekeyed], onRemote: sizes(old), try record([old], verified: 1), now: time(3))
        #expect(soon.due.isEmpty && soon.alone.isEmpty)
    }

    @Test("A newest copy of another size is compared at once")
    func truncated() throws {
        let old = try entry("a", 1)
        let plan = CopyPlan([old], onRemote: [old.name.exact: 3], try record([old], verified: 1), now: time(2))
        #expect(plan.due == [old] && plan.gone.isEmpty)
    }

    @Test("A newest copy that is gone is due, and named; older ones may go by age, and are told")
    func gone() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("a", 18)]
        let known = try record([entries[2]], after: [entries[1]], passed: [entries[0]], verified: 19)
        let plan = CopyPlan(entries, onRemote: [:], known, now: time(20))
        #expect(plan.due == [entries[2]] && plan.gone == [entries[2].name] && plan.goneBefore == [entries[1].name])
        let older = CopyPlan(entries, onRemote: sizes(entries[2]), known, now: time(20))
        #expect(older.due.isEmpty && older.gone.isEmpty && older.goneBefore == [entries[1].name] && older.lost.isEmpty)
    }

    @Test(
        "Older copies that no rule by age has removed are copied again: an older one is there, or they are of this week"
    )
    func lostCopies() throws {
        let entries = try [1, 2, 3, 18, 19].map { try entry("a", $0) }
        let known = try record([entries[4]], after: Array(entries[..<4]), verified: 19)
        func plan(acceptsLoss: Bool = false, _ there: [CatalogueEntry]) -> CopyPlan {
            let sizes = Dictionary(uniqueKeysWithValues: there.map { ($0.name.exact, $0.file.size) })
            return CopyPlan(entries, onRemote: sizes, known, now: time(20), acceptsLoss: acceptsLoss)
        }
        let middle = plan([entries[0], entries[4]])
        #expect(middle.due == Array(entries[1...3]) && middle.lost == entries[1...3].map(\.name))
        let all = plan([entries[4]])
        #expect(all.due == [entries[3]] && all.lost == [entries[3].name] && all.goneBefore.count == 4)
        #expect(plan([entries[2], entries[3], entries[4]]).lost.isEmpty)
        #expect(plan(acceptsLoss: true, [entries[4]]).lost.isEmpty)
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

    @Test("A folder with none of the copies that it held is refused; one of them, or none before, is enough")
    func lost() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("b", 1)]
        let known = try record([entries[1]], after: [entries[0]], verified: 2)
        let other = Set([entries[2].name.exact])
        for files in [[], other] {
            #expect(throws: JobFailure.copiesGone(job: "x", to: "nas:x", copies: 2)) {
                try known.requireCopies(among: files, of: "x")
            }
        }
        try known.requireCopies(among: [entries[0].name.exact], of: "x")
        try CopyRecord(to: "nas:x", tried: time(1)).requireCopies(among: [], of: "x")
    }

    @Test("Records are read as they were written, and others are not")
    func lines() throws {
        var first = try record([entry("a", 1), entry("b", 2)], passed: [entry("a", 0)], verified: 3)
        first.good = time(3)
        first.gone = ["one", "two"]
        first.lost = 2
        first.doubtful = Array(try record([entry("c", 1)], verified: 3).newest.values)
        var second = CopyRecord(to: "nas:y", tried: time(4))
        second.failed = CopyRecord.Failed(RunOutcome(code: 74), message: "no such host", hints: ["one", "two"])
        let fields = CopyRecord.fields([first, second])
        #expect(CopyRecord.records(fields) == [first, second])
        #expect(CopyRecord.records(StateFields()) == [])
        let text = String(decoding: fields.encoded, as: UTF8.self)
        for (part, other) in [
            ("tried", "tired"), ("newest 2", "newest x"), ("doubtful 2", "doubtful x"), ("failed 74", "failed x"),
            ("to nas:x", "at nas:x"),
            ("file 1", "file"), ("genp", "gemp"), ("key age1a", "kex age1a"),
        ] {
            let changed = try #require(StateFields(parsing: Array(text.replacing(part, with: other).utf8)))
            #expect(CopyRecord.records(changed) == nil, "\(other)")
        }
    }
}
