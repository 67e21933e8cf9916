import Foundation
import KCAgeEncryption
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCRecoveryKits

@Suite("The sheet of a recovery kit")
struct KitSheetTests {
    private let identity: NativeIdentity
    private let device: DeviceKey

    // Without the options, zbarimg now and then takes a part of a QR code for a code of another kind.
    private static let scanned =
        "pdftoppm -r 150 -png kit.pdf page; zbarimg --quiet --raw -Sdisable -Sqrcode.enable page*.png"

    init() throws {
        identity = try NativeIdentity.generate(.x25519)
        device = try DeviceKey(secret: SecretBytes(copying: [UInt8](repeating: 1, count: 32)))
    }

    private func sheet(comment: String = "safe", places: [String] = ["/srv/backups", "nas:backups"]) -> KitSheet {
        KitSheet(
            RecoveryKit(identity.recipient, made: .reference, comment: comment), with: .key(identity), by: device,
            on: "2026-11-24", version: "0.1.0", places: places)
    }

    private func file(_ form: SheetForm, _ sheet: KitSheet, hasCode: Bool = false) throws -> [UInt8] {
        try form.file([sheet], hasCode: hasCode).bytesForTest()
    }

    /// The characters of the key as they are printed, without its checks.
    private var key: [String] {
        String(decoding: KitText.lines(of: identity).bytesForTest(), as: UTF8.self).split(separator: "\n").map { line in
            line.split(separator: " ").dropFirst().dropLast().joined(separator: " ")
        }
    }

    /// Runs a judge over a file with these bytes.
    private func judged(_ bytes: [UInt8], as name: String, _ script: String) throws -> String {
        let folder = try TemporaryFolder()
        try folder.write(name, bytes)
        let outcome = try ExternalProgram.run("/bin/sh", ["-e", "-c", script], in: folder.path(""))
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return outcome.text
    }

    @Test("In a PDF, no character that its font lacks is cut off with the end of a line")
    func wideCharacters() throws {
        let place = String(repeating: "倉", count: 30)
        let sheet = sheet(comment: String(repeating: "金", count: 20), places: ["/srv/" + place + " end"])
        for block in sheet.blocks {
            guard case .lines(let lines) = block else { continue }
            for line in lines { #expect(PDFWriter.encoded(line).count <= KitSheet.width, "\(line)") }
        }
        let text = String(decoding: try file(.text, sheet), as: UTF8.self)
        #expect(text.count { $0 == "倉" } == 30 && text.count { $0 == "金" } == 20 && text.contains(" end"))
    }

    @Test("As text, it is no wider than a page of a typewriter and no longer, and has all that is needed on it")
    func text() throws {
        let sheet = sheet()
        let text = String(decoding: try file(.text, sheet), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.utf8.count <= 78 && !$0.hasSuffix(" ") }, "\(lines.filter { $0.count > 78 })")
        #expect(lines.count <= 68, "\(lines.count) lines")
        #expect(lines.contains { $0.contains(sheet.kit.fingerprint) } && lines.contains { $0.contains("\(device.id)") })
        for line in key { #expect(text.contains(line)) }
        #expect(text.contains("/srv/backups") && text.contains("nas:backups"))
        // The line is folded, so only its words stay as they are.
        let words = Set(lines.flatMap { $0.split(separator: " ") })
        #expect(words.isSuperset(of: device.allowedSignersLine.split(separator: " ")))
    }

    @Test("Long and many places of backups are broken and counted, and nothing in them is markup")
    func places() throws {
        let long = "/srv/" + String(repeating: "x", count: 120)
        let sheet = sheet(comment: "<b> & </pre>", places: [long, "/a <i>", "/b", "/c", "/d", "/e\n/f"])
        let text = String(decoding: try file(.text, sheet), as: UTF8.self)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 78 })
        #expect(text.contains("and 2 more"))
        let page = String(decoding: try file(.html, sheet), as: UTF8.self)
        #expect(page.contains("&lt;b&gt; &amp; &lt;/pre&gt;") && !page.contains("<i>") && !page.contains("<b>"))
    }

    @Test("A page loads nothing and runs nothing, and a scanner reads the key from its picture", .waitsForPrograms)
    func page() throws {
        let bytes = try file(.html, sheet(), hasCode: true)
        let page = String(decoding: bytes, as: UTF8.self)
        #expect(page.contains("default-src 'none'"))
        for word in ["<script", "http:", "https:", "url(", "<img", "<link", "@import"] {
            let rest = page.replacing("xmlns=\"http://www.w3.org/2000/svg\"", with: "")
            #expect(!rest.contains(word), "\(word)")
        }
        for line in key { #expect(page.contains(line)) }
        let read = try judged(
            bytes, as: "kit.html",
            """
            grep -o '<svg.*</svg>' kit.html > code.svg
            rsvg-convert --width 400 --output code.png code.svg
            zbarimg --quiet --raw -Sdisable -Sqrcode.enable code.png
            """)
        #expect(read.filter { $0 != "\n" } == "AGE-SECRET-KEY-1" + key.joined().filter { $0 != " " })
    }

    @Test("Text and a page are known as sheets, and an identity file is not")
    func knownAsSheets() throws {
        for form in [SheetForm.text, .html] {
            let isKnown = SheetForm.isSheet(try form.file([sheet()], hasCode: false))
            #expect(isKnown, "\(form)")
        }
        let scheme = try #require(ShareScheme("2of3"))
        let share = try #require(try identity.shares(scheme).first)
        let part = KitSheet(
            RecoveryKit(identity.recipient, made: .reference, comment: "", shares: scheme), with: .share(share, scheme),
            by: device, on: "2026-11-24", version: "0.1.0", places: [])
        let isShareKnown = SheetForm.isSheet(try SheetForm.text.file([part], hasCode: false))
        let isKeySheet = SheetForm.isSheet(IdentityFile.text(of: identity, comments: ["RECOVERY KIT"]))
        #expect(isShareKnown && !isKeySheet)
    }

    @Test("A PDF is one page; other programs read the groups of the key, and a scanner its code", .waitsForPrograms)
    func pdf() throws {
        let bytes = try file(.pdf, sheet(comment: "Safe, „blau“ (links), 文"), hasCode: true)
        let text = try judged(bytes, as: "kit.pdf", "pdftotext -layout kit.pdf -")
        for line in key { #expect(text.contains(line), "\(text)") }
        #expect(text.contains("Safe, „blau“ (links), \\u{6587}"))
        #expect(text.contains("\(device.id)") && text.contains("ssh-keygen -Y verify"))
        #expect(try judged(bytes, as: "kit.pdf", "pdfinfo kit.pdf 2>&1").contains(/Pages: +1\n/))
        // No complaint of the parser.
        #expect(try judged(bytes, as: "kit.pdf", "pdftotext kit.pdf /dev/null 2>&1") == "")
        let read = try judged(bytes, as: "kit.pdf", Self.scanned)
        #expect(read == "AGE-SECRET-KEY-1" + key.joined().filter { $0 != " " } + "\n")
    }

    @Test("A sheet that is longer than a page of a PDF goes on on the next one", .waitsForPrograms)
    func severalPages() throws {
        let long = (0..<4).map { "/\($0)" + String(repeating: "x", count: 700) }
        let bytes = try file(.pdf, sheet(places: long))
        #expect(try judged(bytes, as: "kit.pdf", "pdfinfo kit.pdf 2>&1").contains(/Pages: +2\n/))
        let text = try judged(bytes, as: "kit.pdf", "pdftotext -layout kit.pdf -")
        #expect(text.contains("last checked"))
        for line in key { #expect(text.contains(line)) }
    }

    @Test("Each share has a sheet of its own in each form, with its words and without the others'", .waitsForPrograms)
    func shares() throws {
        let scheme = try #require(ShareScheme("2of3"))
        let kit = RecoveryKit(identity.recipient, made: .reference, comment: "safe", shares: scheme)
        let shares = try identity.shares(scheme)
        let sheets = shares.map { share in
            KitSheet(
                kit, with: .share(share, scheme), by: device, on: "2026-11-24", version: "0.1.0",
                places: ["nas:backups"])
        }
        let words = shares.map { String(decoding: ShareText.words(of: $0).bytesForTest(), as: UTF8.self) }
        let text = String(decoding: try SheetForm.text.file(sheets, hasCode: false).bytesForTest(), as: UTF8.self)
        let pages = text.split(separator: "\u{c}")
        #expect(pages.count == 3)
        for (page, words) in zip(pages, words) {
            let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.allSatisfy { $0.utf8.count <= 78 && !$0.hasSuffix(" ") }, "\(lines)")
            #expect(lines.count <= 84, "\(lines.count) lines")
            let numbered = page.matches(of: /(\d+) ([a-z]{4,8})\b/).compactMap { match in
                Int(match.1).map { ($0, match.2.uppercased()) }
            }
            for (index, word) in words.split(separator: " ").enumerated() {
                #expect(numbered.contains { $0.0 == index + 1 && $0.1 == word }, "\(index + 1) \(word)")
            }
        }
        let pdf = try SheetForm.pdf.file(sheets, hasCode: true).bytesForTest()
        #expect(try judged(pdf, as: "kit.pdf", "pdfinfo kit.pdf 2>&1").contains(/Pages: +3\n/))
        let read = try judged(pdf, as: "kit.pdf", Self.scanned)
        #expect(read == words.map { $0 + "\n" }.joined())
        let page = String(decoding: try SheetForm.html.file(sheets, hasCode: true).bytesForTest(), as: UTF8.self)
        #expect(page.components(separatedBy: "<article>").count == 4)
    }

    @Test("docs/recovery.md has the script that is on the sheets of shares")
    func script() throws {
        #expect(try Project.text("docs/recovery.md").contains(KitSheet.script(2, .x25519).joined(separator: "\n")))
    }

    @Test(
        "The name of the file says what it is",
        arguments: [
            ("kit.html", SheetForm.html), ("Kit.HTM", .html), ("a.pdf", .pdf), ("a.PDF", .pdf), ("a.txt", .text),
            ("pdf", .text), ("a.pdf.txt", .text),
        ])
    func form(name: String, form: SheetForm) { #expect(SheetForm(ofFile: name) == form) }

    @Test(
        "A sheet is no document of a word processor, and no picture", arguments: ["kit.docx", "Kit.ODT", "a/kit.png"])
    func otherForm(name: String) { #expect(SheetForm(ofFile: name) == nil) }
}
