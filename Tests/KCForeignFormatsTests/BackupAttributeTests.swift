import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Attributes of items in backups of iPhones")
struct BackupAttributeTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func value(_ code: AttributeCode, _ value: PlistValue) throws -> AttributeValue? {
        let list = PlistValue.dictionary([(code.code, value)])
        let (binary, der) = (try PropertyList(list.binary.span), try PropertyList(der: list.der.span))
        let found = try binary.attribute(code, #require(binary.member(code.code, of: binary.root)))
        #expect(try der.attribute(code, #require(der.member(code.code, of: der.root))) == found)
        return found
    }

    private static let date = Timestamp(microseconds: 1_700_000_000_000_000) ?? .reference
    private static let sinceReference = date.seconds - Timestamp.reference.seconds

    @Test(
        "Every attribute is read from every form in which Apple's code may write it", arguments: AttributeCode.allCases)
    func forms(code: AttributeCode) throws {
        let (text, data) = (PlistValue.text("htps"), PlistValue.data(Array("htps".utf8)))
        let (number, date) = (PlistValue.number(1_752_461_427), PlistValue.date(Self.date))
        let expected: [(PlistValue, AttributeValue)]
        switch code.kind {
        case .number:
            expected = [
                (text, .number(1_752_461_427)), (data, .number(1_752_461_427)), (number, .number(1_752_461_427)),
                (.text("443"), .number(443)), (.text("ftp"), .number(1_718_906_912)), (.text("-1"), .number(-1)),
                (.data([0xbb, 1, 0, 0]), .number(443)), (.data([255, 255, 255, 255]), .number(-1)),
                (.flag(true), .number(1)), (.flag(false), .number(0)), (date, .number(Self.sinceReference)),
            ]
        case .string:
            expected = [
                (text, .text("htps")), (data, .text("htps")), (.number(7), .text("7")), (.flag(true), .text("1")),
                (date, .text(Self.date.description)),
            ]
        case .textOrData, .dataOrText:
            expected = [
                (text, .text("htps")), (data, .data(Array("htps".utf8))), (.data([0xff]), .data([0xff])),
                (.number(7), .text("7")), (date, .text(Self.date.description)),
                (number, .text(code == .atyp ? "htps" : "1752461427")),
            ]
        case .data:
            expected = [
                (text, .data(Array("htps".utf8))), (data, .data(Array("htps".utf8))),
                (.number(7), .data([7, 0, 0, 0])),
                (.number(1 << 40), .data([0, 0, 0, 0, 0, 1, 0, 0])), (date, .data(Array(Self.date.description.utf8))),
            ]
        case .date:
            expected = [
                (.text("2023-11-14T22:13:20Z"), .date(Self.date)), (.text("20231114221320Z"), .date(Self.date)),
                (.data(Array("20231114221320Z".utf8)), .date(Self.date)),
                (.number(Self.sinceReference), .date(Self.date)),
                (.number(0), .date(.reference)), (date, .date(Self.date)),
            ]
        }
        for (given, wanted) in expected { #expect(try value(code, given) == wanted, "\(code.code) \(given)") }
    }

    @Test("A value that an attribute cannot have in any form is damage", arguments: AttributeCode.allCases)
    func wrong(code: AttributeCode) throws {
        var values: [PlistValue] = [.array([]), .dictionary([])]
        switch code.kind {
        case .number: values += [.text("443 and more"), .data([1, 2, 3]), .text("ä€x")]
        case .string: values += [.data([0xff])]
        case .date: values += [.text("soon"), .number(.max), .data([0xff])]
        case .textOrData, .dataOrText, .data: break
        }
        for given in values {
            #expect(throws: ForeignFailure.self, "\(code.code) \(given)") { try value(code, given) }
        }
    }

    @Test("An empty text in place of a number or a date is no value")
    func nothing() throws {
        for code in [AttributeCode.port, .ptcl, .sdat] {
            #expect(try value(code, .text("")) == nil)
            #expect(try value(code, .data([])) == nil)
        }
        #expect(try value(.musr, .data([])) == nil)
    }

    @Test("Lists of an unknown kind, and members beside an item's data, are counted")
    func unknown() throws {
        var forge = BackupForge(entries: [BackupForge.Entry(members: [("svce", .text("A")), ("pdmn", .text("ak"))])])
        forge.alter = { part, bytes in
            guard part == .keychain else { return bytes }
            let items = PlistValue.array([.dictionary([("v_Data", .data([])), ("brandNew", .text("x"))])])
            return PlistValue.dictionary([("genp", items), ("newt", .array([.text("a"), .text("b")]))]).binary
        }
        try forge.write(to: folder)
        let contents = try AppleBackupFormat().read(
            ForeignInput(path: folder.path(""), .folder), GivenSecrets(text: "backup pw"))
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == ["1 unknown member", "2 record of an unknown kind"])
        #expect(contents.remarks.contains { $0.hasSuffix("brandNew") })
    }

    @Test("An internet password with its protocol as text is the one with the number, and its protection may be data")
    func protocolAsText() throws {
        let members: [(String, PlistValue)] = [
            ("acct", .text("ada")), ("srvr", .text("example.com")), ("port", .text("443")),
            ("agrp", .data(Array("apple".utf8))), ("pdmn", .data(Array("ck".utf8))), ("v_Data", .text("secret")),
        ]
        let entries = [PlistValue.text("htps"), .number(1_752_461_427)].enumerated().map { number, value in
            BackupForge.Entry(
                itemClass: .internetPassword, number: 7,
                members: members + [("ptcl", value), ("path", .text("\(number)"))])
        }
        try BackupForge(entries: entries).write(to: folder)
        let contents = try AppleBackupFormat().read(
            ForeignInput(path: folder.path(""), .folder), GivenSecrets(text: "backup pw"))
        #expect(contents.refused == [])
        #expect(contents.leftOut.isEmpty)
        let items = try contents.entries.map(\.item)
        #expect(items.map { $0.attributes.number(.ptcl) } == [1_752_461_427, 1_752_461_427])
        #expect(items.map { $0.attributes.number(.port) } == [443, 443])
        #expect(items.map(\.accessGroup) == ["apple", "apple"])
    }
}
