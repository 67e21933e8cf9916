import Foundation
import KCByteStreams
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCSecurityCommand

@Suite("Items as macOS lists them")
struct ListingTests {
    private static func listed(_ bytes: [UInt8]) -> String {
        var text = SecretBytes(capacity: 64)
        text.appendListed(bytes.span)
        return String(decoding: text.bytesForTest(), as: UTF8.self)
    }

    private static func bare(_ bytes: [UInt8]) -> String {
        var text = SecretBytes(capacity: 64)
        text.appendBare(bytes.span)
        return String(decoding: text.bytesForTest(), as: UTF8.self)
    }

    @Test(
        "Bytes are listed as text if all are printable, and otherwise as hexadecimal digits and escaped text",
        arguments: [
            ("", ""), ("abc", "\"abc\""), ("  padded  ", "\"  padded  \""), ("0xDEADBEEF", "\"0xDEADBEEF\""),
            ("ab\"cd", "\"ab\"cd\""), (#"ab\cd"#, #"0x61625C6364  "ab\134cd""#),
            ("caf\u{e9}", #"0x636166C3A9  "caf\303\251""#),
            ("line1\nline2", #"0x6C696E65310A6C696E6532  "line1\012line2""#),
            ("\u{1}\u{2}", "0x0102 "), ("\0\0\0P", #"0x00000050  "\000\000\000P""#), ("\u{7f}", "0x7F "),
        ])
    func listedBytes(text: String, expected: String) {
        #expect(Self.listed(Array(text.utf8)) == expected)
    }

    @Test(
        "A bare password is text if it is printable, and lowercase hexadecimal digits otherwise",
        arguments: [("", ""), ("a b\\c", "a b\\c"), ("é", "c3a9"), ("a\n", "610a"), ("\u{7f}", "7f")])
    func bareBytes(text: String, expected: String) {
        #expect(Self.bare(Array(text.utf8)) == expected)
    }

    @Test("A listing of any bytes consists of printable ASCII characters")
    func listingsAreHarmless() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<500 {
            let text = Self.listed(random.bytes(Int.random(in: 0...40, using: &random)))
            #expect(text.utf8.allSatisfy { (0x20..<0x7f).contains($0) })
        }
    }

    private func item(_ itemClass: ItemClass, _ attributes: [AttributeCode: AttributeValue]) throws -> Item {
        var draft = ItemDraft(itemClass: itemClass)
        for (code, value) in attributes { draft.attributes[code] = value }
        let now = try #require(Timestamp("2024-01-01T00:00:00.999999Z"))
        return try draft.completed(now: now, secretSize: 1)
    }

    private func text(_ item: Item) -> String {
        String(decoding: listing(of: item, in: "/k"), as: UTF8.self)
    }

    @Test("An item of each class is listed as in the stored text", arguments: ItemClass.allCases)
    func golden(itemClass: ItemClass) throws {
        let created = try #require(Timestamp("1999-12-31T23:59:59.000000Z"))
        let start = try #require(Timestamp("2025-02-03T00:00:00.000000Z"))
        let bare = try item(itemClass, [:])
        let full: Item
        switch itemClass {
        case .genericPassword:
            full = try item(
                itemClass,
                [
                    .acct: .text("me"), .svce: .text("site"), .labl: .text("caf\u{e9} \u{1b}[2J\u{202e}"),
                    .alis: .text(""),
                    .cdat: .date(created), .crtr: .number(0x6170_706c), .type: .number(0x6e6f_7465),
                    .cusi: .number(-1), .invi: .number(1), .nega: .number(1 << 40), .desc: .text("kind"),
                    .gena: .data([0, 1, 2]), .icmt: .text("two\nlines"), .prot: .data([0x41]), .scrp: .number(0),
                ])
        case .internetPassword:
            full = try item(
                itemClass,
                [
                    .acct: .text("me"), .srvr: .text("example.com"), .labl: .text("example.com (me)"),
                    .atyp: .text("form"), .path: .text("/a"), .port: .number(8080), .ptcl: .number(0x6874_7073),
                    .sdmn: .text("realm"), .icmt: .text("default"),
                ])
        case .certificate:
            full = try item(
                itemClass,
                [
                    .alis: .text("ca@example.com"), .cenc: .number(3), .ctyp: .number(3), .labl: .text("Example CA"),
                    .pkhh: .data(Array(0..<20)), .issr: .data(Array("0\u{b}1\u{9}0".utf8)), .slnr: .data([1]),
                    .subj: .data([0x30, 0]), .skid: .data([0xff]),
                ])
        case .key:
            full = try item(
                itemClass,
                [
                    .kcls: .number(1), .labl: .text("key"), .klbl: .data([1, 2]), .atag: .text("tag"),
                    .type: .number(42), .bsiz: .number(2048), .esiz: .number(2048), .perm: .number(1),
                    .priv: .number(1), .modi: .number(0), .crtr: .number(7), .sdat: .date(start), .sens: .number(0),
                    .extr: .number(1), .decr: .number(1), .sign: .number(1), .unwp: .number(1),
                ])
        }
        let file = "Tests/KCSecurityCommandTests/Listings/\(itemClass.rawValue).txt"
        try Golden.compare(text(full) + text(bare), with: file)
    }

    @Test("Numbers of any size are listed without a trap")
    func extremeNumbers() throws {
        for number in [Int64.min, -1, 0, Int64(UInt32.max), Int64.max] {
            let key = try item(.key, [.kcls: .number(number), .crtr: .number(number), .bsiz: .number(number)])
            #expect(text(key).hasPrefix("keychain: \"/k\"\nversion: 512\nclass: 0x"))
        }
    }
}
