import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// Rows of a table that differ only in their order and their secrets.
private func table(of secrets: [String], at date: Timestamp) throws -> CollectedItems {
    var collection = ItemCollection(date: date)
    for (index, secret) in secrets.enumerated() {
        let uuid = ItemUUID(high: 0x1122_3344_5566_8788, low: 0x99aa_bbcc_0000_0000)
            .with(ordinal: UInt32(index) << 12)
        var attributes = Attributes()
        attributes[.srvr] = .text("mail.example")
        attributes[.acct] = .text("ada")
        if index > 0 { _ = attributes.mark(.internetPassword, for: uuid) }
        try collection.add(
            ItemDraft(itemClass: .internetPassword, uuid: uuid, attributes: attributes),
            secret: SecretBytes(copying: secret.utf8))
    }
    return try collection.finish()
}

extension Keychain {
    /// The secrets, by UUID.
    fileprivate func secrets() throws -> [ItemUUID: String] {
        var secrets: [ItemUUID: String] = [:]
        for item in try find(ItemQuery()).items {
            switch try secret(of: item) {
            case .some(let secret): secrets[item.uuid] = String(decoding: secret.bytesForTest(), as: UTF8.self)
            case .none: break
            }
        }
        return secrets
    }
}

@Suite("Importing rows that differ only in order and secret")
struct ImportTests {
    private func `import`(_ secrets: [String], into keychain: Keychain, at second: Int64) throws -> RestoreReport {
        try keychain.import(table(of: secrets, at: moment(second)), .overwrite)
    }

    @Test("A line without a secret never replaces an item that asks for the passcode", arguments: [true, false])
    func secretless(isOpen: Bool) throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        var attributes = Attributes()
        attributes[.srvr] = .text("mail.example")
        attributes[.acct] = .text("ada")
        attributes[.accc] = .text(AccessConstraint.devicePasscode.rawValue)
        let draft = ItemDraft(itemClass: .internetPassword, attributes: attributes)
        let item = try keychain.add(draft, secret: SecretBytes(copying: "mine".utf8), now: moment(1))
        let stored = try keychain.storedSecret(of: item)
        if !isOpen { keychain.lock() }
        for constraint in [nil, AttributeValue.text(AccessConstraint.devicePasscode.rawValue)] {
            attributes[.accc] = constraint
            for policy in [ConflictPolicy.newer, .overwrite] {
                var collection = ItemCollection(date: moment(2))
                try collection.add(ItemDraft(itemClass: .internetPassword, attributes: attributes), secret: nil)
                let report = try keychain.import(collection.finish(), policy)
                #expect(report.counts.keep == 1 && report.counts.update == 0)
            }
        }
        #expect(try keychain.find(ItemQuery()).items == [item])
        #expect(try keychain.storedSecret(of: item) == stored)
    }

    @Test("However rows are added, removed and reordered, each item keeps its password and no row is lost")
    func nothingMoves() throws {
        var random = SeededRandom(seed: 17)
        let machine = try Machine()
        for round in 0..<40 {
            let keychain = try machine.makeKeychain("k\(round)", passcode: nil)
            var rows = (0..<Int.random(in: 1...5, using: &random)).map { "p\($0)" }
            _ = try `import`(rows, into: keychain, at: 1)
            for step in 1..<8 {
                let before = try keychain.secrets()
                let fresh = "p\(round).\(step)"
                switch Int.random(in: 0..<5, using: &random) {
                case 0 where rows.count > 1: rows.remove(at: Int.random(in: 0..<rows.count, using: &random))
                case 1: rows.insert(fresh, at: Int.random(in: 0...rows.count, using: &random))
                case 2: rows.shuffle(using: &random)
                case 3: rows[Int.random(in: 0..<rows.count, using: &random)] = fresh
                default:
                    rows.shuffle(using: &random)
                    rows[0] = fresh
                }
                let report = try `import`(rows, into: keychain, at: Int64(step) * 10)
                let after = try keychain.secrets()
                // Only the new row may replace a secret, and only in place of one that is missing from the file.
                let replaced = before.filter { after[$0.key] != $0.value }
                #expect(replaced.count <= 1 && replaced.count == report.counts.update)
                for (uuid, secret) in replaced {
                    #expect(after[uuid] == fresh && !rows.contains(secret), "round \(round), step \(step)")
                    #expect(before.count == rows.count)
                }
                #expect(Set(rows).isSubset(of: after.values), "round \(round), step \(step)")
                #expect(report.failing.isEmpty)
                let again = try `import`(rows, into: keychain, at: Int64(step) * 10)
                #expect(again.counts.same == rows.count, "round \(round), step \(step)")
            }
        }
    }

    @Test("A record whose file names no authentication type is the item that has none, not a second one")
    func lacksAuthentication() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain(passcode: nil)
        let own = ItemUUID()
        _ = try `import`("a", own, authentication: nil, into: keychain, at: 1)
        for (second, secret) in [(2, "a"), (3, "b")] as [(Int64, String)] {
            let record = ItemUUID(derivedFrom: Array(repeating: 1, count: 16))
            let report = try `import`(secret, record, authentication: "dflt", into: keychain, at: second)
            #expect(report.counts.create == 0 && report.failing.isEmpty)
            #expect(try keychain.secrets() == [own: secret])
            let again = try `import`(secret, record, authentication: "dflt", into: keychain, at: second)
            #expect(again.counts.same == 1)
        }
        #expect(try keychain.find(ItemQuery()).items.allSatisfy { $0.attributes[.atyp] == nil })
        // An authentication type that a file does name makes another item.
        let form = ItemUUID(derivedFrom: Array(repeating: 2, count: 16))
        #expect(try `import`("c", form, authentication: "form", into: keychain, at: 4).counts.create == 1)
        #expect(try keychain.secrets() == [own: "b", form: "c"])
        // So does another secret, of an item that no import has written.
        let other = try machine.makeKeychain("other", passcode: nil)
        _ = try `import`("token", own, authentication: nil, into: other, at: 1)
        #expect(try `import`("a", form, authentication: "dflt", into: other, at: 2).counts.create == 1)
        #expect(try other.secrets() == [own: "token", form: "a"])
    }

    /// Imports one item, as a record of a password manager if it has an authentication type.
    private func `import`(
        _ secret: String, _ uuid: ItemUUID, authentication: String?, into keychain: Keychain, at second: Int64
    ) throws -> RestoreReport {
        var draft = ItemDraft(itemClass: .internetPassword, uuid: uuid)
        draft.attributes[.srvr] = .text("mail.example")
        draft.attributes[.acct] = .text("ada")
        if let authentication {
            draft.attributes[.atyp] = .text(authentication)
            draft.attributes[.ptcl] = .number(0)
            draft.extra = ["source.format", "source.part"].map { ExtraAttribute(name: $0, value: "x") }
        }
        var collection = ItemCollection(date: moment(second))
        try collection.add(draft, secret: SecretBytes(copying: secret.utf8))
        return try keychain.import(collection.finish(), .newer)
    }

    @Test("A row that changes in place updates its own item only")
    func changesItsItem() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain(passcode: nil)
        _ = try `import`(["a", "b", "c"], into: keychain, at: 1)
        let before = try keychain.secrets()
        let report = try `import`(["a", "x", "c"], into: keychain, at: 2)
        #expect(report.counts.update == 1 && report.imported.unclear.isEmpty)
        let after = try keychain.secrets()
        #expect(after.count == 3)
        #expect(before.filter { after[$0.key] != $0.value }.values.sorted() == ["b"])
    }

    @Test("An archive of rows restores in the same way: a new first row overwrites no other one")
    func archived() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain(passcode: nil)
        let key = try NativeIdentity.generate(.x25519)
        for (number, rows) in [["a", "b"], ["x", "a", "b"], ["x", "b"], ["b", "y"]].enumerated() {
            _ = try machine.creating("rows\(number)").encrypted(
                table(of: rows, at: moment(Int64(number) * 10)), with: ArchiveKeys(recipients: [key.recipient]))
            let before = try keychain.secrets()
            let archive = try machine.open(machine.folder.path("rows\(number)"), with: key)
            let report = try machine.restore(archive, into: keychain)
            let after = try keychain.secrets()
            #expect(report.failing.isEmpty && Set(rows).isSubset(of: after.values), "archive \(number)")
            for (uuid, secret) in before { #expect(after[uuid] == secret) }
        }
        #expect(try keychain.secrets().values.sorted() == ["a", "b", "x", "y"])
    }

    @Test("A row that could match several items is created as a new item and reported")
    func namesWhatIsUnclear() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain(passcode: nil)
        _ = try `import`(["a", "b", "c"], into: keychain, at: 1)
        let report = try `import`(["b", "x"], into: keychain, at: 2)
        #expect(report.counts.create == 1 && report.counts.same == 1 && report.imported.unclear.count == 1)
        #expect(try Set(keychain.secrets().values) == ["a", "b", "c", "x"])
    }

    @Test("2,000 similar rows are matched again after the first is removed, without comparing every pair")
    func manyAlikeRows() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain(passcode: nil)
        let rows = (0..<2_000).map { "p\($0)" }
        _ = try `import`(rows, into: keychain, at: 1)
        let report = try `import`(Array(rows.dropFirst()), into: keychain, at: 2)
        #expect(report.counts.same == rows.count - 1)
    }

    @Test("An item that needs a passcode is reported if the keychain has none, and the others are imported")
    func needsPasscode() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain(passcode: nil)
        for isDryRun in [true, false] {
            let report = try keychain.import(boundItems(), .newer, isDryRun: isDryRun)
            #expect(report.counts.create == 1)
            #expect(report.failing.map(\.problem) == [.noPasscode])
        }
        #expect(try keychain.secrets().count == 1)
    }
}

/// An item that requires a passcode, and one that does not.
private func boundItems() throws -> CollectedItems {
    var collection = ItemCollection(date: moment(0))
    for accessibility in ["ak", "akpu"] {
        var draft = ItemDraft(itemClass: .genericPassword)
        draft.attributes[.svce] = .text(accessibility)
        draft.attributes[.pdmn] = .text(accessibility)
        try collection.add(draft, secret: SecretBytes(copying: "x".utf8))
    }
    return try collection.finish()
}
