internal import KCKeychainModel

/// A piece of HTML.
///
/// A piece consists of literals and of text that was escaped when it was inserted, so foreign text cannot become
/// markup. Attribute values must be in double quotation marks.
package struct HTML: ExpressibleByStringInterpolation, Sendable {
    /// The markup.
    package private(set) var text: String

    /// Markup that is part of the program.
    package init(stringLiteral markup: String) {
        text = markup
    }

    /// Creates markup with interpolated values.
    package init(stringInterpolation parts: Interpolation) {
        text = parts.text
    }

    package static func += (left: inout HTML, right: HTML) {
        left.text += right.text
    }

    /// Collects markup and escapes values.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ markup: String) {
            text += markup
        }

        /// Inserts foreign text, displayed as on a terminal.
        package mutating func appendInterpolation(_ foreign: String, limit: Int = 1_000) {
            append(displayed(foreign, limit: limit))
        }

        /// Inserts text in which everything foreign has been passed through `displayed()`.
        package mutating func appendInterpolation(shown words: String) {
            append(words)
        }

        /// Inserts a number with separators: "15,000".
        package mutating func appendInterpolation(_ number: Int) {
            text += grouped(number)
        }

        /// Inserts a piece unchanged.
        package mutating func appendInterpolation(_ part: HTML) {
            text += part.text
        }

        /// Inserts several pieces, one after the other.
        package mutating func appendInterpolation(_ parts: [HTML]) {
            for part in parts { text += part.text }
        }

        private mutating func append(_ words: String) {
            // Most texts need no escaping, and checking is much faster than escaping.
            guard words.utf8.contains(where: isSpecial) else {
                text += words
                return
            }
            for scalar in words.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}

private func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
    default: false
    }
}

/// Returns a number with commas between groups of thousands.
package func grouped(_ number: Int) -> String {
    var digits = String(number)
    var end = digits.endIndex
    while let comma = digits.index(end, offsetBy: -3, limitedBy: digits.index(after: digits.startIndex)) {
        digits.insert(",", at: comma)
        end = comma
    }
    return digits
}

/// Returns the URL fragment that makes the page's script filter the table, such as `#class=certificate`.
///
/// Every byte of the value that has a special meaning in a URL is escaped.
package func fragment(_ condition: String, _ value: String) -> String {
    var text = "#" + condition + "="
    for byte in value.utf8 {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            text.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            text += digits.count == 1 ? "%0" + digits : "%" + digits
        }
    }
    return text
}
