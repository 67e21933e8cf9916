import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite struct StreamTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench
    private let source: Keychain

    init() throws {
        bench = try Bench()
        source = try bench.create(passcode: "open")
        for (index, itemClass) in ItemClass.allCases.enumerated() {
            for accessibility in Accessibility.allCases {
                var item = draft(
                    itemClass, [.pdmn: .text(accessibility.rawValue), .vwht: .text(accessibility.rawValue)])
                item.extra = [ExtraAttribute(name: "n", value: "\(index)")]
                let secret = accessibility == .always ? nil : "\(itemClass)-\(accessibility)"
                try source.add(item, secret: secret.secret, now: moment(1))
            }
        }
    }

    private func target(_ passcode: String? = "other") throws -> Keychain {
        try bench.create(passcode: passcode, at: bench.folder.path("target.keychain"))
    }

    @Test("A visit shows every item with its line and secret")
    func visit() throws {
        let visit = try source.visit()
        #expect(visit.items.count == 28 && visit.damaged == [])
        #expect(try visit.items == source.items())
        for (index, item) in visit.items.enumerated() {
            #expect(visit.lines[index] == line(item).bytesForTest())
            let expected = item.secretSize == nil ? "" : "\(item.itemClass)-\(item.accessibility)"
            #expect(visit.secrets[index] == Array(expected.utf8))
        }
    }

    @Test("Unwanted items are not opened, so a locked keychain can be visited for the others")
    func wanted() throws {
        source.lock(untilFirstUnlock: true)
        #expect(throws: KeychainStoreError.self) { try source.visit() }
        let visit = try source.visit { $0.accessibility.isReadableWithoutPasscode }
        #expect(visit.items.count == 8 && visit.damaged == [])
        #expect(try source.visit(.stored).items.count == 28)
    }

    @Test("An error thrown by the visitor ends the visit and is passed on")
    func visitorError() throws {
        struct Enough: Error {}
        var seen = 0
        #expect(throws: Enough.self) {
            try source.visit { _ in
                seen += 1
                if seen == 3 { throw Enough() }
                return true
            }
        }
        #expect(seen == 3)
        #expect(try source.visit().items.count == 28)
    }

    @Test("Secrets copied in plain form are unchanged and sealed with the target's keys")
    func putPlain() throws {
        let target = try target()
        let visit = try source.visit()
        try copy(visit, .plain, to: target)
        let result = try target.visit()
        #expect(result.items == visit.items && result.secrets == visit.secrets)
        #expect(try target.visit(.stored).secrets != source.visit(.stored).secrets)
        try target.checkIntegrity()
    }

    @Test("Secrets that are put again are sealed with new salts")
    func freshSalts() throws {
        let target = try target()
        let visit = try source.visit()
        try copy(visit, .plain, to: target)
        let first = try target.visit(.stored).secrets
        try copy(visit, .plain, to: target)
        let second = try target.visit(.stored).secrets
        #expect(Set((first + second).map { Array($0[1..<33]) }).count == 56)
    }

    @Test("Putting replaces a live item, a tombstone and the named item, and nothing else")
    func replacing() throws {
        let target = try target()
        let live = try target.add(password("live"), secret: "old".secret, now: moment(1))
        let dead = try target.add(password("dead", [.sync: .number(1)]), secret: nil, now: moment(1))
        try target.delete(matching: ItemQuery(dead), now: moment(2))
        let named = try target.add(password("named"), secret: nil, now: moment(1))
        let other = try target.add(password("other"), secret: "o".secret, now: moment(1))
        func new(_ draft: ItemDraft, _ uuid: ItemUUID? = nil) throws -> Item {
            var draft = draft
            draft.uuid = uuid
            return try draft.completed(now: moment(5), secretSize: 3)
        }
        let items = try [
            new(password("live")), new(password("dead", [.sync: .number(1)])), new(password("moved"), named.uuid),
        ]
        try target.writeItems { writer in
            for (item, replaced) in zip(items, [nil, nil, named]) {
                try line(item).withBytes { line in
                    try writer.put(
                        item, line: line, secret: SecretBytes(copying: "new".utf8), in: .plain, replacing: replaced)
                }
            }
        }
        let found = try target.items()
        #expect(Set(found) == Set(items + [other]))
        #expect(!found.contains(live))
        #expect(try items.map { try target.text(of: $0) } == ["new", "new", "new"])
        #expect(try target.information().tombstoneCount == 0)
    }

    @Test("Putting over the UUID of another item is refused, and the transaction is rolled back")
    func thirdItem() throws {
        let target = try target()
        let third = try target.add(password("third"), secret: nil, now: moment(1))
        var clash = password("x")
        clash.uuid = third.uuid
        let item = try clash.completed(now: moment(2), secretSize: nil)
        let good = try password("good").completed(now: moment(2), secretSize: nil)
        #expect(throws: KeychainStoreError.duplicateUUID(third.uuid)) {
            try target.writeItems { writer in
                for item in [good, item] {
                    try line(item).withBytes {
                        try writer.put(item, line: $0, secret: SecretBytes(capacity: 0), in: .plain, replacing: nil)
                    }
                }
            }
        }
        #expect(try target.items() == [third])
    }

    @Test(
        "A secret of a size other than its item's is refused in both forms", arguments: [SecretForm.plain, .stored])
    func wrongSize(form: SecretForm) throws {
        let target = try target()
        let item = try password("x").completed(now: moment(2), secretSize: 4)
        let longer = try target.add(password("y"), secret: "12345".secret, now: moment(1))
        let secret = form == .plain ? Array("12345".utf8) : try target.visit(.stored).secrets[0]
        #expect(throws: KeychainStoreError.itemDamaged(item.uuid)) {
            try target.writeItems { writer in
                try line(item).withBytes {
                    try writer.put(item, line: $0, secret: SecretBytes(copying: secret), in: form, replacing: nil)
                }
            }
        }
        #expect(try target.items() == [longer])
    }

    @Test("A full disk is reported, the change is undone, and the keychain still works")
    func fullDisk() throws {
        let target = try target()
        let item = try target.add(password("before"), secret: "1".secret, now: moment(1))
        func limitPages(_ count: Int) throws {
            try target.connection.database.execute("PRAGMA max_page_count = \(count)")
        }
        try limitPages(1)
        var added = 0
        #expect(throws: KeychainStoreError.diskFull) {
            try target.write { writer in
                for number in 0..<1_000 {
                    // Like a careless caller, this continues after each failure.
                    do {
                        try writer.add(password("\(number)"), secret: "2".secret, now: moment(1))
                        added += 1
                    } catch KeychainStoreError.diskFull {}
                }
            }
        }
        #expect(added > 0 && added < 1_000)
        #expect(try target.items() == [item])
        try limitPages(100_000)
        try target.add(password("after"), secret: nil, now: moment(2))
        try target.checkIntegrity()
    }

    @Test("Nothing is committed even if the body swallows a failure")
    func swallowed() throws {
        let target = try target()
        let good = try password("good").completed(now: moment(2), secretSize: 4)
        #expect(throws: KeychainStoreError.itemDamaged(good.uuid)) {
            try target.writeItems { writer in
                try target.putQuietly(good, in: .plain, writer)
                try target.putQuietly(good, in: .stored, writer)
            }
        }
        #expect(try target.items() == [])
    }

    @Test("An import may continue after a duplicate, and is undone if its body throws")
    func importing() throws {
        let target = try target()
        var duplicates = 0
        try target.write { writer in
            for account in ["a", "b", "a", "c"] {
                do throws(KeychainStoreError) {
                    try writer.add(password(account), secret: account.secret, now: moment(1))
                } catch .duplicateItem {
                    duplicates += 1
                }
            }
        }
        #expect(duplicates == 1)
        #expect(try target.items().count == 3)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try target.write { writer in
                try writer.add(password("d"), secret: nil, now: moment(1))
                throw Stop()
            }
        }
        #expect(try target.items().count == 3)
    }

    @Test("Existing items are found by key and UUID, and secrets can be compared in both forms")
    func existing() throws {
        let visit = try source.visit()
        let stored = try source.visit(.stored)
        try source.readItems { existing throws in
            for (index, item) in visit.items.enumerated() {
                #expect(try existing.item(withKeyOf: item) == item)
                #expect(try existing.item(withUUID: item.uuid) == item)
                var other = SecretBytes(copying: visit.secrets[index])
                #expect(try existing.secret(of: item, equals: other, in: .plain))
                other.append(1)
                #expect(try existing.secret(of: item, equals: other, in: .plain) == (item.secretSize == nil))
                #expect(
                    try existing.secret(of: item, equals: SecretBytes(copying: stored.secrets[index]), in: .stored))
                #expect(try !existing.secret(of: item, equals: SecretBytes(copying: [1]), in: .stored))
            }
            #expect(try existing.item(withUUID: ItemUUID()) == nil)
        }
    }

    @Test("A tombstone is not an existing item, and removing local items keeps it and synchronizable items")
    func local() throws {
        let target = try target()
        let shared = try target.add(password("shared", [.sync: .number(1)]), secret: nil, now: moment(1))
        let dead = try target.add(password("dead", [.sync: .number(1)]), secret: nil, now: moment(1))
        try target.delete(matching: ItemQuery(dead), now: moment(2))
        let local = try target.add(password("local"), secret: nil, now: moment(1))
        try target.readItems { existing throws in
            #expect(try existing.item(withKeyOf: dead) == nil)
            #expect(try existing.item(withUUID: dead.uuid) == nil)
            var found: [Item] = []
            _ = try existing.localItems(.archived) { found.append($0) }
            #expect(found == [local])
        }
        #expect(try target.writeItems { try $0.removeLocalItems(.archived, except: []) } == 1)
        #expect(try target.items() == [shared])
        #expect(try target.information().tombstoneCount == 1)
    }

    @Test("While one process changes the file, another is told that it is busy but can still read")
    func busy() throws {
        let second = try bench.open(lockWait: .zero)
        try source.write { writer in
            try writer.add(password("first"), secret: nil, now: moment(1))
            #expect(throws: KeychainStoreError.busy) {
                try second.add(password("second", [.pdmn: .text("dk")]), secret: nil, now: moment(1))
            }
            #expect(try second.items().count == 28)
        }
        try bench.open().add(password("second", [.pdmn: .text("dk")]), secret: nil, now: moment(1))
        #expect(try source.items().count == 30)
    }

    @Test("A visit shows one state of the file despite concurrent writes")
    func snapshot() throws {
        let second = try bench.open(lockWait: .zero)
        var refused = false
        let visit = try source.visit { _ in
            do {
                try second.delete(matching: ItemQuery(), now: moment(2))
            } catch KeychainStoreError.busy {
                refused = true
            }
            return true
        }
        #expect(refused && visit.items.count == 28)
    }

    @Test("15,000 keys with every attribute are imported, visited and found")
    func many() throws {
        let target = try target(nil)
        let count = 15_000
        try target.write { writer in
            var attributes: [AttributeCode: AttributeValue] = [:]
            for code in AttributeCode.allCases where code.belongs(to: .key) && code != .accc {
                attributes[code] = UniqueKeyTests.other(code)
            }
            attributes[.pdmn] = .text("ck")
            attributes[.sync] = .number(0)
            for number in 0..<count {
                // The multiplier is coprime to the count, so every number occurs once, out of order.
                attributes[.bsiz] = .number(Int64(number * 7_919 % count))
                try writer.add(draft(.key, attributes), secret: "key".secret, now: moment(1))
            }
        }
        struct Sizes: ItemVisitor {
            var last: Int64 = -1
            var count = 0
            mutating func wants(_ item: Item) throws -> Bool { true }
            mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
                #expect(secret.count == 3)
                let size = item.attributes.number(.bsiz) ?? -1
                if size == last + 1 { count += 1 }
                last = size
            }
            mutating func skip(damaged item: Item?) throws { Issue.record("damaged") }
        }
        var sizes = Sizes()
        try target.visitItems(&sizes)
        #expect(sizes.count == count)
        #expect(try target.items(ItemQuery(attributes: [.bsiz: .number(77)])).count == 1)
    }
}

extension Keychain {
    /// Puts an item with a short secret and ignores failures, as a careless caller would.
    fileprivate func putQuietly(_ item: Item, in form: SecretForm, _ writer: any ItemWriter) throws {
        try? line(item).withBytes { line in
            try writer.put(item, line: line, secret: SecretBytes(copying: "abcd".utf8), in: form, replacing: nil)
        }
    }
}
