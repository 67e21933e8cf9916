package import KCByteStreams
internal import KCKeychainModel

/// Appends a secret in the form that imports use: a string if it is text, otherwise `{"base64":"…"}`.
package func appendSecretJSON(_ secret: borrowing Span<UInt8>, to line: inout some ByteBuffer & ~Copyable) {
    if isText(secret) {
        CanonicalJSON.string(secret, into: &line)
    } else {
        CanonicalJSON.literal("{\"base64\":\"", into: &line)
        Base64.encode(secret, into: &line)
        CanonicalJSON.literal("\"}", into: &line)
    }
}

/// Appends a secret in a form that is safe on a terminal: text with misleading characters escaped, or bytes in
/// hexadecimal.
package func appendShown(_ secret: borrowing Span<UInt8>, to text: inout some ByteBuffer & ~Copyable) {
    guard isText(secret) else {
        text.append("(hexadecimal) ".utf8.span)
        for index in secret.indices {
            for digit in [secret[index] >> 4, secret[index] & 15] { text.append(digit < 10 ? digit + 48 : digit + 87) }
        }
        return
    }
    forEachScalar(secret) { scalar in
        // Convert one scalar at a time, so that no String holds the whole secret.
        let shown = displayed(String(scalar))
        text.append(shown.utf8.span)
    }
}

/// Appends JSON as ASCII only, so that nothing in it controls the terminal.
package func appendASCII(_ json: borrowing Span<UInt8>, to line: inout some ByteBuffer & ~Copyable) {
    appendPrintable(json, to: &line) { scalar, line in
        if scalar.value < 0x7f {
            line.append(UInt8(scalar.value))
        } else {
            for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter { appendEscape(unit, to: &line) }
        }
    }
}

/// Appends JSON with every character escaped that a terminal obeys or does not show.
///
/// Output to a pipe or a file is often shown in the end.
package func appendVisible(_ json: borrowing Span<UInt8>, to line: inout some ByteBuffer & ~Copyable) {
    appendPrintable(json, to: &line) { scalar, line in
        if scalar == "\n" || isHarmless(scalar) {
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { line.append(byte) }
        } else {
            for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter { appendEscape(unit, to: &line) }
        }
    }
}

/// Appends printable ASCII as it is, and calls `body` for every other character.
private func appendPrintable<Buffer: ByteBuffer & ~Copyable>(
    _ json: borrowing Span<UInt8>, to line: inout Buffer, _ body: (Unicode.Scalar, inout Buffer) -> Void
) {
    var position = 0
    while position < json.count {
        let end = json.endOfPrintableASCII(from: position)
        line.append(json.extracting(position..<end))
        position = end
        while position < json.count, !(0x20..<0x7f).contains(json[position]) { position += 1 }
        forEachScalar(json.extracting(end..<position)) { body($0, &line) }
    }
}

private func isText(_ bytes: borrowing Span<UInt8>) -> Bool {
    (try? UTF8Span(validating: bytes.extracting(...))) != nil
}

/// Visits the characters of valid UTF-8, one by one.
private func forEachScalar(_ text: borrowing Span<UInt8>, _ body: (Unicode.Scalar) -> Void) {
    guard let span = try? UTF8Span(validating: text.extracting(...)) else { return }
    var iterator = span.makeUnicodeScalarIterator()
    while let scalar = iterator.next() { body(scalar) }
}

private func appendEscape(_ unit: UInt16, to line: inout some ByteBuffer & ~Copyable) {
    line.append("\\u".utf8.span)
    for shift in [12, 8, 4, 0] {
        let digit = UInt8(unit >> UInt16(shift) & 15)
        line.append(digit < 10 ? digit + 48 : digit + 87)
    }
}
