package import KCByteStreams
package import KCQRCodes

/// The form in which a sheet is printed.
package enum SheetForm: Hashable, Sendable {
    /// Plain text of at most 78 columns, for a printer or a typewriter.
    case text
    /// A page for a browser, which loads nothing and runs no script.
    case html
    case pdf

    // A program that opens such a file finds no sheet in it.
    private static let otherKinds = [
        ".doc", ".docx", ".odt", ".rtf", ".ps", ".eps", ".xps", ".epub",
        ".png", ".jpg", ".jpeg", ".gif", ".svg", ".tif", ".tiff", ".webp",
    ]

    /// Chooses by the ending of a file's name: `.html`, `.htm` or `.pdf`; text for any other, and nil for that of another
    /// kind of document or picture.
    package init?(ofFile name: String) {
        let name = name.lowercased()
        if Self.otherKinds.contains(where: { name.exact.hasSuffix($0) }) { return nil }
        let isPage = name.exact.hasSuffix(".html") || name.exact.hasSuffix(".htm")
        self = isPage ? .html : name.exact.hasSuffix(".pdf") ? .pdf : .text
    }

    /// True for a file of text, and for a page, that begins with a sheet; a PDF is not told from others.
    package static func isSheet(_ file: borrowing SecretBytes) -> Bool {
        file.withBytes { bytes in bytes.starts(with: KitSheet.beginning) || bytes.starts(with: SheetPage.top) }
    }

    /// Returns the file with sheets, each on a page of its own.
    ///
    /// - Parameters:
    ///   - hasCode: true for a QR code of the key beside it.
    ///   - ground: for text, what is put before and after each line of the code.
    package func file(
        _ sheets: [KitSheet], hasCode: Bool, ground: (start: String, end: String) = ("", "")
    ) throws(QRCodeFailure) -> SecretBytes {
        switch self {
        case .text: try SheetText(ground: ground).file(sheets, hasCode: hasCode)
        case .html: try SheetPage().file(sheets, hasCode: hasCode)
        case .pdf: try SheetPDF.file(sheets, hasCode: hasCode)
        }
    }
}
