internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// An attribute on the command line: `NAME=VALUE`, or `NAME:base64=VALUE` for bytes (docs/attributes.md).
struct AttributeAssignment {
    let code: AttributeCode
    let value: AttributeValue

    private static let form = "NAME=VALUE or NAME:base64=VALUE"

    /// Parses `word`; the kind of the value depends on the attribute.
    ///
    /// - Throws: `UsageProblem.malformed`, `ItemProblem` (`unknownAttribute`, `wrongKind`, `unknownAccessibility`,
    ///   `unknownConstraint`).
    init(_ word: String, of option: OptionName) throws {
        guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw UsageProblem.malformed(option, form: Self.form)
        }
        let parts = word[..<equals].exact.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
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

    /// Returns the attribute with this code or name.
    static func code(_ text: String) throws(ItemProblem) -> AttributeCode {
        guard let code = AttributeCode(named: text) else { throw .unknownAttribute(text) }
        return code
    }

    private static func value(_ text: String, _ code: AttributeCode) throws(ItemProblem) -> AttributeValue {
        switch code.kind {
        case _ where code == .pdmn:
            guard let accessibility = Accessibility(argument: text) else { throw .unknownAccessibility }
            return .text(accessibility.rawValue)
        case _ where code == .accc:
            guard AccessConstraint(rawValue: text) != nil else { throw .unknownConstraint }
            return .text(text)
        case .string, .textOrData, .dataOrText: return .text(text)
        case .data: throw .wrongKind(code)
        case .number:
            if let number = Int64(text) { return .number(number) }
            guard code.isFourCharacters, let number = AttributeCode.number(ofFourCharacters: text) else {
                throw .wrongKind(code)
            }
            return .number(number)
        case .date:
            guard let date = Timestamp(text) else { throw .wrongKind(code) }
            return .date(date)
        }
    }
}
