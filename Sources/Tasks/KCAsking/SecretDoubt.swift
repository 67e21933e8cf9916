package import KCByteStreams

/// Why a secret that looks right may be wrong, or what follows from its being wrong.
package enum SecretDoubt: Hashable, Sendable {
    /// The secret has letters that are encoded as a letter and a combining mark (not NFC).
    case decomposed
    /// The secret has letters that could also be encoded as a letter and a combining mark (NFC).
    case composed
    /// The next attempt is allowed after this many seconds.
    case wait(seconds: Int)

    /// Looks for a reason; nil if there is none, as for any ASCII secret.
    package init?(_ secret: borrowing SecretBytes) {
        let found: SecretDoubt? = secret.withBytes { bytes in
            do {
                let text = try UTF8Span(validating: bytes)
                if text.isKnownASCII { return nil }
                var scalars = text.makeUnicodeScalarIterator()
                var isComposed = false
                var last: Unicode.Scalar?
                while let scalar = scalars.next() {
                    if !Self.areComposed(last, scalar) { return .decomposed }
                    isComposed = isComposed || Self.mayBeDecomposed(scalar)
                    last = scalar
                }
                return isComposed ? .composed : nil
            } catch {
                // A secret that is not valid Unicode text has no other encoding.
                return nil
            }
        }
        guard let found else { return nil }
        self = found
    }

    /// True if a scalar and the one before it are in NFC.
    ///
    /// To find that out of the whole secret, the standard library would copy it to the heap, and not wipe the copy.
    private static func areComposed(_ last: Unicode.Scalar?, _ scalar: Unicode.Scalar) -> Bool {
        var pair = ""
        if let last { pair.unicodeScalars.append(last) }
        pair.unicodeScalars.append(scalar)
        var span = pair.utf8Span
        return span.checkForNFC(quickCheck: false)
    }

    /// True for accented letters and Korean syllables; the standard library has no API for decompositions.
    private static func mayBeDecomposed(_ scalar: Unicode.Scalar) -> Bool {
        if (0xac00...0xd7a3).contains(scalar.value) { return true }
        guard scalar.properties.isAlphabetic, let name = scalar.properties.name,
            let mark = name.firstRange(of: " WITH ")
        else { return false }
        return !name[mark.upperBound...].exact.hasPrefix("STROKE")
    }
}
