internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// The description of an entry's codes in an authenticator's JSON; nil for what the JSON does not say.
struct AuthenticatorCode {
    /// `totp`, `hotp`, `steam` or another kind, in lower case.
    let type: String
    let algorithm: String?
    let digits: Int64?
    let period: Int64?
    let counter: Int64?

    /// How the codes are made; nil for a kind that only some authenticators know.
    ///
    /// - Throws: `ForeignFailure.damaged` for a value that no authenticator accepts.
    func parameters() throws(ForeignFailure) -> OneTimePasswordParameters? {
        let period = period ?? Int64(OneTimePasswordParameters.standardPeriod)
        let digits = digits ?? Int64(OneTimePasswordParameters.standardDigits)
        guard let period = Int(exactly: period), let digits = Int(exactly: digits),
            let counter = UInt64(exactly: counter ?? 0)
        else { throw .damaged("its counter is negative") }
        let kind: OneTimePasswordParameters.Kind
        switch type {
        case "totp": kind = .time(period: period)
        case "hotp": kind = .counter(counter)
        case "steam": kind = .steam(period: period)
        default: return nil
        }
        guard let algorithm = OneTimePasswordParameters.algorithm(named: algorithm ?? "SHA1") else {
            throw .damaged("its hash function is not known")
        }
        guard let parameters = OneTimePasswordParameters(kind, algorithm: algorithm, digits: digits) else {
            throw .damaged("its period or number of digits is out of range")
        }
        return parameters
    }
}

extension JSONRecords {
    /// Begins the record of an entry, and adds its one-time password.
    ///
    /// An entry with codes of a kind that an address cannot hold becomes an item as a whole.
    ///
    /// - Parameters:
    ///   - entry: the whole entry.
    ///   - id: its ID, if the format has one.
    ///   - issuer: the name of the service; may be empty.
    ///   - seed: in base32.
    ///   - hasOthers: true if the entry has other parts, which are kept if the code is damaged.
    func record(
        of entry: ForeignJSON.Value, id: String? = nil, issuer: String, user: String?, _ code: AuthenticatorCode,
        seed: borrowing SecretBytes?, hasOthers: Bool = false,
        prepare: (RecordWriter) throws(ForeignFailure) -> Void
    ) throws(ForeignFailure) {
        var parameters: OneTimePasswordParameters?
        let isSound = try collector.part("one-time password", of: issuer) { () throws(ForeignFailure) in
            parameters = try code.parameters()
        }
        let record: RecordWriter
        if let id {
            record = RecordWriter(collector, identity: id, title: issuer)
            record.id = id
        } else {
            let names = RecordWriter.names(title: issuer, addresses: [] as [String], user: user, password: nil)
            // Codes of a counter and of the time have identities of their own.
            let kind = if case .counter = parameters?.kind { "counter" } else { "time" }
            let identity = RecordWriter.identity(of: names + [kind])
            record = RecordWriter(
                collector, identity: identity, ordinal: collector.ordinal(of: identity), title: issuer)
        }
        try record.addUser(user)
        try prepare(record)
        guard let parameters else {
            // With its code refused by name, nothing of the entry is lost either.
            return try record.addObject(
                isSound ? "one-time password of another kind" : "damaged one-time password", json.source(entry))
        }
        switch seed {
        case .some(let seed): try record.addOneTimePassword(seed: seed, parameters)
        case .none where hasOthers: collector.refuse("one-time password", of: record.title, "it has no seed")
        case .none: throw .damaged("it has no seed")
        }
        try record.addUnread(of: entry, in: json)
    }
}

/// Opens what authenticators encrypt.
enum AuthenticatorSeal {
    /// The plaintext of AES-256-GCM; nil if the key is wrong or the ciphertext was altered.
    ///
    /// - Parameters:
    ///   - sealed: the ciphertext and its tag.
    ///   - nonce: 12 bytes.
    ///   - data: what is authenticated beside the ciphertext.
    /// - Throws: `CryptographyFailure`, but not `authentication`.
    static func open(
        _ sealed: [UInt8], key: borrowing SecretBytes, nonce: Nonce, associatedData data: [UInt8] = []
    ) throws(CryptographyFailure) -> SecretBytes? {
        var plaintext = SecretBytes(capacity: sealed.count)
        do throws(CryptographyFailure) {
            var cipher = try AuthenticatedCipher(.aes256GCM, key: key)
            try cipher.open(sealed.span, nonce: nonce, associatedData: data.span, into: &plaintext)
        } catch .authentication {
            return nil
        }
        return plaintext
    }
}
