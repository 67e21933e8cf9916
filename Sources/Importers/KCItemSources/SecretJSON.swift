package import KCByteStreams
internal import KCKeychainModel

/// A JSON object that is a secret, written member by member into wiped memory.
package struct SecretJSON: ~Copyable {
    private var bytes = SecretBytes(capacity: 512)

    /// Begins an object.
    package init() {}

    /// Adds text that is not a secret, if there is any.
    package mutating func add(_ name: String, _ text: String?) {
        guard let text else { return }
        begin(name)
        CanonicalJSON.string(text, into: &bytes)
    }

    /// Adds a number, if there is one.
    package mutating func add(_ name: String, _ number: Int64?) {
        guard let number else { return }
        begin(name)
        CanonicalJSON.integer(number, into: &bytes)
    }

    /// Adds valid UTF-8 as a string.
    package mutating func add(_ name: String, text: borrowing SecretBytes) {
        begin(name)
        text.withBytes { CanonicalJSON.string($0, into: &bytes) }
    }

    /// Adds a value that is already JSON.
    package mutating func add(_ name: String, json: borrowing SecretBytes) {
        begin(name)
        json.withBytes { bytes.append($0) }
    }

    /// The object.
    package consuming func finish() -> SecretBytes {
        if bytes.isEmpty { bytes.append(UInt8(ascii: "{")) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func begin(_ name: String) {
        bytes.append(UInt8(ascii: bytes.isEmpty ? "{" : ","))
        CanonicalJSON.string(name, into: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}
