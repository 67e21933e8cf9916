internal import KeychainModel

/// A piece of a page.
///
/// It is made of literals alone, and of texts that were escaped on their way in, so foreign text cannot become markup.
/// Values of attributes are to be in double quotation marks.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    /// The markup.
    private(set) var text: String

    /// Markup that is part of the program.
    init(stringLiteral markup: String) {
        text = markup
    }

    /// Markup with values in it.
    init(stringInterpolation parts: Interpolation) {
        text = parts.text
    }

    /// Appends a piece.
    static func += (left: inout HTML, right: HTML) {
        left.text += right.text
    }

    /// Collects markup and escapes values.
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        mutating func appendLiteral(_ markup: String) {
            text += markup
        }

        /// Foreign text: shown as it is on a terminal.
        mutating func appendInterpolation(_ foreign: String, limit: Int = 1_000) {
            append(displayed(foreign, limit: limit))
        }

        /// Text in which everything foreign has passed `displayed()`.
        mutating func appendInterpolation(shown words: String) {
            append(words)
        }

        /// A number as people write it: "15,000".
        mutating func appendInterpolation(_ number: Int) {
            text += grouped(number)
        }

        /// A piece as it is.
        mutating func appendInterpolation(_ part: HTML) {
            text += part.text
        }

        /// Pieces one after the other.
        mutating func appendInterpolation(_ parts: [HTML]) {
            for part in parts { text += part.text }
        }

        private mutating func append(_ words: String) {
            // Most names need no escaping, which is much quicker to see than to do.
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

/// A number with a comma between thousands.
func grouped(_ number: Int) -> String {
    var digits = String(number)
    var end = digits.endIndex
    while let comma = digits.index(end, offsetBy: -3, limitedBy: digits.index(after: digits.startIndex)) {
        digits.insert(",", at: comma)
        end = comma
    }
    return digits
}

/// The end of an address that makes the page's script show part of the table: `#class=certificate`.
///
/// Every byte of the value that means something in an address is escaped.
func fragment(_ condition: String, _ value: String) -> String {
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
