internal import CKCZxcvbn
internal import Glibc
internal import KCByteStreams
internal import KCCryptography

/// zxcvbn's estimate for a passcode: the number of guesses in bits, and the parts it was split into.
struct Estimate {
    /// The kind of a part.
    enum Kind: Hashable {
        case word, disguisedWord, knownWord, repetition, sequence, keyboard, date, year
        /// Unknown to zxcvbn: guessed letter by letter.
        case unknown
    }

    /// A run of bytes of the passcode.
    struct Part: Hashable {
        let kind: Kind
        /// The length in bytes.
        let length: Int
        /// True if the part is repeated consecutively.
        let isRepeated: Bool
    }

    /// The base-two logarithm of the guesses.
    let bits: Double
    /// The number of bytes that were judged.
    let length: Int
    /// The parts, first to last.
    let parts: [Part]

    private static let wordLengths = 3...64
    private static let wordLimit = 16

    /// Rates the first bytes of a passcode.
    init(_ passcode: borrowing SecretBytes, _ words: [String]) throws(CryptographyFailure) {
        let library = try Zxcvbn.load()
        // A C string for the library, in wiped memory. A zero byte would end it, so it is replaced with another control
        // character, which is just as far from any word or pattern.
        var text = SecretBytes(capacity: PasscodeStrength.judgedLength + 1)
        passcode.withBytes { bytes in
            for index in bytes.indices.prefix(PasscodeStrength.judgedLength) {
                text.append(bytes[index] == 0 ? 1 : bytes[index])
            }
        }
        length = text.count
        text.append(0)
        var parts: [Part] = []
        bits = unsafe Self.withWords(words) { words in
            text.withBytes { bytes in
                unsafe bytes.withUnsafeBufferPointer { buffer in
                    unsafe buffer.withMemoryRebound(to: CChar.self) { text in
                        var first: UnsafeMutablePointer<ZxcMatch_t>?
                        let bits = unsafe library.ZxcvbnMatch(text.baseAddress, words, &first)
                        unsafe parts = Self.parts(first)
                        unsafe library.ZxcvbnFreeInfo(first)
                        // A passcode that the library cannot rate must not count as strong.
                        return bits.isFinite ? max(0, bits) : 0
                    }
                }
            }
        }
        self.parts = parts
    }

    private static func parts(_ first: UnsafeMutablePointer<ZxcMatch_t>?) -> [Part] {
        var parts: [Part] = []
        var next = unsafe first
        while let match = unsafe next {
            let type = unsafe match.pointee.Type.rawValue
            let isRepeated = type & MULTIPLE_MATCH.rawValue != 0
            let kind = kind(ZxcTypeMatch_t(rawValue: type & ~MULTIPLE_MATCH.rawValue))
            parts.append(Part(kind: kind, length: Int(unsafe match.pointee.Length), isRepeated: isRepeated))
            unsafe next = match.pointee.Next
        }
        return parts
    }

    private static func kind(_ type: ZxcTypeMatch_t) -> Kind {
        switch type {
        case DICTIONARY_MATCH: .word
        case DICT_LEET_MATCH: .disguisedWord
        case USER_MATCH, USER_LEET_MATCH: .knownWord
        case REPEATS_MATCH: .repetition
        case SEQUENCE_MATCH: .sequence
        case SPATIAL_MATCH: .keyboard
        case DATE_MATCH: .date
        case YEAR_MATCH: .year
        default: .unknown
        }
    }

    /// Passes the words as a NULL-terminated array of C strings, in lower case as the library compares them.
    private static func withWords(
        _ words: [String], _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> Double
    ) -> Double {
        let usable = words.map { $0.lowercased() }
            .filter { wordLengths.contains($0.utf8.count) && !$0.utf8.contains(0) }
        var copies = unsafe usable.prefix(wordLimit).map { unsafe UnsafePointer(strdup($0)) }
        defer { unsafe copies.forEach { unsafe free(UnsafeMutableRawPointer(mutating: $0)) } }
        // If there is no memory for a word, the list ends there, and a name counts as ordinary text.
        unsafe copies.append(nil)
        return unsafe copies.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress) }
    }
}
