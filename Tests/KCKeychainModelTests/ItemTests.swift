import KCKeychainModel
import Testing

@Suite struct ItemTests {
    @Test("Invalid attributes are refused with the reason")
    func problems() throws {
        #expect(throws: ItemProblem.notInClass(.srvr, .genericPassword)) {
            try sample(.genericPassword, [.srvr: .text("")])
        }
        #expect(throws: ItemProblem.wrongKind(.agrp)) { try sample(.key, [.agrp: .data([1])]) }
        #expect(throws: ItemProblem.wrongKind(.klbl)) { try sample(.key, [.klbl: .text("a")]) }
        #expect(throws: ItemProblem.wrongKind(.kcls)) { try sample(.key, [.kcls: .text("1")]) }
        #expect(throws: ItemProblem.wrongKind(.sdat)) { try sample(.key, [.sdat: .number(1)]) }
        #expect(throws: ItemProblem.wrongKind(.sync)) { try sample(.key, [.sync: .number(2)]) }
        #expect(throws: ItemProblem.unknownAccessibility) { try sample(.key, [.pdmn: .text("f")]) }
        #expect(throws: ItemProblem.extraOutOfOrder) {
            try sample(extra: [ExtraAttribute(name: "b", value: ""), ExtraAttribute(name: "a", value: "")])
        }
        #expect(throws: ItemProblem.extraOutOfOrder) {
            try sample(extra: [ExtraAttribute(name: "a", value: "1"), ExtraAttribute(name: "a", value: "2")])
        }
    }

    @Test("The name of a class has its article")
    func articles() {
        let names = ["a generic password", "an internet password", "a certificate", "a key"]
        let rules = ItemClass.allCases.map { ItemProblem.notInClass(.srvr, $0).rule }
        #expect(rules == names.map { $0 + " has no attribute 'srvr'" })
    }

    @Test(
        "An item without a required attribute is refused",
        arguments: [AttributeCode.agrp, .cdat, .mdat, .pdmn, .sync])
    func missing(code: AttributeCode) {
        #expect(throws: ItemProblem.missing(code)) { try sample(without: code) }
    }

    @Test("Sizes at the limits are accepted, and one byte more is refused")
    func limits() throws {
        let full = String(repeating: "x", count: ItemLimits.attributeSize)
        _ = try sample(.genericPassword, [.acct: .text(full)])
        #expect(throws: ItemProblem.attributeTooLarge(.acct)) {
            try sample(.genericPassword, [.acct: .text(full + "x")])
        }
        _ = try sample(extra: [ExtraAttribute(name: "", value: full)])
        #expect(throws: ItemProblem.extraTooLarge) { try sample(extra: [ExtraAttribute(name: "n", value: full)]) }
        _ = try sample(secretSize: ItemLimits.secretSize)
        #expect(throws: ItemProblem.secretTooLarge(ItemLimits.secretSize + 1)) {
            try sample(secretSize: ItemLimits.secretSize + 1)
        }
        let many = (0..<16).map { ExtraAttribute(name: String($0 + 10), value: String(full.dropFirst(2))) }
        #expect(throws: ItemProblem.self) { try sample(extra: many) }
    }

    @Test(
        "A synchronizable item that is ThisDeviceOnly counts as local, and its flag is reported as meaningless",
        arguments: Accessibility.allCases)
    func deviceBound(accessibility: Accessibility) throws {
        for flag in [Int64(0), 1] {
            let item = try sample(
                .genericPassword, [.pdmn: .text(accessibility.rawValue), .sync: .number(flag)])
            let isInNameOnly = flag == 1 && accessibility.isThisDeviceOnly
            #expect(item.isSynchronizable == (flag == 1))
            #expect(item.isSynchronizableInNameOnly == isInNameOnly)
            #expect(item.isLocal == (flag == 0 || accessibility.isThisDeviceOnly))
            if isInNameOnly {
                #expect(throws: ItemProblem.thisDeviceOnlySynchronizable) { try item.requireMeaningfulFlag() }
            } else {
                try item.requireMeaningfulFlag()
            }
        }
    }

    @Test("Composed and decomposed forms of a letter are different values")
    func normalization() throws {
        #expect(AttributeValue.text("é") != .text("e\u{301}"))
        #expect(ExtraAttribute(name: "é", value: "") != ExtraAttribute(name: "e\u{301}", value: ""))
        let composed = try sample(.genericPassword, [.acct: .text("é")])
        #expect(try sample(.genericPassword, [.acct: .text("e\u{301}")]) != composed)
        #expect(AttributeValue.text("ab") != .data([0x61, 0x62]))
        #expect(AttributeValue.text("ab").keyBytes == AttributeValue.data([0x61, 0x62]).keyBytes)
    }
}

@Suite struct ItemDraftTests {
    @Test("Attributes missing from a draft get Apple's defaults")
    func defaults() throws {
        let now = try #require(Timestamp("2026-03-01T09:30:00.000000Z"))
        for itemClass in ItemClass.allCases {
            let item = try ItemDraft(itemClass: itemClass).completed(now: now, secretSize: nil)
            #expect(item.accessibility == (itemClass == .certificate ? .always : .whenUnlocked))
            #expect(item.accessGroup == ItemDraft.defaultAccessGroup)
            #expect(!item.isSynchronizable)
            #expect(item.created == now && item.modified == now)
        }
    }

    @Test("Attributes of a draft are kept, and free attributes are sorted")
    func given() throws {
        let now = try #require(Timestamp("2026-03-01T09:30:00.000000Z"))
        let then = now.advanced(byMicroseconds: -1)
        var draft = ItemDraft(itemClass: .key, uuid: ItemUUID(high: 1, low: 2))
        draft.attributes[.cdat] = .date(then)
        draft.attributes[.mdat] = .date(then)
        draft.attributes[.pdmn] = .text("dk")
        draft.attributes[.sync] = .number(1)
        draft.extra = [ExtraAttribute(name: "b", value: "2"), ExtraAttribute(name: "a", value: "1")]
        let item = try draft.completed(now: now, secretSize: 3, accessGroup: "other")
        #expect(item.uuid == ItemUUID(high: 1, low: 2))
        #expect(item.created == then && item.modified == then)
        #expect(item.accessibility == .always && item.isSynchronizable && item.accessGroup == "other")
        #expect(item.extra.map(\.name) == ["a", "b"])
    }
}

@Suite struct AttributesTests {
    @Test("Attributes are ordered by code, regardless of the order they are set in")
    func order() {
        var attributes = Attributes()
        for code in AttributeCode.allCases.reversed() { attributes[code] = .number(Int64(code.rawValue)) }
        attributes[.svce] = nil
        attributes[.acct] = .text("new")
        #expect(attributes.entries.map(\.code) == AttributeCode.allCases.filter { $0 != .svce })
        #expect(attributes[.svce] == nil)
        #expect(attributes.text(.acct) == "new")
        #expect(attributes.number(.agrp) == Int64(AttributeCode.agrp.rawValue))
    }

    @Test("Codes are four bytes long, unique and sorted, and each identifies its attribute")
    func codes() {
        let codes = AttributeCode.allCases.map(\.code)
        #expect(codes == codes.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        #expect(Set(codes).count == codes.count)
        for code in AttributeCode.allCases {
            #expect(code.code.utf8.count == 4)
            #expect(String(describing: code) == code.code)
            #expect(AttributeCode(code: code.code) == code)
        }
        #expect(AttributeCode(code: "ACCT") == nil)
        #expect(AttributeCode(code: "") == nil)
    }

    @Test("Unique keys are Apple's, and all their attributes belong to the class")
    func uniqueKeys() {
        let expected: [ItemClass: String] = [
            .genericPassword: "acct svce agrp sync vwht tkid musr ggrp",
            .internetPassword: "acct sdmn srvr ptcl atyp port path agrp sync vwht tkid musr ggrp",
            .certificate: "ctyp issr slnr agrp sync vwht tkid musr ggrp",
            .key: "kcls klbl atag crtr type bsiz esiz sdat edat agrp sync vwht tkid musr ggrp",
        ]
        for itemClass in ItemClass.allCases {
            #expect(itemClass.uniqueKey.map(\.code).joined(separator: " ") == expected[itemClass])
            #expect(itemClass.uniqueKey.allSatisfy { $0.belongs(to: itemClass) })
        }
    }
}
