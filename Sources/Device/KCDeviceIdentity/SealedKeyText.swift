internal import KCByteStreams
internal import KCCryptography

/// The contents of a device key file whose key a chip holds; nothing in it is secret.
///
/// ```
/// # kcbackup device key of KC-…, held by the TPM of this machine: a copy of this file opens nothing
/// tpm sealed 1
/// parent the name of the key that it is sealed under, in hexadecimal digits
/// public Base64
/// private Base64
/// signer Base64 of the Ed25519 public key of the device
/// born tpm 2026-11-21, or born file, and the day on which it was sealed
/// copied 2026-11-25, the day of the last copy outside the chip, if there is one
/// machine 64 hexadecimal digits, or none
/// mac HMAC-SHA-256 of the lines before it, under a key of the device
/// check SHA-256 of the lines before it
/// ```
///
/// A text has exactly one spelling. The last line detects damage without the chip; the one before it, with the chip, any
/// change by somebody else.
struct SealedKeyText: Hashable, Sendable {
    /// The public and private parts have about 50 and 160 bytes; this is far more than any chip returns.
    private static let partLimit = 1024
    private static let beginning = "tpm "
    private static let version = "tpm sealed 1"

    /// The 32 random bytes, sealed.
    let sealed: SealedSecret
    /// The 32-byte Ed25519 public key.
    let signer: [UInt8]
    /// How the key came to the chip, and whether it has left it.
    let history: SealedKeyHistory
    /// The machine on which the key was created or adopted.
    let machine: MachineIdentity
    private let code: [UInt8]

    /// Describes a key that was just sealed, or whose file changes.
    ///
    /// - Parameter secrets: the keys of the device itself, which authenticate the text.
    init(
        sealed: SealedSecret, history: SealedKeyHistory, machine: MachineIdentity, by secrets: SoftwareSecrets
    ) throws(CryptographyFailure) {
        let signer = try secrets.signingPublicKey()
        let text = Self(sealed: sealed, signer: signer, history: history, machine: machine, code: [])
        self.init(
            sealed: sealed, signer: signer, history: history, machine: machine, code: try text.expectedCode(secrets))
    }

    private init(
        sealed: SealedSecret, signer: [UInt8], history: SealedKeyHistory, machine: MachineIdentity, code: [UInt8]
    ) {
        self.sealed = sealed
        self.signer = signer
        self.history = history
        self.machine = machine
        self.code = code
    }

    /// The device that the key is of.
    var device: DeviceID { DeviceID(publicKey: signer) }

    /// True for a text about a key in a chip, whole or not.
    static func describes(_ text: borrowing SecretBytes) -> Bool {
        text.withBytes { bytes in
            var isSealed = false
            bytes.forEachLine { line, _ in if line.starts(with: beginning) { isSealed = true } }
            return isSealed
        }
    }

    /// Parses the text of a file.
    ///
    /// - Throws: `DeviceKeyText.Malformed` with the violated rule.
    init(parsing text: borrowing SecretBytes) throws(DeviceKeyText.Malformed) {
        let bytes = text.withBytes { span in span.indices.map { span[$0] } }
        var lines = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        lines.removeAll { $0.exact.hasPrefix("#") }
        guard lines.first.map({ $0.exact == Self.version.exact }) == true else {
            throw DeviceKeyText.Malformed(rule: "another version of this program wrote it")
        }
        var fields = StateFields()
        for line in lines.dropFirst() {
            let words = line.exact.split(separator: " ", maxSplits: 1)
            if words.count == 2 { fields.add(words[0], words[1]) }
        }
        guard let text = Self(fields), text.encoded == bytes else {
            throw DeviceKeyText.Malformed(rule: "a line in it was changed, or is missing")
        }
        self = text
    }

    private init?(_ fields: StateFields) {
        func value(_ name: String) -> String? { fields.values(name).first }
        func part(_ name: String) -> [UInt8]? {
            value(name).flatMap { Base64.decode($0) }.flatMap { (1...Self.partLimit).contains($0.count) ? $0 : nil }
        }
        guard let parent = value("parent").flatMap({ Hexadecimal.decode($0) }),
            (1...Self.partLimit).contains(parent.count),
            let publicPart = part("public"), let privatePart = part("private"),
            let signer = part("signer"), signer.count == 32,
            let history = SealedKeyHistory(born: value("born"), copied: value("copied")),
            let machine = value("machine").flatMap({ MachineIdentity(parsing: $0) }),
            let code = value("mac").flatMap({ Hexadecimal.decode($0) }), code.count == 32
        else { return nil }
        self.init(
            sealed: SealedSecret(parent: parent, publicPart: publicPart, privatePart: privatePart), signer: signer,
            history: history, machine: machine, code: code)
    }

    /// The text of a file.
    var encoded: [UInt8] {
        let text = authenticated + Array("mac \(Hexadecimal.encode(code))\n".utf8)
        return text + Array("check \(SHA256.hash(text.span).hex)\n".utf8)
    }

    private var authenticated: [UInt8] {
        var fields = StateFields()
        fields.add("parent", Hexadecimal.encode(sealed.parent))
        fields.add("public", Base64.encode(sealed.publicPart))
        fields.add("private", Base64.encode(sealed.privatePart))
        fields.add("signer", Base64.encode(signer))
        fields.add("born", history.born)
        fields.add("copied", history.copied?.description)
        fields.add("machine", machine.description)
        let title =
            "# kcbackup device key of \(device), held by the TPM of this machine: a copy of this file opens nothing\n"
        return Array("\(title)\(Self.version)\n".utf8) + fields.encoded
    }

    /// True if the owner of the key wrote the text.
    func isGenuine(_ secrets: SoftwareSecrets) throws(CryptographyFailure) -> Bool {
        constantTimeEqual(code, try expectedCode(secrets))
    }

    private func expectedCode(_ secrets: SoftwareSecrets) throws(CryptographyFailure) -> [UInt8] {
        let info = DerivationLabel.stateMAC.bytes + Array("device key file".utf8)
        var hmac = try HMAC(key: secrets.expand(info: info, count: 32))
        return try hmac.authenticate(authenticated.span)
    }
}

/// How a key came to the chip that holds it, and whether a copy has left it.
package struct SealedKeyHistory: Hashable, Sendable {
    /// Where the key was made.
    package enum Origin: String, Hashable, Sendable {
        /// In a file, copies of which may still exist.
        case file
        /// In memory, from where it went to the chip only.
        case tpm
    }

    /// Where the key was made.
    package let origin: Origin
    /// The day on which it was sealed.
    package let sealed: KeyDay
    /// The day of the last copy outside the chip; nil if there is none since.
    package let copied: KeyDay?

    /// Describes a key that was sealed on a day.
    package init(origin: Origin, sealed: KeyDay, copied: KeyDay? = nil) {
        self.origin = origin
        self.sealed = sealed
        self.copied = copied
    }

    fileprivate init?(born: String?, copied: String?) {
        guard let words = born?.exact.split(separator: " "), words.count == 2,
            let origin = Origin(rawValue: words[0]), let sealed = KeyDay(words[1])
        else { return nil }
        var day: KeyDay?
        if let copied {
            guard let parsed = KeyDay(copied) else { return nil }
            day = parsed
        }
        self.init(origin: origin, sealed: sealed, copied: day)
    }

    fileprivate var born: String { "\(origin.rawValue) \(sealed)" }
}

/// A day, as in `2026-11-21`.
package struct KeyDay: Hashable, Sendable, LosslessStringConvertible {
    /// The day as text.
    package let description: String

    /// Creates a day of the calendar, in the years 0 to 9999.
    package init(year: Int, month: Int, day: Int) {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = "\(max(0, number))"
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        description = "\(digits(min(year, 9999), 4))-\(digits(month, 2))-\(digits(day, 2))"
    }

    /// Parses a day; nil for text of another form.
    package init?(_ description: String) {
        let parts = description.exact.split(separator: "-")
        guard parts.count == 3, parts[0].utf8.count == 4, parts[1].utf8.count == 2, parts[2].utf8.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } })
        else { return nil }
        self.description = description
    }
}
