/// The value of one attribute.
package enum AttributeValue: Sendable {
    case text(String)
    case data([UInt8])
    case number(Int64)
    case date(Timestamp)

    /// The number of bytes that count toward `ItemLimits`.
    package var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .number, .date: 8
        }
    }

    /// The bytes that a unique key compares; nil for numbers and dates.
    package var keyBytes: [UInt8]? {
        switch self {
        case .text(let text): Array(text.utf8)
        case .data(let bytes): bytes
        case .number, .date: nil
        }
    }
}

extension AttributeValue: Hashable {
    /// Compares kind and bytes; texts are not normalized, so "é" in two Unicode forms is two values.
    package static func == (left: AttributeValue, right: AttributeValue) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.data(let left), .data(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        default: false
        }
    }

    /// Hashes kind and bytes.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .data(let bytes): hasher.combine(bytes)
        case .number(let number): hasher.combine(number)
        case .date(let date): hasher.combine(date)
        }
    }
}
