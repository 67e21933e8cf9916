import KCByteStreams
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@Suite struct ItemChangeTests {
    // Retains the temporary folder for the whole test.
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    @Test(
        "An added item and its secret are there after the keychain is reopened",
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

    @Test("An absent, an empty and a large secret survive a round trip", arguments: ItemClass.allCases)
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

    @Test("A secret of the maximum size is stored, and one byte more is refused")
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

    @Test("An update changes all matching items and their modification date, but not the creation date")
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

    @Test("Each change is at least a millisecond after the previous one, even if the clock stops or goes back")
    func strictlyLater() throws {
        let keychain = try bench.create()
        let item = try keychain.add(password("ann"), secret: nil, now: moment(5))
        for (count, now) in [moment(5), moment(0), moment(5)].enumerated() {
            let updated = try keychain.update(matching: ItemQuery(item), set: [.labl: .text("\(count)")], now: now)
            #expect(updated.first?.modified == moment(5).advanced(byMicroseconds: Int64(count + 1) * 1_000))
        }
    }

    @Test("An update without a secret keeps the existing one or its absence")
    func keepsSecret() throws {
        let keychain = try bench.create()
        for secret in ["tulip", "", nil] {
            let item = try keychain.add(password(secret ?? "none"), secret: secret.secret, now: moment(1))
            try keychain.update(matching: ItemQuery(item), set: [.labl: .text("new")], now: moment(2))
            #expect(try keychain.text(of: item) == secret)
        }
    }

    @Test("Changing the accessibility or access group reseals the secret")
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

    @Test("An update that matches no item reports it, even when repeated after moving its items")
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
        "Dates and owner cannot be set, and a refused update changes nothing",
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
        "A ThisDeviceOnly item may be flagged synchronizable, but counts as local when local items are removed"
    )
    func deviceBound() throws {
        let keychain = try bench.create()
        let item = try keychain.add(password("ann", [.pdmn: .text("aku")]), secret: nil, now: moment(1))
        try keychain.update(matching: ItemQuery(item), set: [.sync: .number(1)], now: moment(2))
        try keychain.add(password("bob", [.pdmn: .text("dku"), .sync: .number(1)]), secret: nil, now: moment(2))
        let shared = try keychain.add(password("eve", [.sync: .number(1)]), secret: nil, now: moment(2))
        var local: [String] = []
        _ = try keychain.read { reader in try reader.localItems(.all) { local.append($0.attributes.text(.acct) ?? "") }
        }
        #expect(local == ["ann", "bob"])
        let removed = try keychain.write { writer in try writer.removeLocalItems(.all, except: []) }
        #expect(removed == 2)
        #expect(try keychain.items() == [shared])
    }

    @Test("Only matching items are deleted")
    func delete() throws {
        let keychain = try bench.create()
        let ann = try keychain.add(password("ann"), secret: nil, now: moment(1))
        let bob = try keychain.add(password("bob"), secret: nil, now: moment(1))
        #expect(try keychain.delete(matching: ItemQuery(ann), now: moment(2)).items == [ann])
        #expect(try keychain.items() == [bob])
        #expect(throws: KeychainStoreError.itemNotFound) { try keychain.text(of: ann) }
        #expect(try keychain.information().tombstoneCount == 0)
    }

    @Test("The UUID and dates of a draft are kept, and a UUID in use is refused")
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

    @Test("Free attributes and values of unusual kinds survive a round trip")
    func lossless() throws {
        var odd = password("x", [.acct: .data([0xff, 0]), .gena: .text("é\u{301}"), .svce: .data([])])
        odd.extra = [ExtraAttribute(name: "xdg:schema", value: "a\"\n"), ExtraAttribute(name: "", value: "")]
        let item = try bench.create().add(odd, secret: nil, now: moment(1))
        #expect(item.attributes[.acct] == .data([0xff, 0]))
        #expect(item.extra.map(\.name) == ["", "xdg:schema"])
        #expect(try bench.open().items() == [item])
    }
}
