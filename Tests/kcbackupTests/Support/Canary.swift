import Foundation
import KCByteStreams

/// A text that begins every secret of a test, and the spellings in which it may get out.
enum Canary {
    /// Each encoding spells it differently.
    static let stem = #"cän"ry/7 Qx+%perch"#

    /// The spellings of the stem.
    static let spellings = spellings(of: stem)

    /// The spellings of a text.
    static func spellings(of stem: String) -> [[UInt8]] {
        let bytes = Array(stem.utf8)
        var all = [bytes, stem.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }]
        all.append(Array(hexadecimal(bytes).utf8))
        all.append(Array(hexadecimal(bytes).uppercased().utf8))
        // In each of the three positions that base64 knows; the first and the last characters depend on what is beside.
        for shift in 0..<3 {
            let text = Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString()
            let whole = (bytes.count + shift) / 3 * 4
            all.append(Array(text.utf8.prefix(whole).dropFirst(shift == 0 ? 0 : 4)))
        }
        all.append(Array(stem.replacing("\"", with: "\\\"").utf8))
        all.append(Array(stem.replacing("\"", with: "\\\"").replacing("/", with: "\\/").utf8))
        // In a CSV file.
        all.append(Array(stem.replacing("\"", with: "\"\"").utf8))
        all.append(Array((stem.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? stem).utf8))
        return all
    }

    /// The spellings as `Canaries/watch.py` reads them.
    static let list = spellings.map { hexadecimal($0) + "\n" }.joined()

    /// True if one of the spellings is somewhere in the bytes.
    static func isIn(_ bytes: [UInt8], _ spellings: [[UInt8]] = spellings) -> Bool {
        spellings.contains { spelling in
            var start = 0
            while let found = bytes.span.firstIndex(of: spelling[0], from: start) {
                if bytes.span.matches(spelling, at: found) { return true }
                start = found + 1
            }
            return false
        }
    }

    /// The bytes as `Canaries/watch.py` reads them.
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
