internal import KCByteStreams
internal import KCKeychainModel

/// The form of the secret in a secrets line.
package enum CarriedForm: String, Hashable, Sendable, CaseIterable {
    /// In plaintext, within the encryption of the stream.
    case plain = "secret"
    /// Sealed for the device that made the archive.
    case sealed
    /// As the keychain file stores it.
    case stored
}

/// A line of the secrets stream: the UUID of the item and its secret in base64 (docs/format.md, "Secrets lines").
enum SecretLine {
    /// Appends the line; `form` is nil if the item has no secret.
    static func encode(
        _ uuid: ItemUUID, _ form: CarriedForm?, _ secret: borrowing SecretBytes, into line: inout SecretBytes
    ) {
        CanonicalJSON.literal("{\"uuid\":\"", into: &line)
        line.append(upTo: ItemUUID.spellingLength) { output in uuid.spell(into: &output) }
        if let form {
            CanonicalJSON.literal("\",\"", into: &line)
            CanonicalJSON.literal(form.rawValue, into: &line)
            CanonicalJSON.literal("\":\"", into: &line)
            secret.withBytes { bytes in Base64.encode(bytes, into: &line) }
        }
        CanonicalJSON.literal("\"}", into: &line)
    }

    /// Reads a line, which must belong to `item`, and stores its secret in `secret`.
    static func decode(
        _ bytes: borrowing Span<UInt8>, of item: Item, into secret: inout SecretBytes
    ) throws(MalformedLine) -> CarriedForm? {
        secret.removeAll()
        var scanner = CanonicalScanner()
        try scanner.literal("{\"uuid\":\"", in: bytes)
        let spelling = try scanner.take(ItemUUID.spellingLength, in: bytes)
        guard ItemUUID(parsing: bytes.extracting(spelling)) == item.uuid else {
            throw MalformedLine("a secret belongs to another item", at: scanner.position)
        }
        var form: CarriedForm?
        if scanner.skip("\",\"", in: bytes) {
            form = CarriedForm.allCases.first { scanner.skip($0.rawValue, in: bytes) }
            guard form != nil else { throw MalformedLine("the form of the secret is unknown", at: scanner.position) }
            try scanner.literal("\":", in: bytes)
            try scanner.base64(in: bytes, into: &secret)
            try scanner.literal("}", in: bytes)
        } else {
            try scanner.literal("\"}", in: bytes)
        }
        try scanner.end(in: bytes)
        return form
    }
}
