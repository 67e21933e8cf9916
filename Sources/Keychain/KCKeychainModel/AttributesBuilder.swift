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
        case .text(let text):
            let bytes = text.utf8.span
            appendText(code, bytes, isPlain: !CanonicalJSON.needsEscape(bytes))
        case .data(let bytes): append(code, data: bytes.span)
        case .number(let number): append(code, number)
        case .date(let date): append(code, date)
        }
    }

    /// Adds text; false, adding nothing, if `bytes` are not valid UTF-8.
    package mutating func append(_ code: AttributeCode, text bytes: borrowing Span<UInt8>) -> Bool {
        // Most texts are plain ASCII, which is known after one look at them.
        let run = PlainRun(in: bytes, from: 0)
        let isPlain = run.end == bytes.count
        guard isPlain && run.isASCII || bytes.isUTF8 else { return false }
        appendText(code, bytes, isPlain: isPlain)
        return true
    }

    /// Adds text that is valid UTF-8 and needs no escape.
    mutating func append(_ code: AttributeCode, plainText bytes: borrowing Span<UInt8>) {
        add(code, .text, upTo: bytes.count + 2) { output in
            output.append(UInt8(ascii: "\""))
            output.append(copying: bytes)
            output.append(UInt8(ascii: "\""))
        }
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
        add(code, .date, upTo: Timestamp.spellingLength + 2) { output in
            output.append(UInt8(ascii: "\""))
            date.spell(into: &output)
            output.append(UInt8(ascii: "\""))
        }
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

    /// Adds text that is valid UTF-8; `isPlain` if it needs no escape.
    private mutating func appendText(_ code: AttributeCode, _ bytes: borrowing Span<UInt8>, isPlain: Bool) {
        if isPlain { return append(code, plainText: bytes) }
        begin(code, .escapedText)
        CanonicalJSON.string(bytes, into: &members)
    }

    private mutating func begin(_ code: AttributeCode, _ form: AttributeForm) {
        add(code, form, upTo: 0) { _ in }
    }

    /// Adds the name of an attribute, and what `write` writes of its value, at most `size` bytes.
    ///
    /// The array is asked once whether it has room, and not for each piece.
    private mutating func add(
        _ code: AttributeCode, _ form: AttributeForm, upTo size: Int, _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        let comma = members.isEmpty ? 0 : 1
        let isNext = index.append(code, form, at: members.count + comma + AttributeCode.lineKeySize)
        precondition(isNext, "attributes are added in the order of their codes")
        let key = code.lineKey
        members.append(addingCapacity: comma + AttributeCode.lineKeySize + size) { output in
            if comma > 0 { output.append(UInt8(ascii: ",")) }
            for position in 0..<AttributeCode.lineKeySize {
                output.append(UInt8(truncatingIfNeeded: key >> UInt64(8 * position)))
            }
            write(&output)
        }
    }
}
