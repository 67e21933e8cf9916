/// A set of attributes, visited in the order of their codes.
package struct AttributeCodes: Hashable, Sendable {
    /// Bit n is set for the attribute with the raw value n.
    private var low: UInt64 = 0
    /// Bit n is set for the attribute with the raw value 64 + n.
    private var high: UInt64 = 0

    /// Creates an empty set.
    package init() {}

    /// Creates a set of `codes`.
    init(_ codes: some Sequence<AttributeCode>) {
        for code in codes { insert(code) }
    }

    /// True if there is no attribute.
    package var isEmpty: Bool { low | high == 0 }

    /// The number of attributes.
    package var count: Int { low.nonzeroBitCount + high.nonzeroBitCount }

    /// The lowest code, or nil.
    var first: AttributeCode? {
        AttributeCode(rawValue: UInt8(low != 0 ? low.trailingZeroBitCount : 64 + high.trailingZeroBitCount))
    }

    /// True if the set has `code`.
    package func contains(_ code: AttributeCode) -> Bool {
        (code.rawValue < 64 ? low : high) & Self.bit(code) != 0
    }

    /// The number of attributes with lower codes than `code`.
    func rank(of code: AttributeCode) -> Int {
        let below = Self.bit(code) &- 1
        return code.rawValue < 64
            ? (low & below).nonzeroBitCount : low.nonzeroBitCount + (high & below).nonzeroBitCount
    }

    /// Adds `code`, if it is not there.
    mutating func insert(_ code: AttributeCode) {
        if code.rawValue < 64 { low |= Self.bit(code) } else { high |= Self.bit(code) }
    }

    /// The set with the attributes of `other`.
    func union(_ other: AttributeCodes) -> AttributeCodes {
        var result = self
        result.low |= other.low
        result.high |= other.high
        return result
    }

    /// The set with `code`.
    func inserting(_ code: AttributeCode) -> AttributeCodes {
        var result = self
        result.insert(code)
        return result
    }

    /// The attributes that are not in `other`.
    func subtracting(_ other: AttributeCodes) -> AttributeCodes {
        var result = self
        result.low &= ~other.low
        result.high &= ~other.high
        return result
    }

    fileprivate mutating func removeFirst() {
        if low != 0 { low &= low &- 1 } else { high &= high &- 1 }
    }

    private static func bit(_ code: AttributeCode) -> UInt64 { 1 &<< UInt64(code.rawValue) }
}

extension AttributeCodes: Sequence {
    /// Visits the attributes, lowest code first.
    package struct Iterator: IteratorProtocol {
        fileprivate var rest: AttributeCodes

        /// The next attribute, or nil.
        package mutating func next() -> AttributeCode? {
            guard let code = rest.first else { return nil }
            rest.removeFirst()
            return code
        }
    }

    /// An iterator at the lowest code.
    package func makeIterator() -> Iterator { Iterator(rest: self) }

    /// The exact number.
    package var underestimatedCount: Int { count }
}

extension ItemClass {
    /// The attributes that items of the class can have.
    var attributes: AttributeCodes { Self.attributes[position] }

    private static let attributes = allCases.map { itemClass in
        AttributeCodes(AttributeCode.allCases.filter { $0.belongs(to: itemClass) })
    }
}
