internal import KCByteStreams
internal import KCQRCodes

/// A sheet as plain text.
struct SheetText {
    /// The text put before and after each line of a code.
    let ground: (start: String, end: String)

    func file(_ sheets: [KitSheet], hasCode: Bool) throws(QRCodeFailure) -> SecretBytes {
        var text = SecretBytes(capacity: 16_384)
        for (index, sheet) in sheets.enumerated() {
            // A printer begins a page with it.
            if index > 0 { text.append(utf8: "\u{c}") }
            try append(sheet, hasCode, to: &text)
        }
        return text
    }

    private func append(_ sheet: KitSheet, _ hasCode: Bool, to text: inout SecretBytes) throws(QRCodeFailure) {
        for (index, block) in sheet.blocks.enumerated() {
            if index > 0 { text.append(utf8: "\n") }
            switch block {
            case .title(let line), .heading(let line): text.append(utf8: line + "\n")
            case .text(let lines): for line in lines { text.append(utf8: line + "\n") }
            case .lines(let lines): for line in lines { text.append(utf8: "  \(line)\n") }
            case .secret:
                sheet.secretLines.withBytes { text.append($0) }
                if hasCode {
                    text.append(utf8: "\n")
                    try QRCode(sheet.codeText).appendBlocks(to: &text, ground: ground)
                }
            }
        }
    }
}
