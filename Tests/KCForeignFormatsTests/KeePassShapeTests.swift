import KCByteStreams
import KCCryptography
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Shapes of KeePass databases", .waitsForPrograms)
struct KeePassShapeTests {
    private func read(_ xml: String, _ forge: KDBXForge = KDBXForge()) throws -> ForeignContents {
        try ForeignReading.read(forge.file(xml), as: KeePassFormat(), password: "pw")
    }

    private static func group(_ id: Int, _ name: String, _ content: String) -> String {
        "<Group><UUID>\(Base64.encode([UInt8](repeating: 1, count: 15) + [UInt8(id)]))</UUID><Name>\(name)</Name>\(content)</Group>"
    }

    @Test("All groups under the root are read, with their names as folders")
    func severalTops() throws {
        let xml =
            "<KeePassFile><Meta></Meta><Root>"
            + Self.group(1, "One", KDBXForge.entry(1, [("Title", "A"), ("Password", "{{a}}")]))
            + Self.group(
                2, "Two",
                KDBXForge.entry(2, [("Title", "B"), ("Password", "{{b}}")])
                    + Self.group(3, "In", KDBXForge.entry(3, [("Title", "C"), ("Password", "{{c}}")])))
            + "</Root></KeePassFile>"
        let contents = try read(xml)
        #expect(try contents.listing == ["genp svce=A: a", "genp svce=B: b", "genp svce=C: c"])
        #expect(
            try contents.entries.map { $0.item.extraValue("source.folder") } == ["One", "Two", "Two/In"])
    }

    @Test(
        "A database with two roots, or text beside elements, is refused",
        arguments: [
            "<KeePassFile><Meta></Meta><Root><Group/></Root><Root><Group/></Root></KeePassFile>",
            "<KeePassFile><Meta></Meta><Meta></Meta><Root><Group/></Root></KeePassFile>",
            "<KeePassFile><Meta></Meta><Root><Group>lost<Name>R</Name></Group></Root></KeePassFile>",
            "<KeePassFile><Meta></Meta><Root><Group><Name>R</Name>lost</Group></Root></KeePassFile>",
        ])
    func twoRoots(xml: String) throws {
        #expect(throws: ForeignFailure.self) { try read(xml) }
    }

    @Test("A second element where one is expected is counted, and never dropped in silence")
    func seconds() throws {
        let contents = try read(
            KDBXForge.xml(
                KDBXForge.entry(
                    1, [("Title", "A"), ("Password", "{{a}}")],
                    more: "<Tags>one</Tags><Tags>two</Tags><Times/><Times><ExpiryTime>x</ExpiryTime></Times>")))
        #expect(contents.leftOut.filter { $0.kind == "unknown member" }.map(\.count) == [2])
        #expect(contents.remarks.contains { $0.hasSuffix("Tags, ExpiryTime") })
    }

    @Test("KDBX 3.1 with renumbered blocks is refused", arguments: [[1, 2], [0, 2], [0, 0], [1, 0]] as [[UInt32]])
    func renumbered(numbers: [UInt32]) throws {
        let xml = KDBXForge.xml(KDBXForge.entry(1, [("Title", "A"), ("Password", "{{a}}")]))
        var forge = KDBXForge(major: 3, stream: .salsa20)
        #expect(try read(xml, forge).listing == ["genp svce=A: a"])
        forge.blockNumbers = numbers
        #expect(throws: ForeignFailure.damaged("a block is out of order")) { try read(xml, forge) }
    }

    @Test("Attachments within an entry, as KDBX 2 has them, are read: plain, protected and compressed")
    func inlineAttachments() throws {
        let zipped = try ExternalProgram.run("gzip", ["-c"], input: Array("zip".utf8)).output
        func binary(_ name: String, _ value: String, _ mark: String = "") -> String {
            "<Binary><Key>\(name)</Key><Value\(mark)>\(value)</Value></Binary>"
        }
        let more =
            binary("a", Base64.encode(Array("plain".utf8))) + binary("b", "{{hidden}}", " Protected=\"True\"")
            + binary("c", Base64.encode(zipped), " Compressed=\"True\"") + binary("d", "")
        let contents = try read(
            KDBXForge.xml(KDBXForge.entry(1, [("Title", "A"), ("Password", "{{p}}")], more: more)),
            KDBXForge(major: 3, stream: .salsa20))
        #expect(
            try contents.listing == [
                "genp svce=A acct=a desc=attachment: plain", "genp svce=A acct=b desc=attachment: hidden",
                "genp svce=A acct=c desc=attachment: zip", "genp svce=A acct=d desc=attachment: ", "genp svce=A: p",
            ])
    }

    @Test("A damaged entry is left out and named, and the others are imported")
    func oddEntries() throws {
        let good = KDBXForge.entry(1, [("Title", "Good"), ("UserName", "u"), ("Password", "{{p}}")])
        let odd: [(String, String)] = [
            ("another entry has the same ID", KDBXForge.entry(1, [("Title", "Odd"), ("Password", "{{x}}")])),
            (
                "it has no ID",
                "<Entry><String><Key>Title</Key><Value>Odd</Value></String><String><Key>Password</Key>"
                    + "<Value Protected=\"True\">{{x}}</Value></String></Entry>"
            ),
            (
                "a string of an entry occurs twice",
                KDBXForge.entry(2, [("Title", "Odd"), ("k", "{{1}}"), ("k", "{{2}}")])
            ),
        ]
        let last = KDBXForge.entry(3, [("Title", "Last"), ("Password", "{{l}}")])
        for (rule, entry) in odd {
            let contents = try read(KDBXForge.xml(good + entry + last))
            #expect(try contents.listing == ["genp svce=Good acct=u: p", "genp svce=Last: l"], "\(rule)")
            #expect(contents.refused.map(\.name) == ["Odd"])
            #expect(contents.refused.map(\.problem) == [.damaged(rule)])
            #expect(contents.parts.map(\.count) == [2])
            #expect(contents.leftOut.isEmpty, "\(contents.leftOut)")
        }
    }

    @Test("References that are left unresolved name their entries")
    func namedReferences() throws {
        let entries = (1...7).map {
            KDBXForge.entry($0, [("Title", "Entry \($0)"), ("UserName", "u"), ("Password", "{{x{REF:P@T:Entry}}}")])
        }
        let contents = try read(KDBXForge.xml(entries.joined()))
        #expect(
            contents.remarks.contains {
                $0.hasSuffix("in 'Entry 1', 'Entry 2', 'Entry 3', 'Entry 4', 'Entry 5' and 2 others")
            }, "\(contents.remarks)")
    }

    @Test("Attachments that no current entry has, empty groups and dates of use are counted")
    func counted() throws {
        let history = KDBXForge.entry(1, [("Title", "A")], more: "<Binary><Key>x</Key><Value Ref=\"0\"/></Binary>")
        let contents = try read(
            KDBXForge.xml(
                KDBXForge.entry(
                    1, [("Title", "A"), ("UserName", "u"), ("Password", "{{}}")],
                    more: "<History>\(history)</History><Times><LastAccessTime>2026-03-01T09:30:00Z</LastAccessTime>"
                        + "<UsageCount>3</UsageCount></Times><IconID>7</IconID><ForegroundColor>#FFF</ForegroundColor>")
                    + Self.group(1, "Empty", "")), KDBXForge(binaries: [Array("old".utf8)]))
        // An empty password is not a missing one.
        #expect(try contents.listing == ["genp svce=A acct=u: "])
        #expect(
            Set(contents.leftOut.map(\.kind)) == [
                "older version of an entry", "date of last use", "icon", "color", "empty folder",
                "attachment of no current entry",
            ])
    }

    @Test("A key file alone opens a database without a question, and asks only if it does not")
    func keyFileAlone() throws {
        let key = [UInt8](repeating: 4, count: 32)
        let keyFile = ForeignFile(name: "key", SecretBytes(copying: key), modified: .reference)
        let xml = KDBXForge.xml(KDBXForge.entry(1, [("Title", "A"), ("UserName", "u")]))
        let alone = ForeignReading.input(try KDBXForge().file(xml, password: nil, keyFile: key))
        #expect(try KeePassFormat().read(alone, GivenSecrets(text: nil, key: keyFile)).items.count == 1)
        let both = ForeignReading.input(try KDBXForge().file(xml, password: "pw", keyFile: key))
        #expect(throws: GivenSecrets.Unexpected.self) {
            try KeePassFormat().read(both, GivenSecrets(text: nil, key: keyFile))
        }
        #expect(try KeePassFormat().read(both, GivenSecrets(text: "pw", key: keyFile)).items.count == 1)
    }

    @Test("A database without any key opens with an empty password, and so does one with an empty password")
    func noKey() throws {
        let xml = KDBXForge.xml(KDBXForge.entry(1, [("Title", "A"), ("UserName", "u")]))
        for password in [nil, ""] as [String?] {
            let input = ForeignReading.input(try KDBXForge().file(xml, password: password))
            #expect(try KeePassFormat().read(input, GivenSecrets(text: "")).items.count == 1)
            #expect(throws: ForeignFailure.wrongPasswordOrNoKeyFile(orDamaged: false)) {
                try KeePassFormat().read(input, GivenSecrets(text: "pw"))
            }
        }
    }

    @Test(
        "A damaged key file is called that, and not a wrong password",
        arguments: [
            "<KeyFile><Meta><Version>1.0</Version></Meta><Key><Data>%%%</Data></Key></KeyFile>",
            "<KeyFile><Meta><Version>1.0</Version></Meta><Key><Data></Data></Key></KeyFile>",
            "<KeyFile><Meta><Version>2.0</Version></Meta><Key><Data>zz</Data></Key></KeyFile>",
            "<KeyFile><Meta><Version>2.0</Version></Meta><Key><Data Hash=\"00000000\">0404</Data></Key></KeyFile>",
            "<KeyFile><Meta><Version>2.0</Version></Meta></KeyFile>", "<?xml version=\"1.0\"?>\n<KeyFile><Meta><Vers",
            "<KeyFile><Key><Data>BAQ=</Data></Key><Key><Data>BAQ=</Data></Key></KeyFile>",
        ])
    func damagedKeyFile(text: String) throws {
        let keyFile = ForeignFile(name: "key", SecretBytes(copying: text.utf8), modified: .reference)
        let input = ForeignReading.input(try KDBXForge().file(KDBXForge.xml("")))
        let failure = #expect(throws: ForeignFailure.self) {
            try KeePassFormat().read(input, GivenSecrets(text: "pw", key: keyFile))
        }
        guard case .damagedKeyFile = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
    }
}
