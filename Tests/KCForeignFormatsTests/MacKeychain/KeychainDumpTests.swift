import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("The output of 'security dump-keychain'")
struct KeychainDumpTests {
    /// An item as macOS prints it.
    static func item(_ itemClass: String, _ attributes: [String], data: String?) -> String {
        "keychain: \"/Users/ada/Library/Keychains/login.keychain-db\"\nversion: 512\nclass: \(itemClass)\nattributes:\n"
            + attributes.map { "    \($0)\n" }.joined() + (data.map { "data:\n\($0)\n" } ?? "")
    }

    private static let dates = [
        #""cdat"<timedate>=0x32303139303431383138343235325A00  "20190418184252Z\000""#,
        #""mdat"<timedate>=0x32303139303431383138343235325A00  "20190418184252Z\000""#,
    ]

    static let generic = item(
        "\"genp\"",
        [
            "0x00000007 <blob>=\"forum \"quoted\"\"", "0x00000008 <blob>=<NULL>", "\"acct\"<blob>=\"ada\"",
            "\"crtr\"<uint32>=\"aapl\"", "\"cusi\"<sint32>=0xFFFFFFFE ", "\"desc\"<blob>=<NULL>",
            "\"gena\"<blob>=0x00FF  \"\\000\\377\"", "\"svce\"<blob>=0xC3BC6265722E  \"\\303\\274ber.\"",
            "\"type\"<uint32>=<NULL>", "\"BraN\"<blob>=\"news\"",
        ] + dates, data: "\"p\"w\"")
    static let internet = item(
        "\"inet\"",
        [
            "0x00000007 <blob>=\"a.example\"", "\"acct\"<blob>=\"ada\"", "\"atyp\"<blob>=\"dflt\"",
            "\"path\"<blob>=\"/x\"", "\"port\"<uint32>=0x000001BB ", "\"ptcl\"<uint32>=\"htps\"",
            "\"srvr\"<blob>=\"a.example\"",
        ] + dates, data: "0x615C62 \"a\\134b\"")
    static let note = item(
        "\"genp\"",
        [
            "0x00000007 <blob>=\"N\"", "\"desc\"<blob>=\"secure note\"", "\"svce\"<blob>=\"N\"",
            "\"type\"<uint32>=\"note\"",
        ], data: "0x0A  ")
    static let whole = generic + internet + note

    private func read(_ text: String) throws -> ForeignContents {
        let input = ForeignReading.input(Array(text.utf8))
        #expect(try KnownFormats.recognise(input).name == "keychain-dump")
        return try KeychainDumpFormat().read(input, GivenSecrets(text: nil))
    }

    @Test("Passwords and notes are read with all attributes, whatever form their values have")
    func items() throws {
        let contents = try read(Self.whole)
        #expect(contents.refused == [] && contents.remarks == [])
        #expect(
            try contents.listing == [
                "genp svce=N desc=secure note: \n", "genp svce=\u{fc}ber. acct=ada: p\"w",
                #"inet srvr=a.example acct=ada: a\b"#,
            ])
        #expect(contents.parts.map { "\($0.count) \($0.kind)" } == ["2 password", "1 note"])
        let generic = try #require(try contents.entries.first { $0.item.attributes.text(.acct) == "ada" }?.item)
        #expect(generic.attributes.text(.labl) == "forum \"quoted\"")
        #expect(generic.attributes.number(.crtr) == 0x6161_706c)
        #expect(generic.attributes.number(.cusi) == -2)
        #expect(generic.attributes[.gena] == .data([0, 0xff]))
        #expect(generic.extraValue("macos.BraN") == "news")
        #expect("\(generic.created)".hasPrefix("2019-04-18T18:42:52"))
        let internet = try #require(try contents.entries.first { $0.item.itemClass == .internetPassword }?.item)
        #expect(internet.attributes.number(.port) == 443 && internet.attributes.number(.ptcl) == 1_752_461_427)
        let without = try read(Self.internet.replacing("0x000001BB", with: "0x00000000"))
        #expect(try without.entries.map { $0.item.attributes.number(.port) } == [nil])
        // Line ends of Windows, and what `security` printed of an access list.
        let other =
            Self.whole.replacing("\n", with: "\r\n") + "access: 1 entries\n    entry 0:\n        don't-require\n"
        let again = try read(other)
        #expect(try again.uuids == contents.uuids)
        #expect(again.leftOut.map(\.kind) == ["access list"])
    }

    @Test("Items without their secrets are named, and none is imported with an empty one")
    func withoutSecrets() throws {
        func problems(_ text: String) throws -> [String] {
            let contents = try read(text)
            #expect(contents.items.count == 0 && contents.remarks.count == 1)
            return contents.refused.map { "\($0.name): \($0.problem)" }
        }
        let missing = try problems(Self.item("\"genp\"", ["\"svce\"<blob>=\"A\""], data: nil))
        #expect(missing == ["A: damaged(\"it is shown without its secret\")"])
        let blank = try problems(Self.item("\"genp\"", ["\"svce\"<blob>=\"A\""], data: ""))
        #expect(blank == ["A: damaged(\"its secret is empty, or was not shown\")"])
        let denied =
            Self.item("\"genp\"", ["\"svce\"<blob>=\"A\""], data: nil)
            + "security: SecKeychainItemCopyContent: User canceled the operation.\n" + Self.internet
        let contents = try read(denied)
        #expect(contents.refused.map(\.name) == ["A"] && contents.items.count == 1 && contents.remarks == [])
        let key = try problems(Self.item("0x00000010 ", ["0x00000001 <blob>=\"K\""], data: nil))
        #expect(key == ["K: damaged(\"a dump does not show keys\")"])
    }

    @Test(
        "A value of no known form damages its item alone, which is named",
        arguments: [
            ("\"acct\"<blob>=\"ada\"", "\"acct\"<blob>=\"ada"), ("\"acct\"<blob>=\"ada\"", "\"acct\"<blob>=ada"),
            ("\"acct\"<blob>=\"ada\"", "\"acct\"<blob>=0x6"), ("\"acct\"<blob>=\"ada\"", "\"acct\" ada"),
            ("\"port\"<uint32>=0x000001BB ", "\"port\"<uint32>=0x0000000000000001BB "),
            ("data:\n0x615C62 \"a\\134b\"", "data:\n0x615C62 \"a\\134b\"\n0x00"),
            ("class: \"inet\"", "class: \"abcd\""),
            ("class: \"inet\"\n", ""), ("version: 512", "wrapped line"),
        ])
    func odd(from: String, to: String) throws {
        let broken = Self.internet.replacing(from, with: to)
        #expect(broken != Self.internet)
        let contents = try read(Self.generic + broken + Self.note)
        #expect(contents.items.count == 2)
        #expect(contents.refused.count == 1)
    }
}
