internal import KCByteStreams

/// Attributes by code, each at most once, in the order of their codes.
///
/// They are kept as the members of the JSON object in a metadata line, which are compared, copied and written as they
/// are, with an index behind them. A value is decoded when it is asked for, so an item needs one piece of memory for
/// all its attributes.
package struct Attributes: Hashable, Sendable {
    /// An attribute with its value.
    package struct Entry: Hashable, Sendable {
        /// Which attribute.
        package let code: AttributeCode
        /// Its value.
        package let value: AttributeValue
    }

    /// Which attributes there are.
    package let codes: AttributeCodes
    /// The members, joined by commas, then an `AttributePlace` for each.
    private let packed: [UInt8]

    /// Creates an empty set.
    package init() {
        codes = AttributeCodes()
        packed = []
    }

    /// Packs members in the order of their codes, joined by commas, and their places.
    init(_ members: borrowing Span<UInt8>, _ index: borrowing AttributeIndex) {
        codes = index.codes
        packed = [UInt8](capacity: members.count + index.size) { output in
            output.append(copying: members)
            index.write(to: &output)
        }
    }

    /// All attributes, lowest code first.
    package var entries: [Entry] {
        codes.compactMap { code in self[code].map { Entry(code: code, value: $0) } }
    }

    /// Reads, sets, or with nil removes one attribute.
    package subscript(code: AttributeCode) -> AttributeValue? {
        get { withMember(code) { form, bytes in form.value(of: bytes) } }
        set {
            var builder = AttributesBuilder(capacity: packed.count)
            for other in codes.inserting(code) {
                if other != code {
                    withMember(other) { form, bytes in builder.append(other, form, bytes) }
                } else if let newValue {
                    builder.append(code, newValue)
                }
            }
            self = builder.finish()
        }
    }

    /// The attributes with those of `other` in place of their own, wherever `isTaken` returns true: also without one that
    /// `other` lacks.
    package func replaced(by other: Attributes, where isTaken: (AttributeCode) -> Bool) -> Attributes {
        var builder = AttributesBuilder(capacity: packed.count + other.packed.count)
        for code in codes.union(other.codes) {
            (isTaken(code) ? other : self).withMember(code) { form, bytes in builder.append(code, form, bytes) }
        }
        return builder.finish()
    }

    /// The attributes, with these in place of missing ones.
    ///
    /// - Parameter defaults: in the order of their codes.
    func filled(with defaults: [(code: AttributeCode, value: AttributeValue)]) -> Attributes {
        var builder = AttributesBuilder(capacity: packed.count + 256)
        var rest = defaults[...]
        func fill(below code: AttributeCode?) {
            while let next = rest.first, code.map({ next.code < $0 }) ?? true {
                builder.append(next.code, next.value)
                rest.removeFirst()
            }
            if rest.first?.code == code { rest = rest.dropFirst() }
        }
        for code in codes {
            fill(below: code)
            withMember(code) { form, bytes in builder.append(code, form, bytes) }
        }
        fill(below: nil)
        return builder.finish()
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

    /// Calls `body` with the members, as they are in a metadata line.
    func withMembers<R: ~Copyable, E: Error>(_ body: (borrowing Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try body(packed.span.extracting(..<membersSize))
    }

    /// The attributes as a JSON object, as in a metadata line.
    package var json: [UInt8] {
        var json = [UInt8(ascii: "{")]
        withMembers { json.append($0) }
        json.append(UInt8(ascii: "}"))
        return json
    }

    /// Calls `body` with the form of a value and its bytes in a metadata line; returns nil if there is none.
    ///
    /// - Throws: what `body` throws.
    @discardableResult
    package func withMember<R, E: Error>(
        _ code: AttributeCode, _ body: (AttributeForm, borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R? {
        guard codes.contains(code) else { return nil }
        return try withMember(ranked: codes.rank(of: code), body)
    }

    /// Calls `body` with the member that has `rank` lower ones.
    func withMember<R, E: Error>(
        ranked rank: Int, _ body: (AttributeForm, borrowing Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        let bytes = packed.span
        let index = membersSize
        let start = index + rank * AttributePlace.size
        let place = AttributePlace(in: bytes, at: start)
        let next = start + AttributePlace.size
        let end =
            next == index + codes.count * AttributePlace.size
            ? index : AttributePlace(in: bytes, at: next).offset - AttributePlace.gap
        return try body(place.form, bytes.extracting(place.offset..<end))
    }

    /// How many bytes of memory they take.
    package var size: Int { packed.count }

    /// The size of the members in bytes.
    var membersSize: Int { packed.count - AttributeIndex.size(codes.count) }
}

extension Attributes: CustomStringConvertible {
    /// The attributes as JSON.
    package var description: String { String(decoding: json, as: UTF8.self) }
}

/// The form of an attribute's value in a metadata line.
package enum AttributeForm: UInt8, Sendable {
    /// A string without escapes.
    case text
    /// A string with at least one escape.
    case escapedText
    /// An object with bytes in base64.
    case data
    case number
    case date

    /// True if an attribute of `kind` can have such a value.
    func fits(_ kind: AttributeCode.Kind) -> Bool {
        switch (self, kind) {
        case (.text, .string), (.text, .textOrData), (.text, .dataOrText), (.escapedText, .string),
            (.escapedText, .textOrData), (.escapedText, .dataOrText), (.data, .data), (.data, .textOrData),
            (.data, .dataOrText), (.number, .number), (.date, .date):
            true
        default: false
        }
    }

    /// The value of bytes that have this form, as `Attributes.withMember` passes them.
    package func value(of bytes: borrowing Span<UInt8>) -> AttributeValue {
        var scanner = CanonicalScanner()
        do throws(MalformedLine) {
            switch self {
            case .text, .escapedText: return .text(try scanner.string(in: bytes))
            case .data: return .data(try scanner.attributeData(in: bytes))
            case .number: return .number(try scanner.integer(in: bytes))
            case .date: return .date(try scanner.date(in: bytes))
            }
        } catch {
            preconditionFailure("attributes are packed in their canonical form")
        }
    }

    /// The number of bytes of a value of this form that count toward `ItemLimits`.
    func size(of bytes: borrowing Span<UInt8>) -> Int {
        switch self {
        case .text: bytes.count - 2
        case .number, .date: 8
        case .escapedText, .data: value(of: bytes).size
        }
    }
}

/// Where the value of an attribute is among the members, and its form.
struct AttributePlace {
    /// The size of a place in bytes; 37 bits for the offset are more than any file has.
    static let size = 5
    /// The number of bytes between two values: a comma, and the name with its quotes and colon.
    static let gap = 8

    private let bits: UInt64

    init(_ form: AttributeForm, at offset: Int) {
        precondition(offset >> 37 == 0, "attributes are smaller than that")
        bits = UInt64(offset) << 3 | UInt64(form.rawValue)
    }

    init(in bytes: borrowing Span<UInt8>, at start: Int) {
        bits = bytes.word(at: start) & 0xff_ffff_ffff
    }

    /// The position of the first byte of the value.
    var offset: Int { Int(bits >> 3) }

    var form: AttributeForm {
        guard let form = AttributeForm(rawValue: UInt8(bits & 7)) else {
            preconditionFailure("a place has one of the forms")
        }
        return form
    }

    func write(to output: inout OutputSpan<UInt8>) {
        for byte in 0..<Self.size { output.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * byte))) }
    }
}

/// The codes and places of members, collected in the order of the codes.
struct AttributeIndex: ~Copyable {
    private(set) var codes = AttributeCodes()
    private var places = InlineArray<65, AttributePlace>(repeating: AttributePlace(.text, at: 0))
    private var count = 0
    private var last: AttributeCode?

    /// The size of the places of `count` members in bytes; each is read as part of eight bytes.
    static func size(_ count: Int) -> Int { count == 0 ? 0 : count * AttributePlace.size + padding }

    private static let padding = 8 - AttributePlace.size

    /// The size of all places in bytes.
    var size: Int { Self.size(count) }

    /// Adds a member; false if its code is not higher than all before it.
    mutating func append(_ code: AttributeCode, _ form: AttributeForm, at offset: Int) -> Bool {
        if let last, code <= last { return false }
        codes.insert(code)
        last = code
        places[count] = AttributePlace(form, at: offset)
        count += 1
        return true
    }

    mutating func removeAll() {
        codes = AttributeCodes()
        count = 0
        last = nil
    }

    func write(to output: inout OutputSpan<UInt8>) {
        if count == 0 { return }
        for index in 0..<count { places[index].write(to: &output) }
        for _ in 0..<Self.padding { output.append(0) }
    }
}
