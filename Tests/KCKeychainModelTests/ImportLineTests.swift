import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@Suite struct ImportLineTests {
    private func read(_ text: String) throws(ImportLine.Problem) -> (draft: ItemDraft, secret: [UInt8]?) {
        let line = try ImportLine(Array(text.utf8).span)
        switch line.secret {
        case .some(let secret): return (line.draft, secret.bytesForTest())
        case .none: return (line.draft, nil)
        }
    }

    @Test("Any JSON form of an item is read")
    func spellings() throws {
        let text = """
             { "secret" : "pa\\u0073s\\n\\ud83d\\ude00" , "extra":{"b":"2","a":"\\/"},
              "uuid": "00112233-4455-6677-8899-AABBCCDDEEFF",
              "attributes": {"svce":"mail", "acct" : "ann", "type": -7, "gena": {"base64":"AQI="},
                "cdat": "2026-03-01T09:30:00.000000Z"}, "class":"genp" }\t
            """
        let (draft, secret) = try read(text)
        #expect(draft.itemClass == .genericPassword)
        #expect(draft.uuid == ItemUUID("00112233-4455-6677-8899-aabbccddeeff"))
        #expect(draft.attributes.text(.acct) == "ann" && draft.attributes.text(.svce) == "mail")
        #expect(draft.attributes.number(.type) == -7)
        #expect(draft.attributes[.gena] == .data([1, 2]))
        #expect(draft.attributes.date(.cdat) == Timestamp("2026-03-01T09:30:00.000000Z"))
        #expect(draft.extra == [ExtraAttribute(name: "b", value: "2"), ExtraAttribute(name: "a", value: "/")])
        #expect(secret == Array("pass\n😀".utf8))
    }

    @Test("A secret may be bytes, empty or absent, and these are distinguished")
    func secrets() throws {
        #expect(try read(#"{"class":"keys","secret":{"base64":"AP8="}}"#).secret == [0, 255])
        #expect(try read(#"{"class":"keys","secret":""}"#).secret == [])
        #expect(try read(#"{"class":"keys"}"#).secret == nil)
    }

    @Test(
        "A line that is not a valid item is refused",
        arguments: [
            "", "{}", "[]", "null", #"{"class":"idnt"}"#, #"{"class":"genp"} x"#, #"{"class":"genp"}{"class":"genp"}"#,
            #"{"class":"genp",}"#, #"{"class":"genp","class":"genp"}"#, #"{"class":"genp","password":"x"}"#,
            #"{"class":"genp","uuid":"1"}"#, #"{"class":"genp","attributes":{"acct":"a","acct":"b"}}"#,
            #"{"class":"genp","attributes":{"cdat":"yesterday"}}"#, #"{"class":"genp","attributes":{"type":1.5}}"#,
            #"{"class":"genp","attributes":{"type":1e3}}"#, #"{"class":"genp","attributes":{"type":true}}"#,
            #"{"class":"genp","attributes":{"acct":null}}"#, #"{"class":"genp","attributes":{"gena":{"hex":"00"}}}"#,
            #"{"class":"genp","secret":{"base64":"AP8"}}"#, #"{"class":"genp","secret":{"base64":"AP8=","x":1}}"#,
            #"{"class":"genp","secret":"\ud83d"}"#, #"{"class":"genp","secret":"\ude00"}"#,
            #"{"class":"genp","secret":"\ud83d\u0041"}"#, #"{"class":"genp","secret":"\x"}"#,
            #"{"class":"genp","secret":"\u00g0"}"#, #"{"class":"genp","secret":"open"#,
            "{\"class\":\"genp\",\"secret\":\"\n\"}",
            #"{"class":"genp","extra":{"a":1}}"#, #"{"class":"genp","attributes":{"type":007}}"#,
            #"{"class":"genp","attributes":{"type":99999999999999999999}}"#,
        ])
    func refused(text: String) {
        #expect(throws: ImportLine.Problem.self) { try read(text) }
    }

    @Test("An unknown attribute is named")
    func unknown() {
        #expect(throws: ImportLine.Problem.item(.unknownAttribute("acount"))) {
            try read(#"{"class":"genp","attributes":{"acount":"a"}}"#)
        }
    }

    @Test("A line truncated at any byte is refused")
    func cut() throws {
        let text =
            #"{"class":"genp","attributes":{"acct":"a\u00e9","type":12},"extra":{"k":"v"},"secret":{"base64":"AP8="}}"#
        _ = try read(text)
        for count in 0..<text.utf8.count {
            #expect(throws: ImportLine.Problem.self) {
                _ = try ImportLine(Array(text.utf8.prefix(count)).span)
            }
        }
    }

    @Test("A secret that is not valid UTF-8 is refused")
    func notUTF8() {
        let bytes = Array(#"{"class":"genp","secret":""#.utf8) + [0xff] + Array("\"}".utf8)
        #expect(throws: ImportLine.Problem.self) { _ = try ImportLine(bytes.span) }
    }
}

@Suite("Importing search results with secrets")
struct RevealedLineTests {
    private func services(_ text: String) throws -> [String?] {
        let bytes = Array(text.utf8)
        return try ImportLine.items(in: bytes.span).map { range in
            try ImportLine(Array(bytes[range]).span).draft.attributes.text(.svce)
        }
    }

    @Test("A line of several items yields each of them, whatever their secrets contain")
    func several() throws {
        let items = [
            #"{"class":"genp","uuid":"0b1b25a8-d837-4f51-a693-4442d2b04834","accessibility":"WhenUnlocked","size":5,"attributes":{"pdmn":"ak","svce":"one"},"secret":"}],\"["}"#,
            #"{"class":"genp","attributes":{"svce":"two"}}"#,
        ]
        #expect(try services(#"{"items":["# + items.joined(separator: " , ") + "]} ") == ["one", "two"])
        #expect(try services(items[1]) == ["two"])
        #expect(try services(#"{"items":[]}"#) == [])
    }

    @Test(
        "An item with a missing secret, or whose fields contradict each other, is refused",
        arguments: [
            #"{"class":"genp","size":5,"attributes":{}}"#,
            #"{"class":"genp","size":4,"attributes":{},"secret":"12345"}"#,
            #"{"class":"genp","accessibility":"Always","attributes":{"pdmn":"ak"}}"#,
            #"{"class":"genp","accessibility":"WhenUnlocked","attributes":{}}"#,
        ])
    func facts(line: String) {
        #expect(throws: ImportLine.Problem.self) { try services(line) }
    }

    @Test("A line of several items truncated at any byte is refused")
    func cut() {
        let line = #"{"items":[{"class":"genp","attributes":{"svce":"\"}]"},"secret":"x"},{"class":"inet"}]}"#
        for count in 2..<line.utf8.count {
            #expect(throws: ImportLine.Problem.self) {
                try services(String(decoding: Array(line.utf8)[..<count], as: UTF8.self))
            }
        }
        #expect(throws: ImportLine.Problem.self) { try services(line + "x") }
        #expect(throws: ImportLine.Problem.self) { try services(#"{"items":[1]}"#) }
        #expect(throws: ImportLine.Problem.self) { try services(#"{"items":[{"class":"genp"}],"more":1}"#) }
    }
}
