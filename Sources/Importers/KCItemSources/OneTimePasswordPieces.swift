internal import KCByteStreams

/// An address of a one-time password, cut where its delimiters are.
struct OneTimePasswordPieces {
    /// A parameter behind the `?`.
    struct Parameter {
        /// In lower case.
        let name: String
        let value: Range<Int>
        /// The name, the `=` and the value.
        let whole: Range<Int>
    }

    private static let scheme = Array("otpauth://".utf8)

    /// `totp`, `hotp` or another kind, in lower case.
    let type: String
    /// The position; nil if no `/` follows the kind, as in the addresses that Apple Passwords writes.
    let label: Range<Int>?
    /// The parameters in their order; some programs repeat one.
    let parameters: [Parameter]

    /// Cuts an address; nil for other text.
    init?(_ bytes: borrowing Span<UInt8>) {
        // The scheme may be in upper case too, as in codes of a denser kind.
        guard bytes.count > Self.scheme.count,
            Self.scheme.indices.allSatisfy({ bytes[$0].lowercased == Self.scheme[$0] })
        else { return nil }
        let start = Self.scheme.count
        let query = (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "?") } ?? bytes.count
        let slash = (start..<query).first { bytes[$0] == UInt8(ascii: "/") }
        guard let type = Self.text(start..<(slash ?? query), bytes)?.lowercased() else { return nil }
        self.type = type
        label = slash.map { $0 + 1..<query }
        var parameters: [Parameter] = []
        var position = query + 1
        while position < bytes.count {
            let end = (position..<bytes.count).first { bytes[$0] == UInt8(ascii: "&") } ?? bytes.count
            let equals = (position..<end).first { bytes[$0] == UInt8(ascii: "=") } ?? end
            guard let name = Self.text(position..<equals, bytes)?.lowercased() else { return nil }
            if position < equals {
                parameters.append(
                    Parameter(name: name, value: min(equals + 1, end)..<end, whole: position..<end))
            }
            position = end + 1
        }
        self.parameters = parameters
    }

    /// The parameters of this name, in their order.
    func all(_ name: String) -> [Parameter] { parameters.filter { $0.name.exact == name.exact } }

    /// The texts of all parameters but the seed and Ente's data, by name; nil if one is not UTF-8.
    ///
    /// The first of several counts, as for most authenticators.
    func values(in bytes: borrowing Span<UInt8>) -> [ExactText: String]? {
        var values: [ExactText: String] = [:]
        for parameter in parameters where !["secret", "codedisplay"].contains(parameter.name) {
            guard let value = Self.text(parameter.value, bytes, isQuery: true) else { return nil }
            // A value that is left empty is no value.
            if values[parameter.name.exact] == nil, !value.isEmpty { values[parameter.name.exact] = value }
        }
        return values
    }

    /// The issuer and the name of the user in the label; nil if it is not UTF-8.
    func names(in bytes: borrowing Span<UInt8>) -> (issuer: String?, user: String?)? {
        guard let label else { return (nil, nil) }
        guard let text = Self.text(label, bytes) else { return nil }
        let parts = text.exact.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = (parts.last ?? "").drop { $0 == " " }
        return (parts.count == 2 ? parts[0] : nil, name.isEmpty ? nil : String(name))
    }

    /// - Parameter isQuery: true for a value behind `?`, in which some programs write a space as `+`.
    private static func text(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>, isQuery: Bool = false) -> String? {
        String(validating: range.map { isQuery && bytes[$0] == UInt8(ascii: "+") ? 0x20 : bytes[$0] }, as: UTF8.self)
            .flatMap { WebAddress.percentDecoded($0) }
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self }
}
