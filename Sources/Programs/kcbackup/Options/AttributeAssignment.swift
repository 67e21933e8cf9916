internal import ByteStreams
internal import KeychainModel

/// An attribute on the command line: `CODE=VALUE`, or `CODE:base64=VALUE` for bytes.
struct AttributeAssignment {
    let code: AttributeCode
    let value: AttributeValue

    private static let form = "CODE=VALUE or CODE:base64=VALUE"

    /// Parses `word`; the kind of the value depends on the attribute.
    ///
    /// - Throws: `UsageProblem.malformed`, `ItemProblem` (`unknownAttribute`, `wrongKind`).
    init(_ word: String, of option: OptionName) throws {
        guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw UsageProblem.malformed(option, form: Self.form)
        }
        let parts = word[..<equals].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        code = try Self.code(String(parts[0]))
        let text = String(word[word.utf8.index(after: equals)...])
        if parts.count == 2 {
            guard parts[1] == "base64", let bytes = Base64.decode(text) else {
                throw UsageProblem.malformed(option, form: Self.form)
            }
            value = .data(bytes)
        } else {
            value = try Self.value(text, code)
        }
    }

    /// The attribute with a four-letter code.
    ///
    /// - Throws: `ItemProblem.unknownAttribute`.
    static func code(_ text: String) throws(ItemProblem) -> AttributeCode {
        guard let code = AttributeCode(code: text) else { throw .unknownAttribute(text) }
        return code
    }

    private static func value(_ text: String, _ code: AttributeCode) throws(ItemProblem) -> AttributeValue {
        switch code.kind {
        case .string, .textOrData, .dataOrText: return .text(text)
        case .data: throw .wrongKind(code)
        case .number:
            guard let number = Int64(text) else { throw .wrongKind(code) }
            return .number(number)
        case .date:
            guard let date = Timestamp(text) else { throw .wrongKind(code) }
            return .date(date)
        }
    }
}
