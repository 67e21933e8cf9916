import KCByteStreams
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Exported items, imported again")
struct ReturnTests {
    private struct Listed: Hashable {
        let item: Item
        let secret: String
    }

    private func listed(_ items: CollectedItems) throws -> [Listed] {
        var visitor = ListingVisitor()
        try items.visitItems(&visitor)
        return zip(visitor.items, visitor.secrets).map { Listed(item: $0, secret: $1) }
    }

    private func passkey() -> String {
        #"{"class":"genp","uuid":"00000000-0000-4000-8000-00000000000a","attributes":{"svce":"example.com","acct":"passkey (ada)","desc":"passkey","labl":"Example"},"secret":"{\"credentialId\":\"AQI\",\"rpId\":\"example.com\",\"username\":\"ada\",\"userHandle\":\"AA\",\"key\":\"\#(PasskeySample.key)\"}"}"#
    }

    @Test("KDBX and CXF preserve every item: its UUID, attributes, dates and secret", arguments: [0, 1])
    func exact(index: Int) throws {
        let lines = ExportSample.lines + "\n" + passkey()
        let writer = try ExportSample.writers()[index == 0 ? 3 : 2].1
        let (file, _) = try ExportSample.export(lines, to: writer)
        let format: any ForeignFormat = index == 0 ? KeePassFormat() : CXFFormat()
        #expect(try KnownFormats.recognise(ForeignReading.input(file)).name == format.name)
        let contents = try ForeignReading.read(file, as: format, password: "correct horse")
        #expect(contents.refused == [])
        #expect(try listed(contents.items) == listed(ExportSample.items(lines)))
        #expect(contents.isPlaintext == (index == 1))
    }

    @Test("A date before 1970, which CXF does not have, comes back")
    func earlyDate() throws {
        let line =
            #"{"class":"genp","uuid":"00000000-0000-4000-8000-00000000000b","attributes":{"svce":"a","acct":"b","labl":"a","#
            + #""cdat":"1960-01-01T00:00:00.000000Z","mdat":"1965-01-01T00:00:00.000000Z"},"secret":"s"}"#
        let (file, _) = try ExportSample.export(line, to: ExportSample.writers()[2].1)
        let contents = try ForeignReading.read(file, as: CXFFormat())
        #expect(try listed(contents.items) == listed(ExportSample.items(line)))
    }

    @Test("Bitwarden JSON preserves titles, accounts, addresses, dates and secrets, including binary ones")
    func bitwarden() throws {
        let (file, _) = try ExportSample.export(ExportSample.lines, to: ExportSample.writers()[0].1)
        let contents = try ForeignReading.read(file, as: BitwardenFormat(), password: "correct horse")
        #expect(throws: ForeignFailure.wrongPassword) {
            try ForeignReading.read(file, as: BitwardenFormat(), password: "correct house")
        }
        let found = try listed(contents.items)
        let first = try #require(found.first { $0.secret.hasPrefix("a <b>") })
        #expect(first.secret == "a <b> & \"q\" é\r\nzwei\t")
        #expect(first.item.attributes.text(.labl) == "Home <Wi-Fi> & é")
        #expect(first.item.created.description == "2026-03-01T09:30:00.123456Z")
        #expect(first.item.modified.description == "2026-03-02T09:30:00.000000Z")
        let mail = try #require(found.first { $0.item.attributes.text(.srvr) == "mail.example.org" })
        #expect(mail.item.secretSize == 4)
        #expect(mail.item.attributes[.port] == .number(993))
        #expect(mail.item.attributes[.ptcl] == .number(1_768_779_891))
        #expect(contents.parts.map(\.kind).contains("field") == false)
        #expect(found.contains { $0.secret == "line1\nline2" && $0.item.attributes.text(.desc) == "secure note" })
        #expect(found.contains { $0.item.extra.contains(ExtraAttribute(name: "url.2", value: "https://two.example")) })
        #expect(found.contains { $0.item.secretSize == 0 && $0.item.attributes.text(.labl) == "Empty" })
    }

    @Test("CXF has one-time passwords, passkeys and Wi-Fi passwords in its own notation, for other programs")
    func ownWords() throws {
        let (file, _) = try ExportSample.export(
            ExportSample.lines + "\n" + passkey(), to: CXFWriter(date: .reference))
        let text = String(decoding: file, as: UTF8.self)
        #expect(
            text.contains(
                #"{"type":"totp","secret":"JBSWY3DPEHPK3PXP","period":60,"digits":8,"algorithm":"sha256","username":"ada","issuer":"Example"}"#
            ))
        #expect(text.contains(#"{"type":"passkey","credentialId":"AQI","rpId":"example.com","#))
        #expect(text.contains(#"{"type":"wifi","ssid":{"fieldType":"string","value":"Net"}"#))
    }

    @Test("Titles and secrets that another program changed are read as changed")
    func changed() throws {
        let line =
            #"{"class":"genp","attributes":{"svce":"Chat","acct":"ada","labl":"Chat","agrp":"g"},"secret":"one"}"#
        let (file, _) = try ExportSample.export(line, to: CXFWriter(date: .reference))
        let text = String(decoding: file, as: UTF8.self)
        let renamed = text.replacing(#""title":"Chat""#, with: #""title":"Talk""#)
        #expect(try ForeignReading.read(renamed, as: CXFFormat()).listing == ["genp svce=Talk acct=ada: one"])
        let rotated = text.replacing(#""value":"one""#, with: #""value":"two""#)
        let items = try listed(ForeignReading.read(rotated, as: CXFFormat()).items)
        #expect(items.map(\.secret) == ["two"])
        #expect(items.map(\.item.accessGroup) == ["g"])
    }
}
