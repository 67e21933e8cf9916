package import KCByteStreams
internal import KCCryptography

/// A secret that was set earlier, as it was read now: other programs, and the same line without its file, may have had it
/// with what Windows adds to lines and files, or without.
///
/// Only `tried` shows the bytes of what is tried, so that nothing is tried in one reading alone.
package final class SecretReadings {
    /// The forms that the secret may have.
    private enum Reading: CaseIterable {
        /// Without carriage returns before the end of the line, and without a byte order mark.
        case plain
        /// As it was read.
        case given
        case withReturn, withMark, withBoth
    }

    private let given: SecretBytes
    private let question: SecretQuestion
    private var right = Reading.plain

    /// Checks what was read.
    package init(_ given: consuming SecretBytes, _ wanted: WantedSecret) throws(SecretProblem) {
        question = wanted.question
        if given.isEmpty, !question.mayBeEmpty { throw .empty(question) }
        if given.holdsNUL { throw .holdsNUL(question) }
        self.given = given
    }

    /// The plain text, for a place where it is set.
    func chosen() throws(SecretProblem) -> SecretBytes {
        guard let plain = bytes(.plain) else { throw .empty(question) }
        return plain
    }

    /// Why it may be wrong in every reading; nil if there is no reason to see.
    package var doubt: SecretDoubt? { SecretDoubt(given) }

    /// Calls `use` with one reading after the other until one is not wrong; the one that was right is the first next time.
    ///
    /// - Parameters:
    ///   - isSpared: true to try only what was read, and that without its marks: each try counts.
    ///   - isWrong: tells whether an error of `use` means a wrong secret.
    ///   - onOther: called if the right reading has marks that the user did not choose.
    /// - Throws: what `use` throws; if all readings are wrong, what it threw first.
    package func tried<Result: ~Copyable>(
        isSpared: Bool, isWrong: (any Error) -> Bool, onOther: () -> Void,
        _ use: (borrowing SecretBytes) throws -> Result
    ) throws -> Result {
        var first: (any Error)?
        let others = Reading.allCases.filter { $0 != right && (!isSpared || $0 == .given || $0 == .plain) }
        for reading in [right] + others {
            guard let bytes = bytes(reading) else { continue }
            do {
                let result = try use(bytes)
                if reading != .plain, reading != right { onOther() }
                right = reading
                return result
            } catch {
                guard isWrong(error) else { throw error }
                first = first ?? error
            }
        }
        throw first ?? SecretProblem.empty(question)
    }

    /// The bytes of a reading; nil if an earlier one has the same, or if nothing is left.
    private func bytes(_ reading: Reading) -> SecretBytes? {
        var plain = given.copy()
        plain.removeLineMarks()
        if reading == .given {
            if plain.count == given.count { return nil }
            return given.copy()
        }
        if plain.isEmpty, reading != .plain || !question.mayBeEmpty { return nil }
        if reading == .plain { return plain }
        var bytes = SecretBytes(capacity: plain.count + 4)
        if reading != .withReturn { bytes.append(SecretBytes.byteOrderMark.span) }
        plain.withBytes { bytes.append($0) }
        if reading != .withMark { bytes.append(UInt8(ascii: "\r")) }
        if constantTimeEqual(bytes, given) { return nil }
        return bytes
    }
}

extension SecretBytes {
    fileprivate static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// Removes what Windows adds to lines and files: carriage returns at the end, and a byte order mark at the start.
    mutating func removeLineMarks() {
        let mark = Self.byteOrderMark
        while count >= mark.count, withBytes({ bytes in mark.indices.allSatisfy { bytes[$0] == mark[$0] } }) {
            removeFirst(mark.count)
        }
        while !isEmpty, withBytes({ $0[$0.count - 1] }) == UInt8(ascii: "\r") { removeLast(1) }
    }

    /// True if a zero byte is in it, which cannot be typed.
    var holdsNUL: Bool { withBytes { bytes in bytes.indices.contains { bytes[$0] == 0 } } }
}

extension SecretBytes {
    /// The properties that make a new secret hard to type as it is.
    var oddities: [SecretOddity] {
        var (isText, isInvisible, hasBlank) = (true, false, false)
        withBytes { bytes in
            do {
                var scalars = try UTF8Span(validating: bytes).makeUnicodeScalarIterator()
                var last: Unicode.Scalar?
                while let scalar = scalars.next() {
                    let properties = scalar.properties
                    if [.control, .format].contains(properties.generalCategory)
                        || properties.isDefaultIgnorableCodePoint
                    {
                        isInvisible = true
                    }
                    if last == nil, properties.isWhitespace { hasBlank = true }
                    last = scalar
                }
                if last?.properties.isWhitespace == true { hasBlank = true }
            } catch {
                isText = false
            }
        }
        let found: [(Bool, SecretOddity)] = [
            (!isText, .notText), (isInvisible, .invisible), (hasBlank, .blank),
            (SecretDoubt(self) == .decomposed, .decomposed),
        ]
        return found.compactMap { $0 ? $1 : nil }
    }
}

/// A property that makes a new secret hard to type.
package enum SecretOddity: Hashable, Sendable {
    /// The secret is not UTF-8.
    case notText
    /// The secret has invisible characters.
    case invisible
    /// The secret begins or ends with a blank.
    case blank
    /// The secret spells accented letters as letter and mark (NFD).
    case decomposed
}
