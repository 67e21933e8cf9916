import KCBackupArchive
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCRemotes
import Testing

@testable import KCBackupCatalogue
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

    private func copy(_ entry: CatalogueEntry, verified: Int64) throws -> CopyRecord.Copy {
        CopyRecord.Copy(
            entry, named: try #require(ArchiveName(entry.name)), size: entry.file.size,
            digest: entry.file.checksum.digest,
            verified: time(verified))
    }

    private func record(
        _ copies: [CatalogueEntry], passed: [CatalogueEntry] = [], verified: Int64
    ) throws -> CopyRecord {
        var record = CopyRecord(to: "nas:x", tried: time(verified))
        record.copies = try copies.map { try copy($0, verified: verified) }
        record.passed = Set(passed.map(\.name.exact))
        return record
    }

    private func names(_ copies: [CopyRecord.Copy]) -> [String] { copies.map(\.name.fileName) }

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
        #expect(CopyPlan(entries, onRemote: nil, known, now: time(4)).due == Array(entries[1...]))
    }

    @Test("A copy of another size is compared with its archive, newest or not, and read back if that is gone here")
    func changedSize() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("a", 3)]
        let known = try record(entries, verified: 3)
        let there = sizes(entries[0], entries[1], entries[2])
        for index in [0, 2] {
            var sizes = there
            sizes[entries[index].name.exact] = 3
            let alone = CopyPlan(entries.filter { $0 != entries[index] }, onRemote: sizes, known, now: time(4))
            #expect(alone.due.isEmpty && names(alone.reads) == [entries[index].name])
            let plan = CopyPlan(entries, onRemote: sizes, known, now: time(4))
            #expect(plan.due == [entries[index]] && plan.reads.isEmpty)
            #expect(plan.changed == [entries[index].name.exact])
        }
        #expect(CopyPlan(entries, onRemote: there, known, now: time(4)).reads.isEmpty)
    }

    @Test("A copy that was not what it should be is compared whenever it is there, and one that was away is read back")
    func doubtful() throws {
        let entries = try [entry("a", 1), entry("a", 2)]
        var known = try record(entries, verified: 2)
        known.copies[0].isDoubtful = true
        let plan = CopyPlan(entries, onRemote: sizes(entries[0], entries[1]), known, now: time(2))
        #expect(plan.due == [entries[0]] && plan.reads.isEmpty)
        #expect(!known.settled.contains(entries[0].name.exact))
        let alone = CopyPlan([entries[1]], onRemote: sizes(entries[0], entries[1]), known, now: time(2))
        #expect(alone.due.isEmpty && names(alone.reads) == [entries[0].name])
        let removed = CopyPlan(entries, onRemote: sizes(entries[1]), known, now: time(2))
        #expect(removed.due == [entries[0]] && removed.reads.isEmpty)
        known.copies[0].isDoubtful = false
        known.copies[0].isThere = false
        let back = CopyPlan(entries, onRemote: sizes(entries[0], entries[1]), known, now: time(2))
        #expect(back.due.isEmpty && names(back.reads) == [entries[0].name])
    }

    @Test("Archives made after one that a fast clock dated too late are due all the same, and none twice")
    func fastClock() throws {
        // In the order in which they were made.
        let entries = try [entry("a", 1), entry("a", 400), entry("a", 2), entry("a", 3)]
        let known = try record(Array(entries[..<2]), verified: 400)
        let plan = CopyPlan(entries, onRemote: sizes(entries[0], entries[1]), known, now: time(3))
        #expect(plan.due == [entries[2], entries[3]])
        let all = sizes(entries[0], entries[1], entries[2], entries[3])
        #expect(CopyPlan(entries, onRemote: all, try record(entries, verified: 3), now: time(4)).due.isEmpty)
    }

    @Test("A newest copy that was read back at a time in the future is read again")
    func verifiedLater() throws {
        let last = try entry("a", 1)
        let known = try record([last], verified: 400)
        #expect(names(CopyPlan([last], onRemote: sizes(last), known, now: time(3), reading: 0).reads) == [last.name])
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

    @Test("A newest copy is read back once a week, also if a rekey has made another file of the archive here")
    func weekly() throws {
        let old = try entry("a", 1)
        let known = try record([old], verified: 1)
        for here in try [old, entry("a", 1, file: 2)] {
            let soon = CopyPlan([here], onRemote: sizes(old), known, now: time(7), reading: 0)
            #expect(soon.due.isEmpty && soon.reads.isEmpty)
            let later = CopyPlan([here], onRemote: sizes(old), known, now: time(9), reading: 0)
            #expect(later.due.isEmpty && later.reads == known.copies)
        }
    }

    @Test("Of the other copies, those are read back that were not for the longest time, and none twice in a week")
    func rotation() throws {
        let entries = try (1...5).map { try entry("a", $0) }
        var known = try record(entries, verified: 19)
        for (index, day) in [(0, 3), (1, 2), (2, 400), (3, 14)] { known.copies[index].verified = time(Int64(day)) }
        let there = sizes(entries[0], entries[1], entries[2], entries[3], entries[4])
        func reads(_ count: Int) -> [String] {
            names(CopyPlan(entries, onRemote: there, known, now: time(20), reading: count).reads)
        }
        #expect(reads(0) == [] && reads(1) == [entries[2].name])
        #expect(reads(9) == [2, 1, 0].map { entries[$0].name })
        known.copies[3].verified = nil
        #expect(Set(reads(2)) == [entries[2].name, entries[3].name])
    }

    @Test("Sixty nightly copies are all read within sixty runs")
    func wholeHistory() throws {
        let entries = try (1...60).map { try entry("a", $0) }
        var known = try record(entries, verified: 60)
        for index in known.copies.indices { known.copies[index].verified = time(Int64(index) + 1) }
        let there = Dictionary(uniqueKeysWithValues: entries.map { ($0.name.exact, $0.file.size) })
        var read: Set<String> = []
        for day in 61...120 {
            for copy in CopyPlan(entries, onRemote: there, known, now: time(Int64(day))).reads {
                read.insert(copy.name.fileName)
                known.noteRead(copy, now: time(Int64(day)))
            }
        }
        #expect(read == Set(entries.map(\.name)))
    }

    @Test("A newest copy that is gone is due, and named; older ones may go by age, and are told and forgotten")
    func gone() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("a", 3)]
        let known = try record(Array(entries[1...]), passed: [entries[0]], verified: 19)
        let plan = CopyPlan(entries, onRemote: [:], known, now: time(20))
        #expect(plan.due == [entries[2]] && plan.gone == [entries[2].name] && plan.goneBefore == [entries[1].name])
        #expect(plan.lost.isEmpty && plan.expired == [entries[1].name.exact])
        let older = CopyPlan(entries, onRemote: sizes(entries[2]), known, now: time(20))
        #expect(older.due.isEmpty && older.gone.isEmpty && older.goneBefore == [entries[1].name] && older.lost.isEmpty)
    }

    @Test(
        "Copies that no rule by age has removed are lost and made again: an older one is there, or they are of this week"
    )
    func lostCopies() throws {
        let entries = try [1, 2, 3, 18, 19].map { try entry("a", $0) }
        let known = try record(entries, verified: 19)
        func plan(acceptsLoss: Bool = false, _ there: [CatalogueEntry]) -> CopyPlan {
            let sizes = Dictionary(uniqueKeysWithValues: there.map { ($0.name.exact, $0.file.size) })
            return CopyPlan(entries, onRemote: sizes, known, now: time(20), acceptsLoss: acceptsLoss)
        }
        let middle = plan([entries[0], entries[4]])
        #expect(middle.due == Array(entries[1...3]) && middle.lost == entries[1...3].map(\.name))
        let all = plan([entries[4]])
        #expect(all.due == [entries[3]] && all.lost == [entries[3].name] && all.goneBefore.count == 4)
        #expect(plan([entries[2], entries[3], entries[4]]).lost.isEmpty)
        let accepted = plan(acceptsLoss: true, [entries[0], entries[4]])
        #expect(accepted.lost == middle.lost && accepted.due == middle.due, "what is here is copied again")
        let emptied = plan(acceptsLoss: true, [])
        #expect(emptied.lost.isEmpty && emptied.due == [entries[4]], "an empty folder starts over")
        let newest = plan(Array(entries[..<4]))
        #expect(newest.due == [entries[4]] && newest.lost == [entries[4].name] && newest.gone == newest.lost)
    }

    @Test("A lost copy whose archive is gone here, too, is told once, and counted until an older one expires")
    func lostForever() throws {
        let entries = try [1, 2, 3].map { try entry("a", $0) }
        var known = try record(entries, verified: 3)
        let plan = CopyPlan([entries[2]], onRemote: sizes(entries[0], entries[2]), known, now: time(4))
        #expect(plan.due.isEmpty && plan.lost == [entries[1].name])
        known.note(plan)
        #expect(known.missing == 1 && known.there.count == 2)
        #expect(known.loss() == .copiesLost(to: "nas:x", copies: 1, last: entries[1].name, missing: 1))
        #expect(CopyPlan([entries[2]], onRemote: sizes(entries[0], entries[2]), known, now: time(5)).lost.isEmpty)
        known.untold = []
        #expect(known.loss() == nil)
        known.note(CopyPlan([entries[2]], onRemote: sizes(entries[2]), known, now: time(20)))
        #expect(known.missing == 0 && known.there.count == 1)
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

    @Test("A folder that cannot be listed gets what no run has copied, and nothing is read or missed")
    func unlisted() throws {
        let entries = try [entry("a", 1), entry("a", 2)]
        var known = try record([entries[0]], verified: 1)
        known.copies[0].verified = nil
        let plan = CopyPlan(entries, onRemote: nil, known, now: time(20))
        #expect(plan.due == [entries[1]] && plan.reads.isEmpty && plan.gone.isEmpty && plan.lost.isEmpty)
        known.note(plan)
        #expect(known.isUnlisted && known.unread == 1 && known.missing == 0)
        known.copies[0].verified = time(1)
        #expect(names(CopyPlan(entries, onRemote: nil, known, now: time(20)).reads) == [entries[0].name])
    }

    @Test(
        "An archive that is copied late does not take the place of a newer copy, also if that one's archive is gone here"
    )
    func late() throws {
        let entries = try [1, 2, 3, 4].map { try entry("a", $0) }
        let known = try record([entries[0], entries[2]], verified: 3)
        let copy = RemoteFolder.Copy(
            outcome: .copied, size: 1, digest: entries[1].file.checksum.digest, isReadBack: true)
        for here in [entries, [entries[1], entries[3]]] {
            var record = known
            record.note(entries[1], copy, in: Catalogue(folder: "/b", entries: here), now: time(4))
            #expect(names(record.copies) == [0, 1, 2].map { entries[$0].name })
        }
    }

    @Test("A folder with none of the copies that it held is refused; one of them, or none before, is enough")
    func lost() throws {
        let entries = try [entry("a", 1), entry("a", 2), entry("b", 1)]
        let known = try record(Array(entries[..<2]), verified: 2)
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
        var first = try record([entry("a", 1), entry("c", 1), entry("b", 2)], passed: [entry("a", 0)], verified: 3)
        first.good = time(3)
        first.gone = ["one", "two"]
        first.lost = 2
        first.copies[1].isDoubtful = true
        first.copies[1].isThere = false
        first.copies[2].verified = nil
        var second = CopyRecord(to: "nas:y", tried: time(4))
        second.failed = CopyRecord.Failed(RunOutcome(code: 74), message: "no such host", hints: ["one", "two"])
        second.isUnlisted = true
        let fields = CopyRecord.fields([first, second])
        #expect(CopyRecord.records(fields) == [first, second])
        #expect(CopyRecord.records(StateFields()) == [])
        let text = String(decoding: fields.encoded, as: UTF8.self)
        for (part, other) in [
            ("tried", "tired"), ("copy 2", "copy x"), ("is missing", "is there"), ("failed 74", "failed x"),
            ("to nas:x", "at nas:x"), (" - ", " never "),
            ("file 1", "file"), ("genp", "gemp"), ("key age1a", "kex age1a"),
        ] {
            let changed = try #require(StateFields(parsing: Array(text.replacing(part, with: other).utf8)))
            #expect(CopyRecord.records(changed) == nil, "\(other)")
        }
    }
}
