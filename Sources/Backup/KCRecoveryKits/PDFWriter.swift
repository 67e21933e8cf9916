internal import KCByteStreams

/// A PDF of text in Courier and of black rectangles, in memory that is wiped (PDF 1.4; ISO 32000-1 has all of it).
///
/// Lengths are tenths of a point, 1/720 inch, from the lower left corner of a page of A4.
struct PDFWriter: ~Copyable {
    /// The size of a page.
    static let page = (width: 5_950, height: 8_420)
    /// The width of each character of a font of size 1,000.
    static let advance = 600

    /// The two fonts, which each program that shows PDF has.
    enum Font: String, CaseIterable {
        case regular = "Courier"
        case bold = "Courier-Bold"
    }

    private var file = SecretBytes(capacity: 65_536)
    // Where each object begins; that of number 1 is the first.
    private var offsets: [Int] = []
    private var pages: [Int] = []
    private var content = SecretBytes(capacity: 32_768)

    private static let catalogue = 1
    private static let tree = 2
    private static let firstFont = 3

    /// Begins with the first page.
    init() {
        file.append(utf8: "%PDF-1.4\n")
        begin(Self.catalogue)
        file.append(utf8: "<</Type/Catalog/Pages \(Self.tree) 0 R>>\nendobj\n")
        // The offset of the tree is known at the end.
        offsets.append(0)
        for (index, font) in Font.allCases.enumerated() {
            begin(Self.firstFont + index)
            file.append(
                utf8: "<</Type/Font/Subtype/Type1/BaseFont/\(font.rawValue)/Encoding/WinAnsiEncoding>>\nendobj\n")
        }
        beginContent()
    }

    /// Ends the page and begins the next one.
    mutating func beginPage() {
        endPage()
        beginContent()
    }

    /// Writes a line of text in WinAnsiEncoding, whose first character stands at (`x`, `y`).
    mutating func write(_ text: borrowing Span<UInt8>, x: Int, y: Int, _ font: Font, size: Int) {
        content.append(utf8: "BT/\(font) \(size) Tf \(x) \(y) Td(")
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\\"): content.append(UInt8(ascii: "\\"))
            default: break
            }
            content.append(text[index])
        }
        content.append(utf8: ")Tj ET\n")
    }

    /// Fills a rectangle, whose lower left corner is (`x`, `y`).
    mutating func fill(x: Int, y: Int, width: Int, height: Int) {
        for number in [x, y, width, height] {
            content.append(decimal: number)
            content.append(UInt8(ascii: " "))
        }
        content.append(utf8: "re f\n")
    }

    /// Returns the file.
    consuming func finish() -> SecretBytes {
        endPage()
        offsets[Self.tree - 1] = file.count
        let kids = pages.map { "\($0) 0 R" }.joined(separator: " ")
        let (width, height) = (Self.page.width / 10, Self.page.height / 10)
        let fonts = Font.allCases.enumerated().map { "/\($1) \(Self.firstFont + $0) 0 R" }.joined()
        file.append(
            utf8: "\(Self.tree) 0 obj\n<</Type/Pages/Count \(pages.count)/Kids[\(kids)]/MediaBox[0 0 \(width) "
                + "\(height)]/Resources<</Font<<\(fonts)>>>>>>\nendobj\n")
        let table = file.count
        file.append(utf8: "xref\n0 \(offsets.count + 1)\n0000000000 65535 f \n")
        for offset in offsets {
            let digits = String(offset)
            file.append(utf8: String(repeating: "0", count: 10 - digits.utf8.count) + digits + " 00000 n \n")
        }
        file.append(
            utf8: "trailer\n<</Size \(offsets.count + 1)/Root \(Self.catalogue) 0 R>>\nstartxref\n\(table)\n%%EOF\n")
        return file.copy()
    }

    private mutating func begin(_ number: Int) {
        precondition(offsets.count == number - 1, "objects are numbered in order")
        offsets.append(file.count)
        file.append(utf8: "\(number) 0 obj\n")
    }

    private mutating func beginContent() {
        content.removeAll()
        content.append(utf8: "0.1 0 0 0.1 0 0 cm\n")
    }

    private mutating func endPage() {
        let stream = offsets.count + 1
        begin(stream)
        file.append(utf8: "<</Length \(content.count)>>\nstream\n")
        content.withBytes { file.append($0) }
        file.append(utf8: "endstream\nendobj\n")
        begin(stream + 1)
        file.append(utf8: "<</Type/Page/Parent \(Self.tree) 0 R/Contents \(stream) 0 R>>\nendobj\n")
        pages.append(stream + 1)
    }
}

extension PDFWriter {
    /// A text in WinAnsiEncoding, which is Windows-1252; characters that it lacks are written as on a terminal, `\u{…}`.
    static func encoded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x20...0x7e, 0xa0...0xff: bytes.append(UInt8(scalar.value))
            default:
                if let index = upper.firstIndex(of: scalar) {
                    bytes.append(0x80 + UInt8(index))
                } else {
                    bytes += Array("\\u{\(String(scalar.value, radix: 16))}".utf8)
                }
            }
        }
        return bytes
    }

    // From 0x80 on; a replacement character where there is none.
    private static let upper = Array(
        "€\u{fffd}‚ƒ„…†‡ˆ‰Š‹Œ\u{fffd}Ž\u{fffd}\u{fffd}‘’“”•–—˜™š›œ\u{fffd}žŸ".unicodeScalars)
}
