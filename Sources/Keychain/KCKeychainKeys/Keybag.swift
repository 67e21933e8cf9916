internal import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// The wrapped class keys of a keychain, as one canonical JSON text (docs/keychain-file.md, "Keybag").
///
/// ```
/// {"version":1,"uuid":"…","device":"KC-…","generation":2,"salt":"…",
///  "keys":{"ak":"…","akpu":"…","aku":"…","ck":"…","cku":"…","dk":"…","dku":"…"},
///  "presence":{"device-passcode":["…","…"],"user-presence":["…","…"]},"retired":["…"],
///  "scrypt":17,"passcode":"…","lockAfter":300,"lockOnSuspend":true,
///  "escrow":{"since":"…","key":"…","share":"…","keys":"…","code":"…"},
///  "tokens":[{"name":"…","since":"…","credential":["…","…"],"salt":"…","key":"…","share":"…","wrapped":"…","code":"…"}],
///  "files":{"complete":["…"],"unless-open":["…"],"until-first-unlock":["…"],"public":"…"},"mac":"…"}
/// ```
///
/// There is no white space, and bytes are in base64. `keys` holds 32-byte class keys wrapped with AES-KW (RFC 3394), and
/// `presence` public halves of presence keys with the private ones, wrapped. Without a passcode, `akpu`, `presence`,
/// `scrypt` and `passcode` are absent. `passcode` is HMAC-SHA-256 of the text before its
/// comma, under a key derived from passcode and device; `mac` is the same for the text before its own comma, under a
/// key of the device.
///
/// `retired` holds the class keys of earlier generations, newest first (`RetiredKeys`), and `escrow` the current ones
/// for a backup (`EscrowRecord`). `tokens` holds the presence key `user-presence` for security tokens (`TokenRecord`).
/// `files` holds the key pairs of files (`WrappedFileKeys`). After `scrypt` may come `tpm`, a share of the passcode's
/// keys that a chip guards (`GuardedSecret`). All five may be absent, and so are lock settings that are the default.
/// `passcode` is always computed over the text with default lock settings and without `escrow`, `tokens` and `files`, so
/// that these can be changed without setting the passcode.
package struct Keybag: Hashable, Sendable {
    /// Identifies the keybag; unchanged when passcode and class keys change.
    package let uuid: ItemUUID
    /// The device whose key opens it.
    package let device: DeviceID
    /// The number of passcode changes, from 1.
    package let generation: Int
    /// The scrypt cost of one passcode attempt; nil without a passcode.
    package let cost: ScryptCost?
    /// When the keychain locks automatically.
    package let lockSettings: LockSettings
    /// Class keys for the holder of an escrow key; nil if escrow is not enabled.
    package let escrow: EscrowRecord?
    /// The security tokens that open items with `user-presence`, in the order in which they were enrolled.
    package let tokens: [TokenRecord]
    /// The keys of files, of the classes for which there are any.
    let files: WrappedFileKeys
    /// A share of the keys of the passcode that a chip guards; nil if none counts wrong passcodes.
    let guarded: GuardedSecret?
    /// The canonical text.
    package let text: [UInt8]

    /// 32 random bytes, new with each passcode.
    package let salt: [UInt8]
    let wrappedKeys: [Accessibility: [UInt8]]
    /// The presence keys; all of them with a passcode, none without.
    let presence: [AccessConstraint: WrappedPresenceKey]
    /// The class keys of earlier generations, newest first, each set wrapped under the current ones.
    let retired: [[UInt8]]
    /// The code that verifies the passcode.
    let passcodeCode: [UInt8]?
    let deviceCode: [UInt8]

    /// True if opening it requires a passcode.
    package var hasPasscode: Bool { cost != nil }

    /// The maximum size in bytes: 2.8 KiB, 431 bytes for each retired set, 2 KiB for each token, and 6 KiB for the keys of
    /// files.
    ///
    /// The archive header that contains it, without tokens and keys of files, may have 16 KiB.
    package static let sizeLimit = 13_312 + tokenLimit * 2_048 + 6_144
    /// The maximum number of security tokens: one in use and some in reserve.
    package static let tokenLimit = 4
    /// The maximum number of retired sets.
    ///
    /// Beyond it, the oldest is dropped, and restoring archives made with those keys requires their passcode.
    package static let retiredLimit = 24
    /// The only version.
    static let version = 1
    static let saltSize = 32
    static let codeSize = 32
    /// The accepted scrypt costs: above 2^20, one attempt takes 1 GiB; below 2^14, guessing is too cheap.
    package static let costRange = 14...20

    /// The contents of a keybag except its two codes.
    struct Contents: Hashable {
        var uuid: ItemUUID
        var device: DeviceID
        var generation: Int
        var salt: [UInt8]
        var wrappedKeys: [Accessibility: [UInt8]]
        var presence: [AccessConstraint: WrappedPresenceKey] = [:]
        var retired: [[UInt8]] = []
        var cost: ScryptCost?
        var lockSettings = LockSettings.default
        var escrow: EscrowRecord?
        var tokens: [TokenRecord] = []
        var files = WrappedFileKeys()
        var guarded: GuardedSecret?
    }

    /// Parses a keybag without authenticating it; `deviceOnlyKeys` does that.
    package init(text bytes: borrowing Span<UInt8>) throws(KeybagFailure) {
        guard bytes.count <= Self.sizeLimit else { throw .damaged("the keybag is too long") }
        do {
            var reader = KeybagReader()
            self = try reader.read(bytes)
        } catch let error as KeybagFailure {
            throw error
        } catch {
            throw .damaged("the keybag is not in its canonical form")
        }
    }

    /// Encodes a keybag with codes made under the given keys.
    init(
        _ contents: Contents, _ passcodeKeys: borrowing PasscodeKeys?, _ deviceKeys: borrowing DeviceKeys
    ) throws(CryptographyFailure) {
        let passcodeCode: [UInt8]?
        switch passcodeKeys {
        case .some(let keys): passcodeCode = try Self.code(keys.code, contents.textForPasscode().span)
        case .none: passcodeCode = nil
        }
        try self.init(contents, passcodeCode: passcodeCode, deviceKeys)
    }

    /// Encodes a keybag with an existing passcode code; nothing that the code covers may have changed.
    init(
        _ contents: Contents, passcodeCode: [UInt8]?, _ deviceKeys: borrowing DeviceKeys
    ) throws(CryptographyFailure) {
        var text: [UInt8] = []
        contents.write(into: &text)
        if let passcodeCode {
            CanonicalJSON.literal(",\"passcode\":\"\(Base64.encode(passcodeCode))\"", into: &text)
        }
        CanonicalJSON.literal(contents.lockSettings.members, into: &text)
        if let escrow = contents.escrow {
            CanonicalJSON.literal(",\"escrow\":{", into: &text)
            text += escrow.text
            CanonicalJSON.literal(",\"code\":\"\(Base64.encode(escrow.code))\"}", into: &text)
        }
        for (index, token) in contents.tokens.enumerated() {
            CanonicalJSON.literal(index == 0 ? ",\"tokens\":[{" : ",{", into: &text)
            text += token.text
            CanonicalJSON.literal(",\"code\":\"\(Base64.encode(token.code))\"}", into: &text)
        }
        if !contents.tokens.isEmpty { CanonicalJSON.literal("]", into: &text) }
        contents.files.write(into: &text)
        let code = try Self.code(deviceKeys.code, text.span)
        CanonicalJSON.literal("\(Self.macMember)\(Base64.encode(code))\"}", into: &text)
        self.init(contents, passcodeCode: passcodeCode, deviceCode: code, text: text)
    }

    init(_ contents: Contents, passcodeCode: [UInt8]?, deviceCode: [UInt8], text: [UInt8]) {
        uuid = contents.uuid
        device = contents.device
        generation = contents.generation
        cost = contents.cost
        salt = contents.salt
        wrappedKeys = contents.wrappedKeys
        presence = contents.presence
        retired = contents.retired
        lockSettings = contents.lockSettings
        escrow = contents.escrow
        tokens = contents.tokens
        files = contents.files
        guarded = contents.guarded
        self.passcodeCode = passcodeCode
        self.deviceCode = deviceCode
        self.text = text
    }

    private static func code(
        _ key: borrowing SecretBytes, _ text: borrowing Span<UInt8>
    ) throws(CryptographyFailure) -> [UInt8] {
        var hmac = try HMAC(key: key)
        return try hmac.authenticate(text)
    }

    /// The contents except the two codes.
    var contents: Contents {
        Contents(
            uuid: uuid, device: device, generation: generation, salt: salt, wrappedKeys: wrappedKeys,
            presence: presence, retired: retired, cost: cost, lockSettings: lockSettings, escrow: escrow,
            tokens: tokens, files: files, guarded: guarded)
    }

    /// True if both protect the same keys of items with the same passcode; lock settings, escrow, tokens and keys of files
    /// may differ.
    package func hasKeys(of other: Keybag) -> Bool {
        var contents = other.contents
        contents.lockSettings = lockSettings
        contents.escrow = escrow
        contents.tokens = tokens
        contents.files = files
        return contents == self.contents
    }

    /// True if the device's code is valid, compared in constant time.
    func hasDeviceCode(under key: borrowing SecretBytes) throws(CryptographyFailure) -> Bool {
        // The part after the authenticated text has a fixed length.
        let tail = Self.macMember.utf8.count + Base64.encodedCount(Self.codeSize) + "\"}".utf8.count
        let text = text
        var hmac = try HMAC(key: key)
        return try hmac.isValid(deviceCode, of: text.span.extracting(droppingLast: tail))
    }

    /// True if the passcode's code is valid, compared in constant time.
    func hasPasscodeCode(under key: borrowing SecretBytes) throws(CryptographyFailure) -> Bool {
        guard let passcodeCode else { return false }
        return constantTimeEqual(passcodeCode, try Self.code(key, contents.textForPasscode().span))
    }

    private static let macMember = ",\"mac\":\""
}

extension Accessibility {
    /// The order of the members of `keys`: by code.
    static let inKeybag = allCases.sorted { $0.rawValue.utf8.lexicographicallyPrecedes($1.rawValue.utf8) }
}

extension AccessConstraint {
    /// The order of the members of `presence`: by name.
    static let inKeybag = allCases.sorted { $0.rawValue.utf8.lexicographicallyPrecedes($1.rawValue.utf8) }
}

extension Keybag.Contents {
    /// Appends the text up to the codes.
    func write(into text: inout [UInt8]) {
        CanonicalJSON.literal(
            "{\"version\":\(Keybag.version),\"uuid\":\"\(uuid)\",\"device\":\"\(device)\"",
            into: &text)
        CanonicalJSON.literal(
            ",\"generation\":\(generation),\"salt\":\"\(Base64.encode(salt))\",\"keys\":{", into: &text)
        var isFirst = true
        for accessibility in Accessibility.inKeybag {
            guard let wrapped = wrappedKeys[accessibility] else { continue }
            CanonicalJSON.literal(isFirst ? "\"" : ",\"", into: &text)
            CanonicalJSON.literal("\(accessibility.rawValue)\":\"\(Base64.encode(wrapped))\"", into: &text)
            isFirst = false
        }
        CanonicalJSON.literal("}", into: &text)
        for (index, constraint) in AccessConstraint.inKeybag.enumerated() {
            guard let key = presence[constraint] else { continue }
            CanonicalJSON.literal(index == 0 ? ",\"presence\":{\"" : ",\"", into: &text)
            let halves = "\(Base64.encode(key.publicKey.bytes))\",\"\(Base64.encode(key.wrapped))"
            CanonicalJSON.literal("\(constraint.rawValue)\":[\"\(halves)\"]", into: &text)
        }
        if !presence.isEmpty { CanonicalJSON.literal("}", into: &text) }
        for (index, set) in retired.enumerated() {
            CanonicalJSON.literal(index == 0 ? ",\"retired\":[\"" : "\",\"", into: &text)
            CanonicalJSON.literal(Base64.encode(set), into: &text)
        }
        if !retired.isEmpty { CanonicalJSON.literal("\"]", into: &text) }
        if let cost { CanonicalJSON.literal(",\"scrypt\":\(cost.logN)", into: &text) }
        if let guarded { CanonicalJSON.literal(guarded.member, into: &text) }
    }

    /// The text that the passcode's code covers: everything before the code, with default lock settings and without
    /// escrow and tokens.
    func textForPasscode() -> [UInt8] {
        var contents = self
        contents.lockSettings = .default
        contents.escrow = nil
        contents.tokens = []
        var text: [UInt8] = []
        contents.write(into: &text)
        return text
    }
}
