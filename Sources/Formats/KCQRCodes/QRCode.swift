internal import CKCQRencode
internal import Glibc
package import KCByteStreams

/// Why there is no code.
package enum QRCodeFailure: Error, Hashable, Sendable {
    /// The named library or function cannot be loaded.
    case libraryMissing(String)
    /// libqrencode refused with this error number.
    case refused(Int32)
}

/// A QR code (ISO/IEC 18004) with error correction of level H, by libqrencode.
///
/// ```swift
/// let code = try QRCode(text)
/// code.forEachRun { row, columns in draw(columns, row) }
/// ```
///
/// The modules are as secret as the text, and are kept like it. libqrencode copies the text into memory of its own,
/// which it does not wipe.
package struct QRCode: ~Copyable {
    /// The number of modules that stay light around a code on each side.
    package static let margin = 4

    /// The number of modules on each side, without the margin.
    package let width: Int
    // Row by row, 1 for a dark module.
    private let modules: SecretBytes

    /// Makes sure that codes can be made.
    package static func load() throws(QRCodeFailure) { try QRLibrary.load() }

    /// Encodes a text without NUL; of capital letters, digits and blanks, more fits in.
    package init(_ text: borrowing SecretBytes) throws(QRCodeFailure) {
        try QRLibrary.load()
        var terminated = SecretBytes(capacity: text.count + 1)
        text.withBytes { terminated.append($0) }
        terminated.append(0)
        let code = unsafe terminated.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe buffer.withMemoryRebound(to: CChar.self) { text in
                    unsafe cqrencode_encode(QRLibrary.functions, text.baseAddress)
                }
            }
        }
        guard let code = unsafe code else { throw .refused(errno) }
        let width = unsafe Int(code.pointee.width)
        let data = unsafe UnsafeBufferPointer(start: code.pointee.data, count: width * width)
        var modules = SecretBytes(capacity: width * width)
        // The other bits say what a module is for.
        for index in 0..<width * width { modules.append(unsafe data[index] & 1) }
        unsafe explicit_bzero(code.pointee.data, width * width)
        unsafe QRLibrary.functions.pointee.QRcode_free(code)
        self.width = width
        self.modules = modules
    }

    /// Calls `body` for each longest run of dark modules in a row, from the top left.
    package func forEachRun(_ body: (_ row: Int, _ columns: Range<Int>) -> Void) {
        for row in 0..<width {
            var column = 0
            while column < width {
                let start = column
                while column < width, isDark(row, column) { column += 1 }
                if column > start { body(row, start..<column) }
                column += 1
            }
        }
    }

    /// True for a dark module, false for a light one and outside the code.
    private func isDark(_ row: Int, _ column: Int) -> Bool {
        guard 0..<width ~= row, 0..<width ~= column else { return false }
        return modules.withBytes { $0[row * width + column] == 1 }
    }
}

extension QRCode {
    /// Appends the code as an SVG element, a single path.
    package func appendSVG(to text: inout SecretBytes) {
        let side = width + 2 * Self.margin
        text.append(
            utf8: """
                <svg class="code" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" \
                shape-rendering="crispEdges"><rect width="\(side)" height="\(side)" fill="#fff"/><path fill="#000" d="
                """)
        forEachRun { row, columns in
            text.append(utf8: "M")
            text.append(decimal: columns.lowerBound + Self.margin)
            text.append(utf8: " ")
            text.append(decimal: row + Self.margin)
            text.append(utf8: "h")
            text.append(decimal: columns.count)
            text.append(utf8: "v1h")
            text.append(decimal: -columns.count)
            text.append(utf8: "z")
        }
        text.append(utf8: "\"/></svg>\n")
    }

    /// Appends the code as lines of blocks, two rows of modules to a line, dark on a light ground.
    ///
    /// - Parameter ground: what is put before and after each line, such as the codes for its colors on a terminal.
    package func appendBlocks(to text: inout SecretBytes, ground: (start: String, end: String) = ("", "")) {
        let range = -Self.margin..<(width + Self.margin)
        for row in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            text.append(utf8: ground.start)
            for column in range {
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (false, false): text.append(utf8: " ")
                case (true, false): text.append(utf8: "▀")
                case (false, true): text.append(utf8: "▄")
                case (true, true): text.append(utf8: "█")
                }
            }
            text.append(utf8: ground.end + "\n")
        }
    }
}
