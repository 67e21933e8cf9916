internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// The encryption of an Aegis vault: AES-256-GCM under a master key, of which each slot has a copy.
struct AegisSeal {
    /// A copy of the master key, encrypted under a password.
    private struct Slot {
        let key: SealedHex
        let salt: [UInt8]
        let cost: ScryptCost
    }

    /// A ciphertext with its tag, and its nonce, in hexadecimal digits.
    private struct SealedHex {
        let sealed: [UInt8]
        let nonce: Nonce

        init(_ sealed: [UInt8], _ parameters: ForeignJSON.Value?, in json: ForeignJSON) throws(ForeignFailure) {
            guard let nonce = AegisSeal.bytes(parameters?["nonce"], in: json).flatMap({ Nonce(bytes: $0) }),
                let tag = AegisSeal.bytes(parameters?["tag"], in: json), tag.count == authenticationTagLength
            else { throw .damaged("the nonce or the tag of its encryption is missing") }
            self.sealed = sealed + tag
            self.nonce = nonce
        }
    }

    /// Aegis uses 2^15; more than 2^20 would take 1 GiB.
    private static let costLimit = 20
    /// A vault has one password, and sometimes one for its backups.
    private static let slotLimit = 16
    private static let passwordSlot: Int64 = 1

    private let slots: [Slot]
    private let contents: SealedHex

    /// Reads the parameters of a vault's encryption.
    init(_ json: ForeignJSON) throws(ForeignFailure) {
        let header = json.root["header"]
        guard let text = json.text(json.root["db"]), let data = Base64.decode(text) else {
            throw .damaged("its contents are not base64")
        }
        contents = try SealedHex(data, header?["params"], in: json)
        var slots: [Slot] = []
        for slot in try json.list(header?["slots"], required: "its list of keys")
        where json.integer(slot["type"]) == Self.passwordSlot {
            slots.append(try Self.slot(slot, in: json))
        }
        guard slots.count <= Self.slotLimit else {
            throw .limit("keys", found: UInt64(slots.count), allowed: UInt64(Self.slotLimit))
        }
        if slots.isEmpty {
            throw .refused(
                title: "an Aegis vault that no password opens",
                hint: "in Aegis, set a password for backups, or export without encryption")
        }
        self.slots = slots
    }

    /// The contents.
    ///
    /// - Throws: `ForeignFailure`, `CryptographyFailure`, and what `secrets` throws.
    func open(_ secrets: any ForeignSecrets) throws -> ForeignJSON {
        var opened: ForeignJSON?
        try secrets.password(.file(.aegis)) { password in
            guard let key = try masterKey(password) else { throw ForeignFailure.wrongPassword }
            guard key.count == 32,
                let plaintext = try AuthenticatorSeal.open(contents.sealed, key: key, nonce: contents.nonce)
            else { throw ForeignFailure.damaged("its contents were altered") }
            opened = try ForeignJSON(plaintext)
        }
        guard let opened else { throw ForeignFailure.wrongPassword }
        return opened
    }

    /// The master key; nil if the password opens no slot.
    private func masterKey(_ password: borrowing SecretBytes) throws(CryptographyFailure) -> SecretBytes? {
        for slot in slots {
            let key = try Scrypt.derive(passphrase: password, salt: slot.salt, cost: slot.cost, count: 32)
            if let master = try AuthenticatorSeal.open(slot.key.sealed, key: key, nonce: slot.key.nonce) {
                return master
            }
        }
        return nil
    }

    private static func slot(_ slot: ForeignJSON.Value, in json: ForeignJSON) throws(ForeignFailure) -> Slot {
        guard let key = bytes(slot["key"], in: json), let salt = bytes(slot["salt"], in: json),
            let n = json.integer(slot["n"]), let r = json.integer(slot["r"]), let p = json.integer(slot["p"])
        else { throw .damaged("a part of its key is missing") }
        guard r == 8, p == 1, n > 1, n.nonzeroBitCount == 1 else {
            throw .unknownVariant("scrypt with N = \(n), r = \(r), p = \(p)")
        }
        guard n.trailingZeroBitCount <= costLimit, let cost = ScryptCost(logN: n.trailingZeroBitCount) else {
            throw .limit("'n' of scrypt", found: UInt64(n), allowed: 1 << UInt64(costLimit))
        }
        return Slot(key: try SealedHex(key, slot["key_params"], in: json), salt: salt, cost: cost)
    }

    /// Bytes in hexadecimal digits, which are not secret; nil if they are missing or malformed.
    private static func bytes(_ value: ForeignJSON.Value?, in json: ForeignJSON) -> [UInt8]? {
        guard let text = json.secret(value) else { return nil }
        let bytes = text.withBytes { $0.bytes(ofHexadecimal: $0.indices) }
        return bytes?.withBytes { $0.array($0.indices) }
    }
}
