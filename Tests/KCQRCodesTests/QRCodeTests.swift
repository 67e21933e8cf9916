import KCByteStreams
import KCQRCodes
import KCTestSupport
import Testing

@Suite("QR codes")
struct QRCodeTests {
    private static let text = "AGE-SECRET-KEY-1QQQSYQCYQ5RQWZQFPG9SCRGWPUGPZYSNZS23V9CCRYDPK8QARC0SWRYDWG"

    /// Reads the code in a picture.
    private func scanned(_ picture: String) throws -> String {
        let outcome = try ExternalProgram.run("zbarimg", ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", picture])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return outcome.text
    }

    @Test("A key gives 41 modules on each side, and a scanner reads its SVG", .waitsForPrograms)
    func picture() throws {
        let code = try QRCode(SecretBytes(copying: Array(Self.text.utf8)))
        #expect(code.width == 41)
        var svg = SecretBytes(capacity: 10_000)
        code.appendSVG(to: &svg)
        let folder = try TemporaryFolder()
        try folder.write("code.svg", svg.bytesForTest())
        let drawn = try ExternalProgram.run(
            "rsvg-convert", ["--width", "400", "--output", folder.path("code.png"), folder.path("code.svg")])
        #expect(drawn.status == 0, "\(drawn.errorText)")
        #expect(try scanned(folder.path("code.png")) == Self.text + "\n")
    }

    @Test("A scanner reads the blocks, drawn as a terminal draws them", .waitsForPrograms)
    func blocks() throws {
        var text = SecretBytes(capacity: 10_000)
        try QRCode(SecretBytes(copying: Array(Self.text.utf8))).appendBlocks(to: &text, ground: ("<", ">"))
        let lines = String(decoding: text.bytesForTest(), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 25 && lines.allSatisfy { $0.hasPrefix("<") && $0.hasSuffix(">") && $0.count == 51 })
        // Each module as 4 x 4 pixels of a bitmap, 1 for a dark one.
        let side = 49 * 4
        var bitmap = "P1\n\(side) \(side + 4)\n"
        for line in lines {
            let halves = [
                line.dropFirst().dropLast().map { "▀█".contains($0) },
                line.dropFirst().dropLast().map { "▄█".contains($0) },
            ]
            for half in halves {
                let row = half.map { String(repeating: $0 ? "1 " : "0 ", count: 4) }.joined() + "\n"
                bitmap += String(repeating: row, count: 4)
            }
        }
        let folder = try TemporaryFolder()
        try folder.write("code.pbm", Array(bitmap.utf8))
        #expect(try scanned(folder.path("code.pbm")) == Self.text + "\n")
    }

    @Test("A code of which a fifth is covered is still read", .waitsForPrograms)
    func covered() throws {
        let code = try QRCode(SecretBytes(copying: Array(Self.text.utf8)))
        var svg = SecretBytes(capacity: 10_000)
        code.appendSVG(to: &svg)
        // A blot away from the corners, by which the code is found.
        let whole = String(decoding: svg.bytesForTest(), as: UTF8.self)
        let blot = whole.replacing("</svg>", with: "<rect x='20' y='22' width='16' height='12' fill='#777'/></svg>")
        let folder = try TemporaryFolder()
        try folder.write("code.svg", Array(blot.utf8))
        _ = try ExternalProgram.run(
            "rsvg-convert", ["--width", "400", "--output", folder.path("code.png"), folder.path("code.svg")])
        #expect(try scanned(folder.path("code.png")) == Self.text + "\n")
    }

    @Test("A text for which no code is large enough is refused")
    func tooLong() {
        #expect(throws: QRCodeFailure.self) {
            _ = try QRCode(SecretBytes(copying: [UInt8](repeating: UInt8(ascii: "a"), count: 2_000)))
        }
    }
}
