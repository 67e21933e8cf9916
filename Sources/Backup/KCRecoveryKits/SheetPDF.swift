internal import KCByteStreams
internal import KCQRCodes

/// A sheet as a PDF, for `lp` and for viewers; lengths are tenths of a point.
struct SheetPDF: ~Copyable {
    private static let left = 620
    private static let top = 8_040
    private static let bottom = 330
    private static let size = 95
    private static let leading = 110
    private static let gap = 60
    private static let secretSize = 130
    private static let secretLeading = 210
    // 45 mm, as large as a phone reads easily.
    private static let codeWidth = 1_276

    private var pdf = PDFWriter()
    /// Where the next line stands.
    private var y = top

    static func file(_ sheet: KitSheet, hasCode: Bool) throws(QRCodeFailure) -> SecretBytes {
        var page = SheetPDF()
        for block in sheet.blocks { try page.write(block, of: sheet, hasCode: hasCode) }
        return page.finish()
    }

    private consuming func finish() -> SecretBytes { pdf.finish() }

    private mutating func write(_ block: KitSheet.Block, of sheet: KitSheet, hasCode: Bool) throws(QRCodeFailure) {
        switch block {
        case .title(let line): write([line], .bold, size: 110)
        case .heading(let line):
            y -= Self.gap / 2
            // A heading is not left alone at the end of a page.
            require(4 * Self.leading)
            write([line], .bold)
            return
        case .text(let lines): write(lines, .regular)
        case .lines(let lines): write(lines.map { "  " + $0 }, .regular)
        case .secret: try writeSecret(of: sheet, hasCode: hasCode)
        }
        y -= Self.gap
    }

    private mutating func write(_ lines: [String], _ font: PDFWriter.Font, size: Int = size) {
        for line in lines {
            require(Self.leading)
            y -= Self.leading
            pdf.write(PDFWriter.encoded(line).span, x: Self.left, y: y, font, size: size)
        }
    }

    /// The lines at the left, larger than the others, and the code beside them.
    private mutating func writeSecret(of sheet: KitSheet, hasCode: Bool) throws(QRCodeFailure) {
        let lines = sheet.secretLines
        let ends = lines.withBytes { bytes in bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") } }
        let height = max(ends.count * Self.secretLeading, hasCode ? Self.codeWidth : 0) + Self.gap
        require(height)
        var start = 0
        for (index, end) in ends.enumerated() {
            let baseline = y - Self.secretLeading * (index + 1)
            lines.withBytes { bytes in
                pdf.write(
                    bytes.extracting(start..<end), x: Self.left, y: baseline, .bold, size: Self.secretSize)
            }
            start = end + 1
        }
        if hasCode {
            let code = try QRCode(sheet.codeText)
            let module = Self.codeWidth / code.width
            let right = PDFWriter.page.width - Self.left - module * code.width
            let top = y - Self.gap
            code.forEachRun { row, columns in
                pdf.fill(
                    x: right + columns.lowerBound * module, y: top - (row + 1) * module, width: columns.count * module,
                    height: module)
            }
        }
        y -= height
    }

    /// Begins a new page if less than `height` is left.
    private mutating func require(_ height: Int) {
        if y - height >= Self.bottom { return }
        pdf.beginPage()
        y = Self.top
    }
}
