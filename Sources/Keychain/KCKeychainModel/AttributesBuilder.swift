internal import KCByteStreams

/// Packs attributes in the order of their codes; can be used again after `finish`, and then keeps its memory.
///
/// ```swift
/// var builder = AttributesBuilder()
/// builder.append(.acct, .text("ann"))
/// builder.append(.sync, .number(0))
/// let attributes = builder.finish()
/// ```
package struct AttributesBuilder: ~Copyable {
    private var members: [UInt8] = []
    private var index = AttributeIndex()

    /// Starts with room for `capacity` bytes.
    package init(capacity: Int = 512) {
        members.reserveCapacity(capacity)
    }

    /// Adds an attribute, whose code must be higher than all before it.
    package mutating func append(_ code: AttributeCode, _ value: AttributeValue) {
        switch value {
        case .text(let text): appendText(code, text.utf8.span)
        case .data(let bytes): append(code, data: bytes.span)
        case .number(let number): append(code, number)
        case .date(let date): append(code, date)
        }
    }

    /// Adds text; false, adding nothing, if `bytes` are not valid UTF-8.
    package mutating func append(_ code: AttributeCode, text bytes: borrowing Span<UInt8>) -> Bool {
        guard bytes.isUTF8 else { return false }
        appendText(code, bytes)
        return true
    }

    /// Adds text that is valid UTF-8 and needs no escape.
    mutating func append(_ code: AttributeCode, plainText bytes: borrowing Span<UInt8>) {
        begin(code, .text)
        members.append(UInt8(ascii: "\""))
        members.append(bytes)
        members.append(UInt8(ascii: "\""))
    }

    /// Adds bytes.
    package mutating func append(_ code: AttributeCode, data bytes: borrowing Span<UInt8>) {
        begin(code, .data)
        CanonicalJSON.literal("{\"base64\":\"", into: &members)
        Base64.encode(bytes, into: &members)
        CanonicalJSON.literal("\"}", into: &members)
    }

    /// Adds a whole number.
    package mutating func append(_ code: AttributeCode, _ number: Int64) {
        begin(code, .number)
        CanonicalJSON.integer(number, into: &members)
    }

    /// Adds a date.
    package mutating func append(_ code: AttributeCode, _ date: Timestamp) {
        begin(code, .date)
        members.append(UInt8(ascii: "\""))
        members.append(upTo: Timestamp.spellingLength) { output in date.spell(into: &output) }
        members.append(UInt8(ascii: "\""))
    }

    /// Adds a value that has `form` as it is.
    mutating func append(_ code: AttributeCode, _ form: AttributeForm, _ bytes: borrowing Span<UInt8>) {
        begin(code, form)
        members.append(bytes)
    }

    /// The attributes; the builder is then empty.
    package mutating func finish() -> Attributes {
        let attributes = Attributes(members.span, index)
        removeAll()
        return attributes
    }

    /// Discards what was added.
    package mutating func removeAll() {
        members.removeAll(keepingCapacity: true)
        index.removeAll()
    }

    private mutating func appendText(_ code: AttributeCode, _ bytes: borrowing Span<UInt8>) {
        begin(code, CanonicalJSON.needsEscape(bytes) ? .escapedText : .text)
        CanonicalJSON.string(bytes, into: &members)
    }

    private mutating func begin(_ code: AttributeCode, _ form: AttributeForm) {
        if !members.isEmpty { members.append(UInt8(ascii: ",")) }
        members.append(code.lineKey.span)
        let isNext = index.append(code, form, at: members.count)
        precondition(isNext, "attributes are added in the order of their codes")
    }
}
