internal import KCByteStreams
internal import KCItemSources

/// Helpers shared by the reader and the writer of CXF.
enum CXF {
    /// Encodes bytes that are not secret in base64url without padding (RFC 4648, section 5).
    static func encode(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes, padded: false).exact.replacing("+", with: "-").exact.replacing("/", with: "_")
    }

    /// The credential for a secret that is a passkey in the terms of this format; nil for any other secret.
    static func passkey(_ secret: borrowing SecretBytes) -> SecretBytes? {
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
