package import KCByteStreams
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

    /// Encodes bytes that are not secret in base64url without padding (RFC 4648, section 5).
    static func encode(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes, padded: false).exact.replacing("+", with: "-").exact.replacing("/", with: "_")
    }

    /// The credential for a secret that is a passkey in the terms of this format; nil for any other secret.
    package static func passkey(_ secret: borrowing SecretBytes) -> SecretBytes? {
        let document: ForeignJSON
        do throws(ForeignFailure) {
            document = try ForeignJSON(secret.copy())
        } catch {
            // The secret is not JSON, and is exported as text.
            return nil
        }
        let members = document.root.members
        for name in ["credentialId", "rpId", "key"] where document.root[name]?.isString != true { return nil }
        var object = SecretJSON()
        object.add("type", "passkey")
        for member in members where member.name != "type" {
            object.add(member.name, json: document.source(member.value))
        }
        return object.finish()
    }
}
