import KCByteStreams
import KCItemSources
import KCQRCodes
import KCTerminal
import KCTestSupport
import Testing

@testable import KCStoreTasks
@testable import kcbackup

@Suite(
    "Reading QR codes with zbarimg", .waitsForPrograms,
    .enabled(if: ExternalProgram.locate("zbarimg") != nil, "zbarimg is needed"))
struct QRScannerTests {
    private static let environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
    private static let address = "otpauth://totp/Forum:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Forum"

    /// Draws a code as a picture.
    private func draw(_ text: String, _ name: String, in folder: TemporaryFolder) throws {
        var svg = SecretBytes(capacity: 10_000)
        try QRCode(SecretBytes(copying: Array(text.utf8))).appendSVG(to: &svg)
        try folder.write("code.svg", svg.bytesForTest())
        let drawn = try ExternalProgram.run(
            "rsvg-convert", ["--width", "400", "--output", folder.path(name), folder.path("code.svg")])
        #expect(drawn.status == 0, "\(drawn.errorText)")
    }

    private func text(_ path: String, limit: Int = 1_000, environment: [String: String] = environment) throws -> String?
    {
        try QRScanner.text(in: path, environment: environment, limit: limit).utf8Text
    }

    @Test("The text of a code comes back, whatever the name of the picture looks like")
    func names() throws {
        let folder = try TemporaryFolder()
        for name in ["it's; a picture", "msl:a[0].png", "-x", "a%d.png", "@a", "$(touch b).png"] {
            try draw(Self.address, "plain.png", in: folder)
            let bytes = try ForeignFile(reading: OpenFile.reading(folder.path("plain.png"))).bytes.bytesForTest()
            try folder.write(name, bytes)
            #expect(try text(folder.path(name)) == Self.address + "\n", "\(name)")
        }
    }

    @Test("A picture without a code, a text that is too long, and a missing program are told apart")
    func failures() throws {
        let folder = try TemporaryFolder()
        try draw(Self.address, "code.png", in: folder)
        try folder.write("torn.png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        let whole = try ForeignFile(reading: OpenFile.reading(folder.path("code.png"))).bytes.bytesForTest()
        try folder.write("cut.png", Array(whole.prefix(whole.count / 2)))
        try folder.write("blank.svg", Array("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>".utf8))
        let blank = try ExternalProgram.run(
            "rsvg-convert", ["--width", "100", "--output", folder.path("blank.png"), folder.path("blank.svg")])
        #expect(blank.status == 0, "\(blank.errorText)")
        #expect(throws: ForeignFailure.damaged("there is no QR code in it that can be read")) {
            try text(folder.path("blank.png"))
        }
        #expect(throws: ForeignFailure.limit("bytes of text in QR codes", found: 21, allowed: 20)) {
            try text(folder.path("code.png"), limit: 20)
        }
        for (name, variables) in [("torn.png", [:]), ("cut.png", [:]), ("code.png", ["MAGICK_WIDTH_LIMIT": "10"])] {
            let environment = Self.environment.merging(variables) { $1 }
            #expect("\(name)") { try text(folder.path(name), environment: environment) } throws: { error in
                if case .needsProgram("zbarimg", _) = error as? ForeignFailure { true } else { false }
            }
        }
        #expect("missing") { try text(folder.path("code.png"), environment: ["PATH": "/nowhere"]) } throws: { error in
            if case .needsProgram("zbarimg", let problem) = error as? ForeignFailure {
                problem.hasPrefix("it is not installed")
            } else {
                false
            }
        }
    }

    @Test("A picture is imported like a list of its codes, and another code is counted")
    func imported() throws {
        let home = try TestHome()
        let folder = try TemporaryFolder()
        try draw(Self.address, "code.png", in: folder)
        try draw("https://example.com", "other.png", in: folder)
        for name in ["code.png", "other.png"] {
            try home.write(name, ForeignFile(reading: OpenFile.reading(folder.path(name))).bytes.bytesForTest())
        }
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("import code.png").status == .ok)
        #expect(home.run("item find --service Forum --reveal").text == Self.address)
        #expect(home.run("import other.png").status == .damaged)
        #expect(home.run("item find --keychain file:code.png --service Forum --reveal").text == Self.address)
    }
}
