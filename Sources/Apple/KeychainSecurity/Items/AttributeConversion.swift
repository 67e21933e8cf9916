internal import Foundation
internal import KCKeychainModel

/// Converts attribute values between the API's dictionaries and the model.
extension AttributeCode {
    /// Converts a value given by a caller; the same types are accepted as on Apple's systems.
    ///
    /// Binary attributes also accept text and numbers (four little-endian bytes), text attributes accept UTF-8 bytes,
    /// and numeric attributes accept decimal text. Protocols, key classes and key types are strings in the API and
    /// numbers in the keychain. The type and creator of a password may be given as a four-character code.
    ///
    /// - Throws: `CallFailure` (`errSecParam`).
    func value(of given: Any, in itemClass: ItemClass) throws(CallFailure) -> AttributeValue {
        let value: AttributeValue? =
            switch kind {
            case .string: Self.text(given).map { .text($0) }
            case .textOrData, .dataOrText: Self.blob(given)
            case .data where self == .musr: (given as? Data).map { .data(Array($0)) }
            case .data: Self.blob(given)?.bytes
            case .number: number(given, in: itemClass)
            case .date: (given as? Date).flatMap { Timestamp($0) }.map { .date($0) }
            }
        guard let value else { throw CallFailure(errSecParam) }
        return value
    }

    private static func blob(_ given: Any) -> AttributeValue? {
        if let text = given as? String { return .text(text) }
        if let data = given as? Data { return .data(Array(data)) }
        guard let number = wholeNumber(given),
            let narrow = Int32(exactly: number) ?? UInt32(exactly: number).map({ Int32(bitPattern: $0) })
        else { return nil }
        return .data((0..<4).map { UInt8(truncatingIfNeeded: narrow >> ($0 * 8)) })
    }

    private func number(_ given: Any, in itemClass: ItemClass) -> AttributeValue? {
        if let number = Self.wholeNumber(given) { return .number(number) }
        guard let text = given as? String else { return nil }
        if let number = Self.number(spelledBy: text) { return .number(number) }
        return standsForCharacters(in: itemClass) ? FourCharacterCode(text).map { .number(Int64($0.number)) } : nil
    }

    /// Returns a string as it is, and bytes decoded as UTF-8.
    static func text(_ given: Any) -> String? {
        if let text = given as? String { return text }
        return (given as? Data).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Parses a number in canonical decimal form: no plus sign, no leading zeros, no spaces.
    static func number(spelledBy text: String) -> Int64? {
        Int64(text).flatMap { String($0) == text ? $0 : nil }
    }

    /// True if numbers of this attribute are four-character codes.
    private func standsForCharacters(in itemClass: ItemClass) -> Bool {
        self == .ptcl || (self == .type || self == .crtr) && itemClass != .key
    }

    /// True if the API's constants for this attribute are numbers spelled as strings.
    private func spellsNumbers(in itemClass: ItemClass) -> Bool {
        itemClass == .key && (self == .kcls || self == .type)
    }

    private static func wholeNumber(_ given: Any) -> Int64? {
        guard let number = given as? NSNumber else { return nil }
        return Int64(exactly: number)
    }

    /// Converts a value for a result.
    func given(_ value: AttributeValue, in itemClass: ItemClass) -> Any {
        switch value {
        case .text(let text): text
        case .data(let bytes): Data(bytes)
        case .date(let date): Date(date)
        case .number(let number):
            if self == .ptcl, let code = FourCharacterCode(number) {
                code.text
            } else if spellsNumbers(in: itemClass) {
                String(number)
            } else {
                NSNumber(value: number)
            }
        }
    }
}

extension AttributeValue {
    /// The value as bytes if it is text; otherwise unchanged.
    fileprivate var bytes: AttributeValue {
        if case .text(let text) = self { .data(Array(text.utf8)) } else { self }
    }
}

/// Four printable ASCII characters as one number, with the first character in the highest byte.
struct FourCharacterCode {
    let number: UInt32
    let text: String

    private static let printable: ClosedRange<UInt8> = 0x20...0x7e

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 4, bytes.allSatisfy(Self.printable.contains) else { return nil }
        number = bytes.reduce(0) { $0 << 8 | UInt32($1) }
        self.text = text
    }

    init?(_ number: Int64) {
        guard let number = UInt32(exactly: number) else { return nil }
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        guard bytes.allSatisfy(Self.printable.contains) else { return nil }
        self.number = number
        text = String(decoding: bytes, as: UTF8.self)
    }
}

extension Timestamp {
    /// Rounds the date to the nearest microsecond; nil outside the years 1 to 9999.
    init?(_ date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
        guard let whole = Int64(exactly: microseconds) else { return nil }
        self.init(microseconds: whole)
    }
}

extension Date {
    /// Converts a timestamp to the API's date type.
    init(_ moment: Timestamp) {
        self.init(timeIntervalSince1970: Double(moment.microseconds) / 1e6)
    }
}
