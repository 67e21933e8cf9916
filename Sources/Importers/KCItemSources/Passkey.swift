package import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// A passkey: a credential of WebAuthn with its private key, in the words of FIDO's Credential Exchange Format.
///
/// An item has it as a JSON object, whichever program it came from.
///
/// ```swift
/// let passkey = Passkey(id: "b64.AQID", host: "example.com", key: pem)
/// try record.addPasskey(passkey)
/// ```
package struct Passkey: ~Copyable {
    /// The ID of the credential, in base64url without padding; empty if the program has none.
    package let id: String
    /// The relying party, a host name.
    package let host: String
    package var userName: String?
    package var displayName: String?
    /// In base64url without padding.
    package var userHandle: String?
    /// The private key: PKCS #8 in base64url without padding; anything else as it is, if it is not a key.
    package let key: SecretBytes
    /// False if the key is none that libcrypto reads.
    package let isKey: Bool
    /// Members that the format does not name, in their order, and its extensions.
    package var others: [(name: String, value: ExportedText)] = []

    /// Takes a passkey in the forms of other programs.
    ///
    /// - Parameters:
    ///   - id: in base64 of any form, a UUID, or with Bitwarden's `b64.` before it.
    ///   - key: PKCS #8 or SEC 1, in base64 of any form or as PEM, whose lines may be joined.
    package init(id: String, host: String, key: borrowing SecretBytes) {
        self.id = Self.identifier(id)
        self.host = host
        let normal = PasskeyKey.normal(key)
        switch consume normal {
        case .some(let normal):
            self.key = normal
            isKey = true
        case .none:
            self.key = key.copy()
            isKey = false
        }
    }

    /// Reads an object of the Credential Exchange Format; nil for any other text.
    package init?(json text: borrowing SecretBytes) {
        let document: ForeignJSON
        do throws(ForeignFailure) {
            document = try ForeignJSON(text.copy())
        } catch {
            // The secret is not JSON, and is exported as text.
            return nil
        }
        self.init(document.root, in: document)
    }

    /// Reads an object of the Credential Exchange Format; nil for any other value.
    package init?(_ object: ForeignJSON.Value, in json: ForeignJSON) {
        guard let id = json.text(object["credentialId"]), let host = json.text(object["rpId"]),
            let key = json.secret(object["key"])
        else { return nil }
        self.init(id: id, host: host, key: key)
        userName = json.text(object["username"]) ?? json.text(object["userName"])
        displayName = json.text(object["userDisplayName"])
        userHandle = json.text(object["userHandle"]).map(Self.unpadded)
        let known = ["type", "credentialId", "rpId", "key", "username", "userName", "userDisplayName", "userHandle"]
        // A member of another kind than the format says is kept as it is.
        for member in object.members where !known.contains(member.name) || !member.value.isString {
            others.append((member.name, ExportedText(json.source(member.value))))
        }
    }

    /// Adds a text that the format does not name, if there is one.
    package mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        var text = SecretBytes(capacity: value.utf8.count + 2)
        CanonicalJSON.string(value, into: &text)
        others.append((name, ExportedText(text)))
    }

    /// The text of a member that the format does not name; nil if there is none, or if it is no string.
    package func text(_ name: String) -> String? {
        guard let other = others.first(where: { $0.name.exact == name.exact }) else { return nil }
        var array = SecretBytes(copying: "[".utf8)
        other.value.bytes.withBytes { array.append($0) }
        array.append(UInt8(ascii: "]"))
        do throws(ForeignFailure) {
            let json = try ForeignJSON(array)
            return json.text(json.root.values.first)
        } catch {
            return nil
        }
    }

    /// The object.
    ///
    /// - Parameter type: true to begin with the type, as a list of credentials has it.
    package func json(withType type: Bool = false) -> SecretBytes {
        var object = SecretJSON()
        if type { object.add("type", "passkey") }
        object.add("credentialId", id.isEmpty ? nil : id)
        object.add("rpId", host)
        object.add("username", userName)
        object.add("userDisplayName", displayName)
        object.add("userHandle", userHandle)
        object.add("key", text: key)
        for other in others { object.add(other.name, json: other.value.bytes) }
        return object.finish()
    }

    /// True if both are the same credential, with the same key and names.
    package func isSame(as other: borrowing Passkey) -> Bool {
        id.exact == other.id.exact && host.exact == other.host.exact && key.isEqual(to: other.key)
            && (userHandle ?? "").exact == (other.userHandle ?? "").exact
            && (userName ?? "").exact == (other.userName ?? "").exact
    }

    /// True if an object is this passkey.
    static func isSame(_ passkey: borrowing Passkey, _ json: borrowing SecretBytes) -> Bool {
        guard let own = Passkey(json: json) else { return false }
        return own.isSame(as: passkey)
    }

    private static func identifier(_ text: String) -> String {
        if let rest = text.exact.removingPrefix("b64.") { return unpadded(rest) }
        if let uuid = ItemUUID(text) { return unpadded(Base64.encode(uuid.bytes)) }
        return unpadded(text)
    }

    /// Text in base64 of any form as base64url without padding; any other text as it is.
    package static func unpadded(_ text: String) -> String {
        text.exact.replacing("+", with: "-").exact.replacing("/", with: "_").exact.replacing("=", with: "")
    }
}

/// Text in wiped memory.
package final class ExportedText: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// The private key of a passkey.
package enum PasskeyKey {
    /// PKCS #8 in base64url without padding; nil for anything that is not a private key.
    static func normal(_ text: borrowing SecretBytes) -> SecretBytes? {
        guard let der = decoded(text) else { return nil }
        return der.withBytes { bytes in
            do throws(CertificateFailure) {
                let key = try PrivateKey(der: bytes)
                // The bytes stay as they are if they have the right form.
                return base64URL(CertificateFormat(of: bytes) == .pkcs8 ? SecretBytes(bytes) : try key.pkcs8())
            } catch {
                // Whatever libcrypto cannot read is no key of a passkey.
                return nil
            }
        }
    }

    /// True for a key of the curve P-256, the only one that some programs have.
    package static func isP256(_ key: borrowing SecretBytes) -> Bool {
        guard let der = decoded(key) else { return false }
        return der.withBytes { bytes in
            do throws(CertificateFailure) {
                let key = try PrivateKey(der: bytes)
                return key.kind == .ec && key.sizeInBits == 256
            } catch {
                return false
            }
        }
    }

    /// The key in PEM, as OpenSSL writes it.
    package static func pem(_ key: borrowing SecretBytes) -> SecretBytes? {
        guard let der = decoded(key) else { return nil }
        var text = SecretBytes(copying: "-----BEGIN PRIVATE KEY-----\n".utf8)
        var base64 = SecretBytes(capacity: der.count * 2)
        der.withBytes { Base64.encode($0, into: &base64) }
        base64.withBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 64) {
                text.append(bytes.extracting(start..<min(start + 64, bytes.count)))
                text.append(0x0a)
            }
        }
        text.append(utf8: "-----END PRIVATE KEY-----\n")
        return consume text
    }

    /// Decodes base64 of either alphabet, with or without padding, white space and the lines of PEM around it.
    private static func decoded(_ text: borrowing SecretBytes) -> SecretBytes? {
        var base64 = SecretBytes(capacity: text.count + 4)
        text.withBytes { bytes in
            var index = 0
            while index < bytes.count {
                let rest = bytes.extracting(index...)
                if rest.starts(with: "-----") {
                    // The label of a line of PEM ends with dashes again.
                    index += 5
                    while index < bytes.count, !bytes.extracting(index...).starts(with: "-----") { index += 1 }
                    index += 5
                    continue
                }
                switch bytes[index] {
                case 0x20, 0x09, 0x0a, 0x0d, UInt8(ascii: "="): break
                case UInt8(ascii: "-"): base64.append(UInt8(ascii: "+"))
                case UInt8(ascii: "_"): base64.append(UInt8(ascii: "/"))
                case let byte: base64.append(byte)
                }
                index += 1
            }
        }
        while base64.count % 4 != 0 { base64.append(UInt8(ascii: "=")) }
        var der = SecretBytes(capacity: base64.count)
        guard !base64.isEmpty, base64.withBytes({ Base64.decode($0, into: &der) }) else { return nil }
        return consume der
    }

    /// Bytes in base64url without padding.
    package static func base64URL(_ der: borrowing SecretBytes) -> SecretBytes {
        var text = SecretBytes(capacity: der.count * 4 / 3 + 4)
        der.withBytes { Base64.encode($0, into: &text) }
        var url = SecretBytes(capacity: text.count)
        text.withBytes { bytes in
            for index in bytes.indices {
                switch bytes[index] {
                case UInt8(ascii: "+"): url.append(UInt8(ascii: "-"))
                case UInt8(ascii: "/"): url.append(UInt8(ascii: "_"))
                case UInt8(ascii: "="): break
                case let byte: url.append(byte)
                }
            }
        }
        return url
    }
}
