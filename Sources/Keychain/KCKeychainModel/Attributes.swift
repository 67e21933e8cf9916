/// The value of one attribute.
package enum AttributeValue: Sendable {
    case text(String)
    case data([UInt8])
    case number(Int64)
    case date(Timestamp)

    /// The number of bytes that count towards `ItemLimits`.
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

    /// True if an attribute of `kind` can hold the value.
    func fits(_ kind: AttributeCode.Kind) -> Bool {
        switch (self, kind) {
        case (.text, .string), (.text, .textOrData), (.text, .dataOrText), (.data, .data), (.data, .textOrData),
            (.data, .dataOrText), (.number, .number), (.date, .date):
            true
        default: false
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

/// Attributes by code, each at most once, in the order of their codes.
package struct Attributes: Hashable, Sendable {
    /// One attribute.
    package struct Entry: Hashable, Sendable {
        /// Which attribute.
        package let code: AttributeCode
        /// Its value.
        package let value: AttributeValue
    }

    /// All attributes, lowest code first.
    package private(set) var entries: [Entry] = []

    /// Creates an empty set.
    package init() {}

    /// Creates an empty set with room for `capacity` attributes.
    package init(capacity: Int) {
        entries.reserveCapacity(capacity)
    }

    /// Reads, sets, or with nil removes one attribute.
    package subscript(code: AttributeCode) -> AttributeValue? {
        get {
            let index = position(of: code)
            return index < entries.count && entries[index].code == code ? entries[index].value : nil
        }
        set {
            let index = position(of: code)
            let exists = index < entries.count && entries[index].code == code
            if let newValue {
                let entry = Entry(code: code, value: newValue)
                if exists { entries[index] = entry } else { entries.insert(entry, at: index) }
            } else if exists {
                entries.remove(at: index)
            }
        }
    }

    /// Adds an attribute whose code is higher than all codes present.
    package mutating func append(_ code: AttributeCode, _ value: AttributeValue) {
        precondition(entries.last.map { $0.code < code } ?? true, "attributes are appended in the order of their codes")
        entries.append(Entry(code: code, value: value))
    }

    /// The text of an attribute; bytes that are valid UTF-8 count as text.
    package func text(_ code: AttributeCode) -> String? {
        switch self[code] {
        case .text(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        case .number, .date, nil: nil
        }
    }

    /// The number of an attribute.
    package func number(_ code: AttributeCode) -> Int64? {
        if case .number(let number) = self[code] { number } else { nil }
    }

    /// The date of an attribute.
    package func date(_ code: AttributeCode) -> Timestamp? {
        if case .date(let date) = self[code] { date } else { nil }
    }

    private func position(of code: AttributeCode) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].code < code { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// An attribute of another keychain system that has no column here, preserved unchanged.
package struct ExtraAttribute: Hashable, Sendable {
    /// Its name, unique within the item by its UTF-8 bytes.
    package let name: String
    /// Its value.
    package let value: String

    /// Creates a named value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Compares the bytes.
    package static func == (left: ExtraAttribute, right: ExtraAttribute) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
    }
}
