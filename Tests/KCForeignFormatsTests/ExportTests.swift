import Foundation
import KCByteStreams
import KCCryptography
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

/// Items of all kinds, as import lines, for tests of writers and of the readers of their files.
enum ExportSample {
    static let lines = #"""
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000001","attributes":{"svce":"Home Wi-Fi","acct":"ada","labl":"Home <Wi-Fi> & é","cdat":"2026-03-01T09:30:00.123456Z","mdat":"2026-03-02T09:30:00.000000Z","agrp":"group.example","pdmn":"ck","gena":{"base64":"AP8="}},"extra":{"x":"y"},"secret":"a <b> & \"q\" é\r\nzwei\t"}
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000002","attributes":{"svce":"Note","desc":"secure note","labl":"My note"},"secret":"line1\nline2"}
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000003","attributes":{"svce":"Code","acct":"ada","desc":"one-time password","labl":"Code"},"secret":"otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP&issuer=Example&digits=8&period=60&algorithm=SHA256"}
        {"class":"inet","uuid":"00000000-0000-4000-8000-000000000004","attributes":{"srvr":"mail.example.org","port":993,"acct":"ada","ptcl":1768779891},"secret":{"base64":"AAEC/w=="}}
        {"class":"inet","uuid":"00000000-0000-4000-8000-000000000005","attributes":{"srvr":"example.com","acct":"ada\u0001x","ptcl":1752461427,"path":"/login","sync":1},"extra":{"url.1":"https://example.com/login?x=1","url.2":"https://two.example"},"secret":"=formula,\"x\" \u0000."}
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000006","attributes":{"svce":"Empty","acct":"ada"},"secret":""}
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000007","attributes":{"svce":"None","acct":{"base64":"/wA="}}}
        {"class":"keys","uuid":"00000000-0000-4000-8000-000000000008","attributes":{"kcls":1,"labl":"Key","extr":1,"klbl":{"base64":"AQI="}},"secret":{"base64":"MIGHAgEA"}}
        {"class":"genp","uuid":"00000000-0000-4000-8000-000000000009","attributes":{"svce":"AirPort","acct":"Net","desc":"AirPort network password"},"secret":"wifi pass"}
        """#

    /// Items that must never be in any exported file.
    static let bound = #"""
        {"class":"genp","attributes":{"svce":"B1","pdmn":"aku"},"secret":"bound-aku"}
        {"class":"genp","attributes":{"svce":"B2","pdmn":"cku"},"secret":"bound-cku"}
        {"class":"inet","attributes":{"srvr":"B3","pdmn":"dku"},"secret":"bound-dku"}
        {"class":"genp","attributes":{"svce":"B4","pdmn":"akpu"},"secret":"bound-akpu"}
        {"class":"keys","attributes":{"labl":"B5","kcls":1,"extr":0},"secret":"bound-extr"}
        {"class":"keys","attributes":{"labl":"B6","kcls":1,"tkid":"com.example.token"},"secret":"bound-tkid"}
        {"class":"genp","attributes":{"svce":"B7","nega":1}}
        """#

    static func items(_ lines: String) throws -> CollectedItems {
        var collection = ItemCollection(date: .reference)
        for line in lines.split(separator: "\n") {
            let parsed = try ImportLine(Array(line.utf8).span)
            try collection.add(parsed.draft, secret: parsed.secret)
        }
        return try collection.finish()
    }

    /// Every writer, with cheap key derivation.
    static func writers() throws -> [(ExportFormat, any ExportWriter)] {
        [
            (.bitwarden, BitwardenWriter(rounds: 5_000)), (.csv, AppleCSVWriter(spoolingIn: "/nowhere")),
            (.cxf, CXFWriter(date: .reference)),
            (.kdbx, try KDBXWriter(date: .reference, memoryInKiB: 64)),
            (.kubernetesJSON, KubernetesWriter(.json)), (.kubernetesYAML, KubernetesWriter(.yaml)),
        ]
    }

    /// Exports items, and returns the file with the result of the export.
    static func export(
        _ lines: String, to writer: any ExportWriter, password: String = "correct horse"
    ) throws -> (file: [UInt8], export: ItemExport) {
        var export = ItemExport(to: writer, filter: nil, spoolingIn: "/nowhere")
        try items(lines).visitItems(&export)
        try export.joinRecords()
        var file: [UInt8] = []
        if let writer = writer as? any ProtectedExportWriter {
            try writer.finish(password: SecretBytes(copying: password.utf8)) { file.append($0) }
        } else {
            try #require(writer as? any PlainExportWriter).finish { file.append($0) }
        }
        return (file, export)
    }
}

extension ExportLists {
    func unheldItems() throws -> [(item: Item, problem: ExportProblem)] {
        var found: [(item: Item, problem: ExportProblem)] = []
        try unheld.forEach { item, number in found.append((item, Self.problem(number))) }
        return found
    }
}

@Suite("Exporting items", .waitsForPrograms)
struct ExportTests {
    @Test("No item bound to this device is in any file, and each is reported with the reason")
    func bound() throws {
        for (format, writer) in try ExportSample.writers() {
            let (file, export) = try ExportSample.export(ExportSample.bound, to: writer)
            #expect(export.exported.total == 0, "\(format)")
            let lists = try export.lists()
            #expect(lists.unheld.isEmpty)
            var reasons: [Departure.Reason: Int] = [:]
            try lists.staying.forEach { _, number in reasons[ExportLists.reason(number), default: 0] += 1 }
            #expect(reasons == [.thisDeviceOnly: 3, .passcodeBound: 1, .notExtractable: 1, .onToken: 1, .negative: 1])
            #expect(!String(decoding: file, as: UTF8.self).contains("bound-"))
        }
    }

    @Test("An item that a format cannot represent is reported, and no part of it is in the file")
    func unheld() throws {
        let expected: [ExportFormat: [String: ExportProblem]] = [
            .bitwarden: ["Key": .noPlace, "None": .nameNotText],
            .csv: [
                "Key": .noPlace, "None": .nameNotText, "mail.example.org": .secretNotText, "example.com": .zeroByte,
                "Empty": .emptySecret,
            ], .cxf: [:], .kdbx: [:], .kubernetesJSON: ["Key": .noPlace, "None": .nameNotText],
            .kubernetesYAML: ["Key": .noPlace, "None": .nameNotText],
        ]
        for (format, writer) in try ExportSample.writers() {
            let (_, export) = try ExportSample.export(ExportSample.lines, to: writer)
            #expect(export.selected == 9)
            let lists = try export.lists()
            #expect(lists.staying.isEmpty)
            let found = try lists.unheldItems().map { (ExportedRecord($0.item).title, $0.problem) }
            #expect(Dictionary(uniqueKeysWithValues: found) == expected[format], "\(format)")
        }
    }

    @Test("What an import would refuse or take for nothing is reported, and the file can be imported")
    func refused() throws {
        let long = String(repeating: "\\\"", count: 600_000)
        let lines = #"""
            {"class":"genp","attributes":{"svce":"Long"},"secret":"\#(long)"}
            {"class":"genp","attributes":{"svce":"Note","desc":"secure note"},"secret":""}
            {"class":"genp","attributes":{"svce":"Code","desc":"one-time password"},"secret":""}
            {"class":"genp","attributes":{"svce":"Short"},"secret":"x"}
            """#
        let expected: [ExportFormat: [String: ExportProblem]] = [
            .csv: ["Long": .tooLong, "Note": .emptySecret, "Code": .emptySecret],
            .bitwarden: ["Note": .emptySecret, "Code": .emptySecret],
        ]
        for (format, writer) in try ExportSample.writers() {
            let (file, export) = try ExportSample.export(lines, to: writer)
            let found = try export.lists().unheldItems().map { (ExportedRecord($0.item).title, $0.problem) }
            #expect(Dictionary(uniqueKeysWithValues: found) == expected[format] ?? [:], "\(format)")
            guard format == .csv else { continue }
            #expect(try ForeignReading.read(String(decoding: file, as: UTF8.self), as: CSVFormat()).items.count == 1)
        }
    }

    @Test(
        "Only an IPv6 address is in brackets",
        arguments: [
            ("::1", "https://[::1]"), ("fe80::1%eth0", "https://[fe80::1%eth0]"), ("nas:5000", "https://nas:5000"),
        ])
    func hosts(server: String, address: String) throws {
        var finder = ListingVisitor()
        let line = #"{"class":"inet","attributes":{"srvr":"\#(server)","ptcl":1752461427},"secret":"x"}"#
        try ExportSample.items(line).visitItems(&finder)
        #expect(finder.items.map { ExportedRecord($0).addresses } == [[address]])
    }

    @Test("CSV has Apple's columns, and cells are quoted where necessary")
    func csv() throws {
        let writer = AppleCSVWriter(spoolingIn: "/nowhere")
        let (file, _) = try ExportSample.export(
            #"""
            {"class":"inet","attributes":{"srvr":"example.com","port":8443,"ptcl":1752461427,"acct":" ada ","path":"login"},"secret":"=1,\"x\"\r\ny"}
            {"class":"genp","attributes":{"svce":"N","desc":"secure note"},"secret":"text"}
            """#, to: writer)
        #expect(
            String(decoding: file, as: UTF8.self)
                == "Title,URL,Username,Password,Notes,OTPAuth\r\nN,,,,text,\r\n"
                + "example.com,https://example.com:8443/login,\" ada \",\"=1,\"\"x\"\"\r\ny\",,\r\n")
        #expect(writer.formulas == 1)
    }

    @Test("Large rows, and what is said of large items, wait in files and not in memory")
    func large() throws {
        let folder = try TemporaryFolder()
        let long = String(repeating: "walnut ", count: 9_000)
        let lines = (0..<75).map { number in
            #"{"class":"genp","attributes":{"svce":"\#(1_000 + number)","labl":"\#(long)","type":7},"secret":"\#(number)"}"#
        }
        let bytes = lines.map { Array($0.utf8) }
        let writer = AppleCSVWriter(spoolingIn: folder.path)
        var export = ItemExport(to: writer, filter: nil, spoolingIn: folder.path)
        var collection = ItemCollection(date: .reference)
        for line in bytes {
            let parsed = try ImportLine(line.span)
            try collection.add(parsed.draft, secret: parsed.secret)
        }
        try collection.finish().visitItems(&export)
        var (size, pieces) = (0, 0)
        try writer.finish { piece in
            size += piece.count
            pieces += 1
            #expect(piece.count < 3 << 19)
        }
        #expect(size > 4_500_000 && pieces > 10)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        let altered = try export.lists().altered
        #expect(altered.count == 75 && !altered.isHeld, "\(altered.count)")
    }

    @Test("Two exports of the same items have no ciphertext in common")
    func randomness() throws {
        for index in [0, 3] {
            let files = try (0..<2).map { _ in
                try ExportSample.export(ExportSample.lines, to: ExportSample.writers()[index].1).file
            }
            let (one, two) = (files[0].suffix(1_024), files[1].suffix(1_024))
            #expect(zip(one, two).count { $0 == $1 } < 512)
            #expect(!String(decoding: files[0], as: UTF8.self).contains("Wi-Fi"))
        }
    }

    /// KeePassXC, where it is installed.
    private static let keepassxc = ExternalProgram.locate("keepassxc-cli")

    @Test("KeePassXC reads every text of a database unchanged", .enabled(if: keepassxc != nil, "KeePassXC is needed"))
    func keepassxcReads() throws {
        let folder = try TemporaryFolder()
        let (file, _) = try ExportSample.export(ExportSample.lines, to: ExportSample.writers()[3].1)
        try folder.write("out.kdbx", file)
        let outcome = try ExternalProgram.run(
            try #require(Self.keepassxc), ["export", "-q", "-f", "xml", folder.path("out.kdbx")],
            input: Array("correct horse\n".utf8))
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let xml = String(decoding: outcome.output, as: UTF8.self)
        for text in [
            "a &lt;b&gt; &amp; \"q\" é", "zwei\t", "line1\nline2", "Home &lt;Wi-Fi&gt; &amp; é", "wifi pass",
            "https://two.example", "secret.bin", "group.example",
        ] {
            #expect(xml.contains(text) || xml.contains(text.replacing("\"", with: "&quot;")), "\(text)")
        }
    }

    /// Opens a protected export of Bitwarden, and prints its contents.
    private static let bitwardenDecoder = #"""
        import base64, hashlib, hmac, json, subprocess, sys

        file = json.load(open(sys.argv[1]))
        assert file["encrypted"] and file["passwordProtected"] and file["kdfType"] == 0
        key = hashlib.pbkdf2_hmac("sha256", sys.argv[2].encode(), file["salt"].encode(), file["kdfIterations"], 32)
        encryption, authentication = (hmac.digest(key, info + b"\x01", "sha256") for info in (b"enc", b"mac"))

        def opened(text):
            kind, parts = text.split(".")
            iv, data, code = (base64.b64decode(part, validate=True) for part in parts.split("|"))
            assert kind == "2" and hmac.compare_digest(hmac.digest(authentication, iv + data, "sha256"), code)
            words = ["openssl", "enc", "-d", "-aes-256-cbc", "-K", encryption.hex(), "-iv", iv.hex()]
            return subprocess.run(words, input=data, stdout=subprocess.PIPE, check=True).stdout

        opened(file["encKeyValidation_DO_NOT_EDIT"])
        vault = json.loads(opened(file["data"]))
        assert not vault["encrypted"]
        for item in vault["items"]:
            login = item.get("login") or {}
            texts = [login.get("username"), login.get("password"), login.get("totp"), item["notes"]]
            print(json.dumps([item["name"], *texts, *(field["value"] for field in item["fields"])]))
        """#

    @Test(
        "A decoder in Python reads what is exported for Bitwarden",
        .enabled(if: ExternalProgram.locate("python3") != nil, "python3 is needed: .ci/install-packages test"))
    func pythonReads() throws {
        let folder = try TemporaryFolder()
        let (file, export) = try ExportSample.export(ExportSample.lines, to: ExportSample.writers()[0].1)
        try folder.write("out.json", file)
        func decode(_ password: String) throws -> ExternalProgram.Outcome {
            try ExternalProgram.run("python3", ["-c", Self.bitwardenDecoder, folder.path("out.json"), password])
        }
        let outcome = try decode("correct horse")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let lines = outcome.text.split(separator: "\n").map(String.init)
        #expect(lines.count == export.exported.total)
        #expect(
            lines == [
                #"["My note", null, null, null, "line1\nline2"]"#,
                #"["AirPort", "Net", "wifi pass", null, null]"#,
                #"["Code", null, null, "otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP"#
                    + #"&issuer=Example&digits=8&period=60&algorithm=SHA256", null]"#,
                #"["Empty", "ada", "", null, null]"#,
                #"["Home <Wi-Fi> & \u00e9", "ada", "a <b> & \"q\" \u00e9\r\nzwei\t", null, null]"#,
                #"["mail.example.org", "ada", null, null, null, "AAEC/w=="]"#,
                #"["example.com", "ada\u0001x", "=formula,\"x\" \u0000.", null, null]"#,
            ])
        #expect(try decode("correct house").status != 0)
    }
}
