import ByteStreams
import KeychainModel
import KeychainStore
import TestSupport
import Testing

@Suite struct ItemChangeTests {
    // Keeps the folder alive as long as the test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    @Test(
        "an item that is added is there, with its secret, after the keychain is opened again",
        arguments: ItemClass.allCases)
    func roundTrip(itemClass: ItemClass) throws {
        let item = try bench.create().add(
            draft(itemClass, [.labl: .text("Ann's"), .alis: .data([1, 0, 255])]), secret: "tulip".secret, now: moment(1)
        )
        let keychain = try bench.open()
        #expect(try keychain.items() == [item])
        #expect(try keychain.text(of: item) == "tulip")
        #expect(item.created == moment(1) && item.modified == moment(1))
    }

    @Test("no secret, an empty one and a large one come back as they were", arguments: ItemClass.allCases)
    func secretSizes(itemClass: ItemClass) throws {
        let keychain = try bench.create()
        let large = String(repeating: "x", count: 100_000)
        let code: AttributeCode = itemClass == .certificate ? .slnr : itemClass == .key ? .klbl : .acct
        for (index, text) in [nil, "", large].enumerated() {
            let item = try keychain.add(
                draft(itemClass, [code: .data([UInt8(index)])]), secret: text.secret, now: moment(1))
            #expect(item.secretSize == text?.utf8.count)
            #expect(try bench.open().text(of: item) == text)
        }
    }

    @Test("a large secret of the limit's size is kept, and one byte more is refused")
    func secretLimit() throws {
        let keychain = try bench.create()
        let full = SecretBytes(count: ItemLimits.secretSize) { output in
            output.append(repeating: 7, count: ItemLimits.secretSize)
        }
        let item = try keychain.add(password("ann"), secret: full.copy(), now: moment(1))
        #expect(try keychain.secret(of: item)?.count == ItemLimits.secretSize)
        #expect(throws: KeychainStoreError.item(.secretTooLarge(ItemLimits.secretSize + 1))) {
            var more = full.copy()
            more.append(0)
            try keychain.add(password("bob"), secret: consume more, now: moment(1))
        }
    }

    @Test("an update changes all matching items, keeps the date of creation and moves the date of change")
    func update() throws {
        let keychain = try bench.create()
        let ann = try keychain.add(password("ann"), secret: "1".secret, now: moment(1))
        let bob = try keychain.add(password("bob"), secret: "2".secret, now: moment(1))
        let other = try keychain.add(password("ann", service: "news"), secret: "3".secret, now: moment(1))
        var query = ItemQuery(itemClass: .genericPassword)
        query.require(.svce, "mail")
        let updated = try keychain.update(
            matching: query, set: [.icmt: .text("note"), .labl: nil], secret: "new".secret, now: moment(9))
        #expect(updated.map(\.uuid) == [ann.uuid, bob.uuid])
        for item in try keychain.items(query) {
            #expect(item.attributes.text(.icmt) == "note")
            #expect(item.created == moment(1) && item.modified == moment(9))
            #expect(try keychain.text(of: item) == "new")
        }
        #expect(try keychain.items(ItemQuery(other)) == [other])
        #expect(try keychain.text(of: other) == "3")
    }

    @Test("a change is a millisecond later than the one before, even when the clock stands still or goes back")
    func strictlyLater() throws {
        let keychain = try bench.create()
        let item = try keychain.add(password("ann"), secret: nil, now: moment(5))
        for (count, now) in [moment(5), moment(0), moment(5)].enumerated() {
            let updated = try keychain.update(matching: ItemQuery(item), set: [.labl: .text("\(count)")], now: now)
            #expect(updated.first?.modified == moment(5).advanced(byMicroseconds: Int64(count + 1) * 1_000))
        }
    }

    @Test("an update keeps the secret it is not given, and absent stays absent")
    func keepsSecret() throws {
        let keychain = try bench.create()
        for secret in ["tulip", "", nil] {
            let item = try keychain.add(password(secret ?? "none"), secret: secret.secret, now: moment(1))
            try keychain.update(matching: ItemQuery(item), set: [.labl: .text("new")], now: moment(2))
            #expect(try keychain.text(of: item) == secret)
        }
    }

    @Test("an update to another accessibility or access group seals the secret anew")
    func reseal() throws {
        let keychain = try bench.create(passcode: "open")
        let item = try keychain.add(password("ann"), secret: "tulip".secret, now: moment(1))
        let moved = try keychain.update(
            matching: ItemQuery(item), set: [.pdmn: .text("dk"), .agrp: .text("other")], now: moment(2))
        #expect(moved.first?.accessGroup == "other")
        #expect(try bench.open().text(of: item) == "tulip")
        try keychain.update(matching: ItemQuery(item), set: [.pdmn: .text("ak")], now: moment(3))
        #expect(throws: KeychainStoreError.locked(.whenUnlocked)) { try bench.open().text(of: item) }
    }

    @Test("an update that no item matches says so, and repeating one that moved its items does too")
    func updateOfNothing() throws {
        let keychain = try bench.create()
        try keychain.add(password("ann"), secret: nil, now: moment(1))
        var query = ItemQuery()
        query.require(.acct, "ann")
        try keychain.update(matching: query, set: [.acct: .text("bob")], now: moment(2))
        #expect(throws: KeychainStoreError.itemNotFound) {
            try keychain.update(matching: query, set: [.acct: .text("bob")], now: moment(3))
        }
        #expect(throws: KeychainStoreError.itemNotFound) { try keychain.delete(matching: query, now: moment(3)) }
    }

    @Test(
        "dates and owner cannot be set, and a refused update changes nothing",
        arguments: [AttributeCode.cdat, .mdat, .musr])
    func unchangeable(code: AttributeCode) throws {
        let keychain = try bench.create()
        let item = try keychain.add(password("ann"), secret: "tulip".secret, now: moment(1))
        #expect(throws: KeychainStoreError.unchangeable(code)) {
            try keychain.update(matching: ItemQuery(item), set: [.labl: .text("x"), code: nil], now: moment(2))
        }
        #expect(try keychain.items() == [item])
    }

    @Test(
        "a ThisDeviceOnly item may have the flag of synchronizable ones, and a replacing restore removes it all the same"
    )
    func deviceBound() throws {
        let keychain = try bench.create()
        let item = try keychain.add(password("ann", [.pdmn: .text("aku")]), secret: nil, now: moment(1))
        try keychain.update(matching: ItemQuery(item), set: [.sync: .number(1)], now: moment(2))
        try keychain.add(password("bob", [.pdmn: .text("dku"), .sync: .number(1)]), secret: nil, now: moment(2))
        let shared = try keychain.add(password("eve", [.sync: .number(1)]), secret: nil, now: moment(2))
        var local: [String] = []
        try keychain.read { reader in try reader.localItems(.all) { local.append($0.attributes.text(.acct) ?? "") } }
        #expect(local == ["ann", "bob"])
        let removed = try keychain.write { writer in try writer.removeLocalItems(.all) }
        #expect(removed == 2)
        #expect(try keychain.items() == [shared])
    }

    @Test("deleting removes what matches and nothing else")
    func delete() throws {
        let keychain = try bench.create()
        let ann = try keychain.add(password("ann"), secret: nil, now: moment(1))
        let bob = try keychain.add(password("bob"), secret: nil, now: moment(1))
        #expect(try keychain.delete(matching: ItemQuery(ann), now: moment(2)).items == [ann])
        #expect(try keychain.items() == [bob])
        #expect(throws: KeychainStoreError.itemNotFound) { try keychain.text(of: ann) }
        #expect(try keychain.information().tombstoneCount == 0)
    }

    @Test("a draft's UUID and dates are kept, and a UUID that is taken is refused")
    func givenIdentity() throws {
        let keychain = try bench.create()
        var first = password("ann", [.cdat: .date(moment(-9)), .mdat: .date(moment(-8))])
        first.uuid = ItemUUID(high: 1, low: 2)
        let item = try keychain.add(first, secret: nil, now: moment(1))
        #expect(item.uuid == first.uuid && item.created == moment(-9) && item.modified == moment(-8))
        var second = draft(.key, [:])
        second.uuid = first.uuid
        #expect(throws: KeychainStoreError.duplicateUUID(item.uuid)) {
            try keychain.add(second, secret: nil, now: moment(1))
        }
        #expect(throws: KeychainStoreError.duplicateItem) { try keychain.add(first, secret: nil, now: moment(1)) }
    }

    @Test("free attributes and values of an odd kind come back as they were")
    func lossless() throws {
        var odd = password("x", [.acct: .data([0xff, 0]), .gena: .text("é\u{301}"), .svce: .data([])])
        odd.extra = [ExtraAttribute(name: "xdg:schema", value: "a\"\n"), ExtraAttribute(name: "", value: "")]
        let item = try bench.create().add(odd, secret: nil, now: moment(1))
        #expect(item.attributes[.acct] == .data([0xff, 0]))
        #expect(item.extra.map(\.name) == ["", "xdg:schema"])
        #expect(try bench.open().items() == [item])
    }
}
