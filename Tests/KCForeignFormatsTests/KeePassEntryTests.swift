import KCByteStreams
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing entries of KeePass databases", .waitsForPrograms)
struct KeePassEntryTests {
    private func read(_ content: String, meta: String = "") throws -> ForeignContents {
        let file = try KDBXForge().file(KDBXForge.xml(content, meta: meta))
        return try ForeignReading.read(file, as: KeePassFormat(), password: "pw")
    }

    private func id(_ number: Int) -> String { String(repeating: "0", count: 31) + "\(number)" }

    private let source = KDBXForge.entry(
        1, [("Title", "src"), ("UserName", "ada"), ("Password", "{{sourcepw}}"), ("Notes", "PRIVATE NOTE"), ("k", "v")])

    @Test(
        "A reference to a password or a note in a title, user name or address stays as it is",
        arguments: ["Title", "UserName", "URL", "KP2A_URL"])
    func secretReferences(field: String) throws {
        for target in ["P", "N"] {
            let reference = "{REF:\(target)@I:\(id(1))}"
            // A chain of references leads to the same place.
            let link = KDBXForge.entry(2, [("Title", "link"), ("UserName", reference), ("Password", "x")])
            for text in [reference, "{REF:U@I:\(id(2))}"] {
                let contents = try read(source + link + KDBXForge.entry(3, [(field, text), ("Password", "y")]))
                for (item, _) in try contents.entries {
                    #expect(!"\(item)".contains("sourcepw") && !"\(item)".contains("PRIVATE"), "\(item)")
                }
                #expect(contents.remarks.contains { $0.contains("passwords and notes") })
            }
        }
    }

    @Test("References to titles, user names and addresses are followed in names")
    func nameReferences() throws {
        let reader = KDBXForge.entry(
            2, [("Title", "{REF:T@I:\(id(1))} "), ("UserName", "{REF:U@I:\(id(1))}"), ("Password", "x")])
        #expect(try read(source + reader).listing.contains("genp svce={REF:T@I:\(id(1))}  acct=ada: x"))
    }

    @Test(
        "A password that refers to another entry by any of its fields is found, as KeePassXC finds it",
        arguments: [
            ("{REF:P@T:src}", "sourcepw"), ("{REF:P@U:ada}", "sourcepw"), ("{REF:P@N:PRIVATE NOTE}", "sourcepw"),
            ("{REF:P@O:v}", "sourcepw"), ("{REF:N@T:src}", "PRIVATE NOTE"), ("{ref:p@t:SR}", "sourcepw"),
            ("{REF:I@T:src}", "00000000000000000000000000000001"), ("{REF:P@T:missing}", "{REF:P@T:missing}"),
            ("{REF:P@P:sourcepw}", "{REF:P@P:sourcepw}"), ("a{REF:P@T:src}", "a{REF:P@T:src}"),
            ("{REF:P@I:src}", "{REF:P@I:src}"), ("{REF:O@T:src}", "{REF:O@T:src}"), ("{REF:P@T:}", "{REF:P@T:}"),
        ])
    func searches(reference: String, expected: String) throws {
        let decoy = KDBXForge.entry(4, [("Title", "a src b"), ("UserName", "w"), ("Password", "decoy")])
        let contents = try read(
            decoy + source + KDBXForge.entry(2, [("Title", "T"), ("UserName", "v"), ("Password", reference)]))
        #expect(
            try contents.listing.contains("genp svce=T acct=v: \(reference == "{ref:p@t:SR}" ? "decoy" : expected)"))
        #expect(contents.remarks.isEmpty == (reference != expected))
    }

    @Test("Searches for references for parts of long titles find what they should, without a wrong password")
    func manyReferences() throws {
        let title = String(repeating: "a", count: 1_000)
        let entries = (1...60).map { number in
            KDBXForge.entry(
                number, [("Title", title + "\(number)"), ("Password", "{REF:P@T:\(title.dropLast(number))b}")])
        }
        let contents = try read(entries.joined())
        #expect(contents.items.count == 60)
        #expect(contents.remarks.contains { $0.contains("missing entries") })
    }

    @Test("An entry with more strings than any program writes is refused")
    func manyStrings() throws {
        func strings(_ count: Int) -> String {
            KDBXForge.entry(1, (0..<count).map { ("key \($0)", "v") })
        }
        #expect(try read(strings(2_000)).items.count == 2_000)
        #expect(throws: ForeignFailure.limit("strings of an entry", found: 10_001, allowed: 10_000)) {
            try read(strings(10_001))
        }
        #expect(throws: ForeignFailure.damaged("a string of an entry occurs twice")) {
            try read(KDBXForge.entry(1, [("a", "1"), ("b", "2"), ("a", "3")]))
        }
    }

    @Test("A description of the key derivation without its end mark is malformed")
    func endMark() throws {
        var map = KDBXDictionary()
        map.add("R", .uint64(0))
        let bytes = map.encoded
        #expect(KDBXDictionary(bytes) == map)
        // The last byte of a value is no end mark.
        #expect(KDBXDictionary(Array(bytes.dropLast())) == nil)
        #expect(KDBXDictionary(bytes + [0]) == nil)
    }

    @Test("A note that refers to another entry's note is that note")
    func noteReferences() throws {
        let reader = KDBXForge.entry(2, [("Title", "T"), ("Password", "x"), ("Notes", "{REF:N@T:src}")])
        #expect(try read(source + reader).listing.contains("genp svce=T acct=note desc=secure note: PRIVATE NOTE"))
    }

    @Test("The notes of groups become notes, and what other programs keep in entries and groups is counted")
    func groups() throws {
        let data = """
            <CustomData><Item><Key>kcbackup</Key><Value>x</Value></Item><Item><Key>_LAST_MODIFIED</Key><Value>x</Value></Item>\
            <Item><Key>other</Key><Value>y</Value></Item></CustomData>
            """
        let contents = try read(
            "<Notes>top</Notes>" + KDBXForge.entry(1, [("Title", "A"), ("Password", "p")], more: data)
                + KDBXForge.entry(
                    2, [("Title", "B"), ("Password", "q")], more: "<OverrideURL>cmd://x SECRET</OverrideURL>")
                + "<Group><UUID>AAAAAAAAAAAAAAAAAAAAAg==</UUID><Name>Web</Name><Notes>{{PIN 1}}</Notes>\(data)"
                .replacing("<Notes>{{", with: "<Notes Protected=\"True\">{{")
                + "<Group><UUID>AAAAAAAAAAAAAAAAAAAAAw==</UUID><Name>Bin</Name><Notes>gone</Notes></Group></Group>"
                + "<Group><UUID>AAAAAAAAAAAAAAAAAAAAAg==</UUID><Name>Twin</Name><Notes>PIN 2</Notes></Group>",
            meta:
                "<RecycleBinUUID>AAAAAAAAAAAAAAAAAAAAAw==</RecycleBinUUID><DatabaseDescription>d</DatabaseDescription>")
        #expect(
            try contents.listing == [
                "genp svce=A: p", "genp svce=B: q", "genp svce=R desc=secure note: top",
                "genp svce=Twin desc=secure note: PIN 2", "genp svce=Web desc=secure note: PIN 1",
            ])
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "2 setting of another program", "1 override of an address", "1 note of a trashed group",
                "1 empty folder", "1 description of the database",
            ])
    }

    @Test("One-time passwords of KeeOTP and with counters become addresses, and an empty seed is none")
    func oneTimePasswords() throws {
        let spellings: [([(String, String)], String?)] = [
            (
                [("otp", "key=JBSWY3DPEHPK3PXP&amp;step=60&amp;size=8")],
                "totp/?secret=JBSWY3DPEHPK3PXP&period=60&digits=8"
            ),
            ([("otp", "key=jbswy3dp%3d&amp;type=totp")], "totp/A:u?secret=JBSWY3DP&issuer=A"),
            ([("otp", "key=JBSWY3DP&amp;type=hotp&amp;counter=7")], "hotp/?secret=JBSWY3DP&counter=7&digits=6"),
            ([("HmacOtp-Secret", "Hello"), ("HmacOtp-Counter", "3")], "hotp/?secret=JBSWY3DP&counter=3&digits=6"),
            ([("TOTP Seed", ""), ("TOTP Settings", "60;8"), ("Password", "p")], nil),
            ([("otp", ""), ("Password", "p")], nil),
        ]
        for (strings, expected) in spellings {
            let listing = try read(KDBXForge.entry(1, [("Title", "A"), ("UserName", "u")] + strings)).listing
            let codes = listing.filter { $0.contains("desc=one-time password") }
            #expect(codes.count == (expected == nil ? 0 : 1), "\(listing)")
            if let expected { #expect(codes.allSatisfy { $0.contains("otpauth://" + expected) }, "\(listing)") }
            #expect(!listing.contains { $0.contains("HmacOtp") })
        }
        let unknown = try read(KDBXForge.entry(1, [("Title", "A"), ("otp", "key=JBSWY3DP&amp;new=1")]))
        #expect(try unknown.listing[0].hasSuffix(": key=JBSWY3DP&new=1"))
    }

    @Test("A wrong password without a key file suggests a key file; with one, that may be wrong")
    func keyFile() throws {
        let key = ForeignFile(
            name: "key", SecretBytes(copying: [UInt8](repeating: 4, count: 32)), modified: .reference)
        for major in [3, 4] {
            let file = try KDBXForge(major: major).file(KDBXForge.xml(source))
            #expect(throws: ForeignFailure.wrongPasswordOrKeyFile(orDamaged: major == 3)) {
                try KeePassFormat().read(ForeignReading.input(file), GivenSecrets(text: "pw", key: key))
            }
            #expect(throws: ForeignFailure.wrongPasswordOrNoKeyFile(orDamaged: major == 3)) {
                try ForeignReading.read(file, as: KeePassFormat(), password: "px")
            }
        }
    }
}

@Suite("KeePass databases that other programs read", .waitsForPrograms)
struct KeePassExportTests {
    private static let lines = #"""
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000011","attributes":{"svce":"S","acct":"ada","desc":"one-time password","labl":"Seed"},"secret":"jbsw y3dp ehpk 3pxp"}
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000012","attributes":{"svce":"N","desc":"one-time password","labl":"None"},"secret":"no seed: 1"}
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000013","attributes":{"svce":"E","desc":"one-time password","labl":"Empty"},"secret":""}
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000014","attributes":{"svce":"Z","labl":"Zero"},"secret":"a\u0000b"}
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000015","attributes":{"svce":"M","desc":"one-time password","labl":"Missing"}}
        """#
    private static let keepassxc = ExternalProgram.locate("keepassxc-cli")

    @Test("One-time passwords and texts with zero bytes come back exactly as they were")
    func exact() throws {
        let (file, _) = try ExportSample.export(Self.lines, to: KDBXWriter(date: .reference, memoryInKiB: 64))
        let contents = try ForeignReading.read(file, as: KeePassFormat(), password: "correct horse")
        let listing = try contents.listing
        #expect(
            listing == [
                "genp svce=E desc=one-time password: ", "genp svce=M desc=one-time password: no secret",
                "genp svce=N desc=one-time password: no seed: 1",
                "genp svce=S acct=ada desc=one-time password: jbsw y3dp ehpk 3pxp", "genp svce=Z: a\0b",
            ])
    }

    @Test(
        "KeePassXC shows the code of a bare seed, and a text with a zero byte in full",
        .enabled(if: keepassxc != nil, "KeePassXC is needed"))
    func keepassxcReads() throws {
        let folder = try TemporaryFolder()
        let (file, _) = try ExportSample.export(Self.lines, to: KDBXWriter(date: .reference, memoryInKiB: 64))
        try folder.write("out.kdbx", file)
        func run(_ arguments: [String]) throws -> [UInt8] {
            let outcome = try ExternalProgram.run(
                try #require(Self.keepassxc), arguments, input: Array("correct horse\n".utf8))
            #expect(outcome.status == 0, "\(outcome.errorText)")
            return outcome.output
        }
        let code = String(decoding: try run(["show", "-q", "-t", folder.path("out.kdbx"), "Seed"]), as: UTF8.self)
        #expect(code.wholeMatch(of: /[0-9]{6}\n/) != nil, "\(code)")
        let path = folder.path("out.kdbx")
        #expect(try run(["attachment-export", "-q", "--stdout", path, "Zero", "secret.bin"]) == Array("a\0b".utf8))
        let plain = try run(["show", "-q", "-s", "-a", "one-time password", path, "None"])
        #expect(String(decoding: plain, as: UTF8.self) == "no seed: 1\n")
    }
}
