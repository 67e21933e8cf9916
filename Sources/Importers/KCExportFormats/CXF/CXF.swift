internal import KCByteStreams
internal import KCCryptography
package import KCItemSources

/// Helpers shared by the reader and the writer of CXF.
package enum CXF {
    /// The parameters of a one-time password that its credential has members for.
    package struct Code {
        package let period: Int
        package let digits: Int
        /// `sha1`, `sha256` or `sha512`.
        package let algorithm: String

        /// The parameters of an address; nil if they are others, as those of a counter or of Steam.
        package init?(_ parts: OneTimePasswordParts) {
            guard case .time(let period) = parts.parameters.kind,
                [.sha1, .sha256, .sha512].contains(parts.parameters.algorithm)
            else { return nil }
            self.period = period
            digits = parts.parameters.digits
            algorithm = parts.parameters.algorithm.rawValue.lowercased()
        }
    }

    /// The types of credentials that become objects, with the kinds of these objects.
    package static let objects: [(type: String, kind: String)] = [
        ("address", "address"), ("credit-card", "card"), ("drivers-license", "driver's license"),
        ("identity-document", "identity document"), ("passport", "passport"), ("person-name", "name"),
        ("api-key", "API key"),
    ]

    /// Encodes bytes that are not secret in base64url without padding (RFC 4648, section 5).
    package static func encode(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes, padded: false).exact.replacing("+", with: "-").exact.replacing("/", with: "_")
    }
}
