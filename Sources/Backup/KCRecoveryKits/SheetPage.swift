internal import KCByteStreams
internal import KCQRCodes

/// A sheet as a page for a browser: one file, which loads nothing and runs no script.
struct SheetPage {
    /// The beginning of the page of every kit.
    static let top = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="referrer" content="no-referrer">
        <title>Recovery kit</title>
        <style>
        @page { size: A4; margin: 12mm 15mm }
        body { font: 9.5pt/1.25 sans-serif; color: #000; background: #fff; max-width: 180mm; margin: 0 auto }
        article { break-after: page }
        article:last-child { break-after: auto }
        h1 { font-size: 14pt; margin: 0 0 6pt }
        h2 { font-size: 10pt; margin: 9pt 0 3pt }
        p { margin: 4pt 0 }
        pre { font: 8.5pt/1.25 monospace; margin: 3pt 0 3pt 1em; white-space: pre-wrap; overflow-wrap: anywhere }
        .secret { display: flex; align-items: center; justify-content: space-between; break-inside: avoid }
        .secret .share { font-size: 9.5pt; line-height: 1.35 }
        .secret .key { font-size: 13pt; line-height: 1.5 }
        .secret pre { font-weight: bold; margin: 0; white-space: pre }
        .code { width: 54mm; height: 54mm; flex: none }
        </style>
        </head>
        <body>

        """

    func file(_ sheets: [KitSheet], hasCode: Bool) throws(QRCodeFailure) -> SecretBytes {
        var page = SecretBytes(capacity: 32_768)
        page.append(utf8: Self.top)
        for sheet in sheets { try append(sheet, hasCode, to: &page) }
        page.append(utf8: "</body>\n</html>\n")
        return page
    }

    private func append(_ sheet: KitSheet, _ hasCode: Bool, to page: inout SecretBytes) throws(QRCodeFailure) {
        page.append(utf8: "<article>\n")
        for block in sheet.blocks {
            switch block {
            case .title(let line): page.append(utf8: "<h1>\(Self.escaped(line))</h1>\n")
            case .heading(let line): page.append(utf8: "<h2>\(Self.escaped(line))</h2>\n")
            case .text(let lines):
                page.append(utf8: "<p>\(Self.escaped(lines.joined(separator: "\n")))</p>\n")
            case .lines(let lines):
                page.append(utf8: "<pre>\(Self.escaped(lines.joined(separator: "\n")))</pre>\n")
            case .secret:
                page.append(utf8: "<div class=\"secret\"><pre class=\"\(sheet.kind)\">")
                // The secret has no characters with a meaning in HTML.
                sheet.secretLines.withBytes { page.append($0) }
                page.append(utf8: "</pre>")
                if hasCode { try QRCode(sheet.codeText).appendSVG(to: &page) }
                page.append(utf8: "</div>\n")
            }
        }
        page.append(utf8: "</article>\n")
    }

    /// Text in which nothing is markup.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension KitSheet {
    /// The class of what is secret.
    fileprivate var kind: String {
        switch content {
        case .key: "key"
        case .share: "share"
        }
    }
}
