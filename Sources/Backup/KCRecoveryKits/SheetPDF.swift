internal import KCByteStreams
internal import KCQRCodes

/// A sheet as a PDF, for `lp` and for viewers; lengths are tenths of a point.
struct SheetPDF: ~Copyable {
    /// How large a text is, and how much there is between lines and between blocks.
    private struct Scale {
        let size: Int
        let leading: Int
        let gap: Int

        // As large as leaves a sheet one page.
        static let all = [
            Scale(size: 95, leading: 110, gap: 60), Scale(size: 88, leading: 100, gap: 50),
            Scale(size: 80, leading: 91, gap: 44),
        ]
    }

    private static let left = 620
    private static let top = 8_060
    private static let bottom = 330
    // 45 mm, as large as a phone reads easily.
    private static let codeWidth = 1_276

    private var pdf = PDFWriter()
    private var scale = Scale.all[0]
    /// Where the next line stands.
    private var y = top

    static func file(_ sheets: [KitSheet], hasCode: Bool) throws(QRCodeFailure) -> SecretBytes {
        var file = SheetPDF()
        for (index, sheet) in sheets.enumerated() {
            if index > 0 { file.beginPage() }
            file.scale =
                Scale.all.first { height(of: sheet, $0, hasCode: hasCode) <= top - bottom }
                ?? Scale.all[Scale.all.count - 1]
            for block in sheet.blocks { try file.write(block, of: sheet, hasCode: hasCode) }
        }
        return file.finish()
    }

    private consuming func finish() -> SecretBytes { pdf.finish() }

    /// The height of a sheet, up to its last line.
    private static func height(of sheet: KitSheet, _ scale: Scale, hasCode: Bool) -> Int {
        sheet.blocks.reduce(0) { height, block in
            switch block {
            case .title: height + scale.leading + scale.gap
            case .heading: height + scale.leading + scale.gap / 2
            case .text(let lines), .lines(let lines): height + lines.count * scale.leading + scale.gap
            case .secret: height + heightOfSecret(on: sheet, hasCode: hasCode) + scale.gap
            }
        } - scale.gap
    }

    private static func heightOfSecret(on sheet: KitSheet, hasCode: Bool) -> Int {
        let lines = sheet.secretLines.withBytes { bytes in bytes.indices.count { bytes[$0] == UInt8(ascii: "\n") } }
        return max(lines * sheet.secretScale.leading, hasCode ? codeWidth : 0) + 60
    }

    private mutating func write(_ block: KitSheet.Block, of sheet: KitSheet, hasCode: Bool) throws(QRCodeFailure) {
        switch block {
        case .title(let line): write([line], .bold, size: 110)
        case .heading(let line):
            y -= scale.gap / 2
            // A heading is not left alone at the end of a page.
            require(4 * scale.leading)
            write([line], .bold, size: scale.size)
            return
        case .text(let lines): write(lines, .regular, size: scale.size)
        case .lines(let lines): write(lines.map { "  " + $0 }, .regular, size: scale.size)
        case .secret: try writeSecret(of: sheet, hasCode: hasCode)
        }
        y -= scale.gap
    }

    private mutating func write(_ lines: [String], _ font: PDFWriter.Font, size: Int) {
        for line in lines {
            require(scale.leading)
            y -= scale.leading
            pdf.write(PDFWriter.encoded(line).span, x: Self.left, y: y, font, size: size)
        }
    }

    /// The lines at the left, larger than the others, and the code beside them.
    private mutating func writeSecret(of sheet: KitSheet, hasCode: Bool) throws(QRCodeFailure) {
        let height = Self.heightOfSecret(on: sheet, hasCode: hasCode)
        require(height)
        let (size, leading) = sheet.secretScale
        let lines = sheet.secretLines
        let ends = lines.withBytes { bytes in bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") } }
        var start = 0
        for (index, end) in ends.enumerated() {
            lines.withBytes { bytes in
                pdf.write(
                    bytes.extracting(start..<end), x: Self.left, y: y - leading * (index + 1), .bold, size: size)
            }
            start = end + 1
        }
        if hasCode {
            let code = try QRCode(sheet.codeText)
            let module = Self.codeWidth / code.width
            let right = PDFWriter.page.width - Self.left - module * code.width
            let top = y - 60
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
        if y - height < Self.bottom { beginPage() }
    }

    private mutating func beginPage() {
        pdf.beginPage()
        y = Self.top
    }
}

extension KitSheet {
    /// How large the lines of the secret are: those of a key, which is typed letter by letter, are larger.
    fileprivate var secretScale: (size: Int, leading: Int) {
        switch content {
        case .key: (130, 210)
        case .share: (95, 130)
        }
    }
}
