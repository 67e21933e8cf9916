import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// Records of another program, each of which becomes one item.
///
/// - Parameters:
///   - records: the number of each record, its attributes, and its secret.
///   - hasIDs: false for rows of a table.
private func source(
    _ records: [(Int, [AttributeCode: AttributeValue], String)], at second: Int64, hasIDs: Bool = true
) throws -> CollectedItems {
    var collection = ItemCollection(date: moment(second))
    for (number, values, secret) in records {
        var draft = ItemDraft(
            itemClass: values[.srvr] == nil ? .genericPassword : .internetPassword,
            uuid: ItemUUID(high: UInt64(number) << 32 | 0x4000, low: 1 << 63).with(ordinal: 0))
        for (code, value) in values { draft.attributes[code] = value }
        draft.attributes[.cdat] = .date(moment(1))
        draft.extra = [ExtraAttribute(name: "source.format", value: "test")]
        if hasIDs { draft.extra.append(ExtraAttribute(name: "source.id", value: "id-\(number)")) }
        try collection.add(draft, secret: SecretBytes(copying: secret.utf8))
    }
    return try collection.finish()
}

@Suite("Importing records that were changed in their program")
struct ChangedRecordTests {
    private static let address: [AttributeCode: AttributeValue] = [
        .srvr: .text("a.example"), .acct: .text("ada"), .port: .number(8_443), .path: .text("/login"),
        .ptcl: .number(0x6874_7073), .atyp: .text("http"), .sdmn: .text("realm"),
    ]

    private func `import`(
        _ records: CollectedItems, into keychain: Keychain, _ policy: ConflictPolicy = .newer
    ) throws -> RestoreReport {
        try keychain.import(records, policy)
    }

    @Test(
        "A new address replaces all parts of the old one, and what the file does not have stays",
        arguments: [true, false])
    func address(hasIDs: Bool) throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain(passcode: nil)
        var values = Self.address
        values[.icmt] = .text("comment")
        _ = try `import`(source([(1, values, "p1")], at: 1, hasIDs: hasIDs), into: keychain)
        let changed = try source([(1, [.srvr: .text("b.example"), .acct: .text("ada")], "p2")], at: 2, hasIDs: hasIDs)
        #expect(try `import`(changed, into: keychain).counts.update == 1)
        let item = try #require(try keychain.find(ItemQuery()).items.first)
        #expect(item.attributes.text(.srvr) == "b.example" && item.attributes.text(.icmt) == "comment")
        for code in [AttributeCode.port, .path, .ptcl, .atyp, .sdmn] {
            #expect(item.attributes[code].map { $0 == .text("") || $0 == .number(0) } ?? true, "\(code)")
        }
        #expect(try `import`(changed, into: keychain).counts.same == 1)
    }

    @Test("Of the attributes that are named after the format, those that the file no longer has are removed")
    func attributesOfFormat() throws {
        func records(_ names: [String], at second: Int64) throws -> CollectedItems {
            var collection = ItemCollection(date: moment(second))
            var draft = ItemDraft(
                itemClass: .genericPassword, uuid: ItemUUID(high: 1 << 32 | 0x4000, low: 1 << 63).with(ordinal: 0))
            draft.attributes[.svce] = .text("kubernetes/db")
            draft.extra = names.map { ExtraAttribute(name: $0, value: "x") }
            draft.extra.append(ExtraAttribute(name: "source.format", value: "kubernetes"))
            try collection.add(draft, secret: SecretBytes(copying: "p".utf8))
            return try collection.finish()
        }
        let machine = try Machine()
        let keychain = try machine.makeKeychain(passcode: nil)
        let first = try records(["kubernetes.label.old", "kubernetes.label.team", "mine"], at: 1)
        _ = try `import`(first, into: keychain)
        let changed = try records(["kubernetes.label.team"], at: 2)
        #expect(try `import`(changed, into: keychain, .overwrite).counts.update == 1)
        let item = try #require(try keychain.find(ItemQuery()).items.first)
        #expect(item.extra.map { $0.name } == ["kubernetes.label.team", "mine", "source.format"])
        #expect(try `import`(changed, into: keychain, .overwrite).counts.same == 1)
    }

    @Test("A user name that a record with an ID no longer has is removed, and a row of a table keeps it")
    func userName() throws {
        for hasIDs in [true, false] {
            for policy in [ConflictPolicy.newer, .overwrite] {
                let machine = try Machine()
                let keychain = try machine.makeKeychain(passcode: nil)
                _ = try `import`(source([(1, Self.address, "p")], at: 1, hasIDs: hasIDs), into: keychain, policy)
                var values = Self.address
                values[.acct] = nil
                _ = try `import`(source([(1, values, "p")], at: 2, hasIDs: hasIDs), into: keychain, policy)
                let item = try #require(try keychain.find(ItemQuery()).items.first)
                #expect(item.attributes.text(.acct) ?? "" == (hasIDs ? "" : "ada"))
            }
        }
    }

    @Test("A record that becomes equal to another one is imported beside the other's item, and no item is lost")
    func becomesEqual() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain(passcode: nil)
        let plain: [AttributeCode: AttributeValue] = [.svce: .text("A"), .acct: .text("ada")]
        _ = try `import`(source([(1, plain, "p1"), (2, Self.address, "p1")], at: 1), into: keychain)
        // The second record is not in the file, as a duplicate of the first.
        let changed = try source([(1, Self.address, "p1")], at: 2)
        let report = try `import`(changed, into: keychain)
        #expect(report.failing.isEmpty && report.counts.update == 1)
        let items = try keychain.find(ItemQuery()).items
        #expect(items.map { $0.attributes.text(.srvr) } == ["a.example", "a.example"])
        #expect(items.count { $0.attributes.text(.sdmn) == "realm" } == 1)
        #expect(try `import`(changed, into: keychain).counts.same == 1)
    }
}
