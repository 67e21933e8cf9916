internal import ByteStreams
internal import ItemSources

/// What the reader and the writer of CXF share.
enum CXF {
    /// Base 64 for addresses without padding (RFC 4648, section 5), for what is not secret.
    static func encode(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes, padded: false).replacing("+", with: "-").replacing("/", with: "_")
    }

    /// The credential that a secret is if it is a passkey in this format's words; nil if it is none.
    static func passkey(_ secret: borrowing SecretBytes) -> SecretBytes? {
        let document: ForeignJSON
        do throws(ForeignFailure) {
            document = try ForeignJSON(secret.copy())
        } catch {
            // The secret is something else, and goes as text.
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
