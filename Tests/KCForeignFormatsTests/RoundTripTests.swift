import KCByteStreams
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Exporting as CSV or Bitwarden JSON and importing again")
struct RoundTripTests {
    /// Exports items and imports them again.
    private func roundTrip(
        _ lines: String, _ index: Int
    ) throws -> (before: [Item], after: [Item], altered: [String: [String]]) {
        let (format, writer) = try ExportSample.writers()[index]
        let (file, export) = try ExportSample.export(lines, to: writer)
        let lists = try export.lists()
        #expect(lists.unheld.isEmpty && lists.staying.isEmpty)
        let reader: any ForeignFormat = format == .csv ? CSVFormat() : BitwardenFormat()
        let contents = try ForeignReading.read(file, as: reader, password: "correct horse")
        #expect(contents.refused == [])
        var altered: [(String, [String])] = []
        try lists.altered.forEach { item, number in
            altered.append((ExportedRecord(item).title, ExportLists.lost(number).map(\.code)))
        }
        var before = ListingVisitor()
        try ExportSample.items(lines).visitItems(&before)
        return (before.items, try contents.entries.map(\.item), Dictionary(altered) { $0 + $1 })
    }

    private static let names: [AttributeCode] = [.acct, .svce, .srvr, .ptcl, .port, .path, .sdmn, .labl]

    private func told(_ items: [Item]) -> [[String]] {
        items.map { item in
            Self.names.map { code in
                switch item.attributes[code] {
                case .text(let text): text
                case .number(0), nil: ""
                case let value?: "\(value)"
                }
            }
        }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    @Test(
        "What identifies an internet password is preserved: every protocol, port, path and IPv6 address",
        arguments: [0, 1])
    func exact(index: Int) throws {
        let codes = [
            "htps", "http", "ssh ", "smb ", "ftp ", "ftps", "ftpa", "ldap", "ldps", "imap", "imps", "pop3", "pops",
            "smtp", "nntp", "ntps", "irc ", "ircs", "teln", "tels", "afp ", "atlk", "rtsp", "daap", "eppc", "ipp ",
            "sox ", "htpx", "htsx", "ftpx", "rtsx",
        ]
        var lines = codes.map { code in
            let number = code.utf8.reduce(0) { $0 << 8 | Int($1) }
            return
                #"{"class":"inet","attributes":{"srvr":"\#(number).example","labl":"\#(code)","acct":"ada","ptcl":\#(number),"port":1},"secret":"s"}"#
        }
        lines += [
            #"{"class":"inet","attributes":{"srvr":"2001:db8::1","labl":"six","acct":"ada","ptcl":1752461427,"port":8443,"path":"/x"},"secret":"s"}"#,
            #"{"class":"inet","attributes":{"srvr":"localhost","labl":"bare","acct":"ada"},"secret":"s"}"#,
            #"{"class":"inet","attributes":{"srvr":"example.com","labl":"named","acct":"ada"},"secret":"s"}"#,
            #"{"class":"genp","attributes":{"svce":"Chat","labl":"Chat","acct":"ada"},"secret":"s"}"#,
            #"{"class":"genp","attributes":{"svce":"Note","labl":"Note","desc":"secure note"},"secret":"s"}"#,
        ]
        let (before, after, altered) = try roundTrip(lines.joined(separator: "\n"), index)
        #expect(told(after) == told(before))
        #expect(altered == [:])
    }

    @Test("Each item whose attributes are not preserved is reported", arguments: [0, 1])
    func named(index: Int) throws {
        let (before, after, altered) = try roundTrip(
            #"""
            {"class":"inet","attributes":{"srvr":"a.example","labl":"realm","acct":"ada","ptcl":1752461427,"sdmn":"realm","atyp":"httd"},"secret":"s"}
            {"class":"inet","attributes":{"srvr":"b.example","labl":"odd","acct":"ada","ptcl":7},"secret":"s"}
            {"class":"inet","attributes":{"srvr":"C.example","labl":"case","acct":"ada","ptcl":1752461427},"secret":"s"}
            {"class":"genp","attributes":{"svce":"service","labl":"label","acct":"ada"},"secret":"s"}
            {"class":"genp","attributes":{"svce":"d.example","labl":"code","acct":"one-time password (ada)","desc":"one-time password"},"secret":"otpauth://totp/x?secret=MZXQ"}
            {"class":"genp","attributes":{"svce":"n","labl":"n","acct":"note (ada)","desc":"secure note"},"secret":"s"}
            {"class":"genp","attributes":{"svce":"extra","labl":"extra","acct":"c"},"secret":"s","extra":{"url.1":"https://e.example/a"}}
            """#, index)
        #expect(
            altered
                == [
                    "realm": ["sdmn", "atyp"], "odd": ["ptcl"], "case": ["srvr"], "label": ["svce"],
                    "code": ["acct", "svce"], "n": ["acct"],
                    "extra": ["svce"],
                ].mapValues { $0 })
        // No part became a separate login.
        #expect(after.count == before.count)
    }
}
