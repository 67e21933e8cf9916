import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCLocalKeychains

@Suite("Kept states of a keychain")
struct KeptStatesTests {
    private let folder: TemporaryFolder
    private let data: DataFolder
    private let keychain: Keychain

    init() throws {
        folder = try TemporaryFolder()
        data = DataFolder(path: folder.path)
        let device = try DeviceKey(secret: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        keychain = try Keychain.create(
            at: folder.path("login.keychain"), deviceKey: device, passcode: SecretBytes(copying: "1234".utf8),
            cost: ScryptCost(logN: 1), now: moment(0))
        try keychain.unlock(passcode: SecretBytes(copying: "1234".utf8), now: moment(0))
    }

    private func add(_ account: String, _ accessibility: Accessibility = .whenUnlocked) throws {
        var attributes = Attributes()
        attributes[.acct] = .text(account)
        attributes[.pdmn] = .text(accessibility.rawValue)
        try keychain.write { writer in
            _ = try writer.add(
                ItemDraft(itemClass: .genericPassword, attributes: attributes),
                secret: SecretBytes(copying: ("of " + account).utf8), now: moment(1))
        }
    }

    private func contents() throws -> [String: String] {
        var contents: [String: String] = [:]
        for item in try keychain.find(ItemQuery()).items {
            switch try keychain.secret(of: item) {
            case .some(let secret):
                contents[item.attributes.text(.acct) ?? ""] = String(decoding: secret.bytesForTest(), as: UTF8.self)
            case .none: Issue.record("no secret")
            }
        }
        return contents
    }

    @Test("A state that could not be removed completely is still listed")
    func removal() throws {
        try add("ann")
        let states = KeptStates(of: keychain, in: data)
        let state = try keychain.write { _ in try states.keep(before: .restore, now: moment(3)) }
        // A folder cannot be unlinked.
        for suffix in [".lock", "-journal"] {
            try FileManager.default.createDirectory(
                atPath: state.path + suffix, withIntermediateDirectories: false)
            #expect(throws: FileFailure.self) { try states.remove(state) }
            #expect(try states.list() == [state])
            try FileManager.default.removeItem(atPath: state.path + suffix)
        }
        try states.remove(state)
        #expect(try states.list() == [])
    }

    @Test("A row that is only sealed anew counts as unchanged, and one with another secret of the same size as changed")
    func sealedAnew() throws {
        try add("ann")
        let states = KeptStates(of: keychain, in: data)
        var isNothing = false
        for (secret, isSame) in [("of ann", true), ("of bob", false)] {
            isNothing = false
            let state = try keychain.write { writer in
                let state = try states.keep(before: .restore, now: moment(3)) { isNothing = true }
                let item = try #require(try writer.find(ItemQuery()).items.first)
                var line = SecretBytes(capacity: 0)
                ItemLine.encode(item, into: &line)
                try line.withBytes { line in
                    try writer.put(
                        item, line: line, secret: SecretBytes(copying: secret.utf8), in: .plain, replacing: item)
                }
                return state
            }
            #expect(isNothing == isSame)
            let copy = try states.open(state)
            #expect(try keychain.comparing(with: copy) { rows, _, _ in rows.isNone } == isSame)
            try states.remove(state)
        }
    }

    @Test("If two runs restore the same state, the second fails as busy")
    func twoRuns() throws {
        try add("ann")
        let states = KeptStates(of: keychain, in: data)
        let state = try keychain.write { _ in try states.keep(before: .restore, now: moment(3)) }
        let known = try states.list()
        try states.exclusively(knowing: known) {
            #expect(throws: FileFailure.self) {
                _ = try FileLock(Path.split(state.path).folder + "/.lock", waitingAtMost: .zero)
            }
            try states.remove(state)
        }
        #expect(throws: KeychainStoreError.busy) {
            try states.exclusively(knowing: known) { Issue.record("the state was brought back already") }
        }
    }

    @Test("A file that appeared in the place of the damaged one is not replaced")
    func replacedMeanwhile() throws {
        try add("ann")
        let states = KeptStates(of: keychain, in: data)
        let state = try keychain.write { _ in try states.keep(before: .restore, now: moment(3)) }
        let local = try LocalKeychain(keychain.path, in: data)
        let before = try #require(try local.fileIdentity())
        let bytes = try folder.read("login.keychain")
        #expect(throws: KeychainStoreError.busy) {
            try local.replaceFile(by: state, insteadOf: nil, deviceKey: keychain.deviceKey, now: moment(4))
        }
        #expect(try folder.read("login.keychain") == bytes)
        let old = try local.replaceFile(by: state, insteadOf: before, deviceKey: keychain.deviceKey, now: moment(4))
        #expect(try old.map { try Path.exists($0) } == true)
        #expect(throws: KeychainStoreError.busy) {
            try local.replaceFile(by: state, insteadOf: before, deviceKey: keychain.deviceKey, now: moment(5))
        }
    }

    @Test("What a change wrote is told from what was written after it, even with the same dates")
    func writtenByTheChange() throws {
        try add("ann")
        try add("ben")
        let states = KeptStates(of: keychain, in: data)
        func update(_ account: String, _ writer: KeychainWriter) throws {
            let query = ItemQuery(attributes: [.acct: .text(account)])
            _ = try writer.update(
                matching: query, set: [:], secret: SecretBytes(copying: "other".utf8), now: moment(1))
        }
        let state = try keychain.write { writer in
            let state = try states.keep(before: .itemUpdate, now: moment(3))
            try update("ann", writer)
            return state
        }
        let written = try #require(states.written(after: state))
        let copy = try states.open(state)
        func seals() throws -> Set<RowSeal> {
            var seals: Set<RowSeal> = []
            try keychain.comparing(with: copy) { rows, now, _ in
                try now.visit(rows.now) { _, seal in if let seal { seals.insert(seal) } }
            }
            return seals
        }
        #expect(try seals() == written)
        try keychain.write { writer in try update("ann", writer) }
        #expect(try seals().isDisjoint(with: written))
        // A record that others may read is not trusted, and is as good as none.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: state.path + ".written")
        #expect(states.written(after: state) == nil)
        try states.remove(state)
        #expect(states.written(after: state) == nil)
    }

    @Test("A record that was cut short only makes more rows count as written later")
    func cutRecord() throws {
        try add("ann")
        let states = KeptStates(of: keychain, in: data)
        let state = try keychain.write { writer in
            let state = try states.keep(before: .import, now: moment(3))
            for account in ["ben", "cleo"] {
                var attributes = Attributes()
                attributes[.acct] = .text(account)
                let draft = ItemDraft(itemClass: .genericPassword, attributes: attributes)
                _ = try writer.add(draft, secret: nil, now: moment(3))
            }
            return state
        }
        let record = state.path + ".written"
        let whole = try Data(contentsOf: URL(fileURLWithPath: record))
        #expect(whole.count == 2 * RowSeal.size)
        let cut = Array(whole.dropLast(3))
        try PrivateFile.replace(record, cut.span)
        #expect(states.written(after: state)?.count == 1)
    }

    @Test("A state is restored exactly, with items that no archive contains, with tombstones, and without later items")
    func replaced() throws {
        try add("ann")
        try add("vault", .whenPasscodeSetThisDeviceOnly)
        try add("gone")
        let gone = try #require(try keychain.find(ItemQuery(attributes: [.acct: .text("gone")])).items.first)
        try keychain.delete(matching: ItemQuery(gone), now: moment(2))
        let (before, information) = (try contents(), try keychain.information())
        let states = KeptStates(of: keychain, in: data)
        let state = try keychain.write { writer in
            let state = try states.keep(before: .restore, now: moment(3))
            for item in try writer.find(ItemQuery()).items {
                try writer.delete(matching: ItemQuery(item), now: moment(3))
            }
            return state
        }
        try add("later")
        #expect(try contents() == ["later": "of later"])

        try keychain.write { writer in try writer.replaceAll(with: states.open(state)) }
        #expect(try contents() == before)
        #expect(try keychain.information().tombstoneCount == information.tombstoneCount)
    }

    @Test("The copy is made before anything changes, and making it releases no lock on the keychain")
    func consistent() throws {
        try add("ann")
        let states = KeptStates(of: keychain, in: data)
        try keychain.write { writer in
            let state = try states.keep(before: .restore, now: moment(3))
            let other = try Keychain.open(
                at: keychain.path, deviceKey: keychain.deviceKey, lockWait: .zero, minimumCost: ScryptCost(logN: 1))
            #expect(throws: KeychainStoreError.busy) {
                try other.write { writer in try writer.delete(matching: ItemQuery(), now: moment(4)) }
            }
            #expect(try states.open(state).itemCount() == 1)
        }
        let copy = try #require(try states.list().first)
        let path = try #require(copy.path.split(separator: "/undo/").last)
        #expect(try folder.read("login.keychain") == folder.read("undo/" + path))
    }

    @Test("The newest five states are kept, under names that sort by time, even within one microsecond")
    func pruned() throws {
        let states = KeptStates(of: keychain, in: data)
        let kept = try (0..<7).map { number in
            try add("item \(number)")
            return try states.keep(before: .restore, now: moment(number < 4 ? 1 : number))
        }
        #expect(try states.list() == kept.reversed())
        try states.prune()
        #expect(try states.list() == kept.suffix(5).reversed())
        #expect(try states.removeAll().count == 5)
        #expect(try states.list().isEmpty)
    }

    @Test("A state that equals the present one, as after a killed restore, gives way to that of the next change")
    func keptOnce() throws {
        try add("ann")
        let states = KeptStates(of: keychain, in: data)
        _ = try states.keep(before: .restore, now: moment(3))
        let second = try states.keep(before: .itemDelete, now: moment(4))
        #expect(try states.list() == [second])
        #expect(second.before == .itemDelete && second.date == moment(4))
        try add("bob")
        #expect(try states.keep(before: .restore, now: moment(5)) != second)
        #expect(try states.list().count == 2)
    }

    @Test("The state that was kept last is the newest, even if the clock was set back")
    func clockSetBack() throws {
        let states = KeptStates(of: keychain, in: data)
        var kept: [KeptStates.State] = []
        for (number, time) in [1_000_000, 1_000_001, 5].enumerated() {
            try add("item \(number)")
            kept.append(try states.keep(before: .restore, now: moment(time)))
        }
        #expect(try states.list() == kept.reversed())
    }

    @Test("A state that was altered or planted is never restored")
    func altered() throws {
        try add("ann")
        let states = KeptStates(of: keychain, in: data)
        let state = try states.keep(before: .restore, now: moment(1))
        let file = try #require(FileHandle(forUpdatingAtPath: state.path))
        try file.seek(toOffset: 5_000)
        try file.write(contentsOf: [0x5a])
        try file.close()
        #expect(throws: KeychainStoreError.damaged("it is not as it was kept")) { _ = try states.open(state) }
        let folder = Path.split(state.path).folder
        for name in ["x.keychain", "\u{1b}[31m.keychain", "20260101T000000.000000Z-00.keychain"] {
            try #require(FileManager.default.createFile(atPath: folder + "/" + name, contents: nil))
        }
        #expect(try states.list() == [state])
    }

    @Test("A copy of the keychain file has states of its own")
    func copiedFile() throws {
        try add("ann")
        _ = try KeptStates(of: keychain, in: data).keep(before: .restore, now: moment(1))
        try FileManager.default.copyItem(atPath: keychain.path, toPath: folder.path("copy.keychain"))
        let copy = try Keychain.open(
            at: folder.path("copy.keychain"), deviceKey: keychain.deviceKey, minimumCost: ScryptCost(logN: 1))
        #expect(try KeptStates(of: copy, in: data).list().isEmpty)
        let removed = try KeptStates(of: copy, in: data).removeAll()
        #expect(removed.count == 0 && removed.kept.isEmpty)
        #expect(try KeptStates(of: keychain, in: data).list().count == 1)
    }

    @Test("After the passcode is changed, a state cannot be restored: its rows are sealed under other keys")
    func otherPasscode() throws {
        try add("ann")
        let states = KeptStates(of: keychain, in: data)
        let state = try states.keep(before: .restore, now: moment(1))
        try keychain.setPasscode(
            current: SecretBytes(copying: "1234".utf8), new: SecretBytes(copying: "5678".utf8),
            cost: ScryptCost(logN: 1), now: moment(2))
        let copy = try states.open(state)
        #expect(!keychain.hasKeys(of: copy))
        let before = try folder.read("login.keychain")
        #expect(throws: KeychainStoreError.damaged("the copy has other keys")) {
            try keychain.write { writer in try writer.replaceAll(with: copy) }
        }
        #expect(try folder.read("login.keychain") == before)
    }

    @Test("Keychains do not share their states")
    func separate() throws {
        let other = try Keychain.create(
            at: folder.path("other.keychain"), deviceKey: keychain.deviceKey, passcode: nil, cost: ScryptCost(logN: 1),
            now: moment(0))
        _ = try KeptStates(of: other, in: data).keep(before: .restore, now: moment(1))
        #expect(try KeptStates(of: keychain, in: data).list().isEmpty)
        #expect(!keychain.hasKeys(of: other))
    }
}

private func moment(_ seconds: Int) -> Timestamp {
    Timestamp.reference.advanced(byMicroseconds: Int64(seconds) * 1_000_000)
}
