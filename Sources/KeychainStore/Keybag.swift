internal import ByteStreams
public import Cryptography
public import DeviceIdentity
public import KeychainModel

/// The wrapped class keys of a keychain, as one canonical JSON text (docs/keychain-file.md, "Keybag").
///
/// ```
/// {"version":1,"uuid":"…","device":"KC-…","generation":1,"salt":"…",
///  "keys":{"ak":"…","akpu":"…","aku":"…","ck":"…","cku":"…","dk":"…","dku":"…"},
///  "scrypt":17,"passcode":"…","mac":"…"}
/// ```
///
/// There is no white space, and bytes are base 64. `keys` holds AES-KW (RFC 3394) of 32-byte class keys. Without a
/// passcode `akpu`, `scrypt` and `passcode` are absent. `passcode` is HMAC-SHA-256 of all text before its comma, under
/// a key that takes the passcode and the device to know; `mac` is the same of all text before its own comma, under a
/// key of the device.
public struct Keybag: Hashable, Sendable {
    /// Names this set of class keys, through all changes of the passcode.
    public let uuid: ItemUUID
    /// The device whose key it takes.
    public let device: DeviceID
    /// Counts the changes of the passcode, from 1.
    public let generation: Int
    /// The work that one try of a passcode takes; nil when there is no passcode.
    public let cost: ScryptCost?
    /// The canonical text.
    public let text: [UInt8]

    /// 32 random bytes, new with each passcode.
    let salt: [UInt8]
    let wrappedKeys: [Accessibility: [UInt8]]
    /// Knows the right passcode from a wrong one.
    let passcodeCode: [UInt8]?
    let deviceCode: [UInt8]

    /// True when it takes a passcode to open.
    public var hasPasscode: Bool { cost != nil }

    /// Bytes of the longest keybag that is read; one of ours has below 1 KiB.
    public static let sizeLimit = 4096
    static let version = 1
    static let saltSize = 32
    static let codeSize = 32
    /// What a keybag may ask of a machine: above 2^20 one try takes 1 GiB; below 2^14 guessing is too cheap.
    public static let costRange = 14...20

    /// What stands in a keybag besides its two codes.
    struct Contents {
        var uuid: ItemUUID
        var device: DeviceID
        var generation: Int
        var salt: [UInt8]
        var wrappedKeys: [Accessibility: [UInt8]]
        var cost: ScryptCost?
    }

    /// Reads a keybag; that it is genuine is another question (`isGenuine`).
    ///
    /// - Throws: `damaged`, `newerFormat`.
    public init(text bytes: borrowing Span<UInt8>) throws(KeychainStoreError) {
        guard bytes.count <= Self.sizeLimit else { throw .damaged("the keybag is too long") }
        do {
            var reader = KeybagReader()
            self = try reader.read(bytes)
        } catch let error as KeychainStoreError {
            throw error
        } catch {
            throw .damaged("the keybag is not in its canonical form")
        }
    }

    /// Writes a keybag, given the keys of its codes.
    init(
        _ contents: Contents, _ passcodeKeys: borrowing PasscodeKeys?, _ deviceKeys: borrowing DeviceKeys
    ) throws(CryptographyFailure) {
        var text = SecretBytes(capacity: Self.sizeLimit)
        contents.write(into: &text)
        switch passcodeKeys {
        case .some(let keys):
            let code = try Self.code(keys.code, text)
            CanonicalJSON.literal(",\"passcode\":\"", into: &text)
            Base64.encode(code.span, into: &text)
            CanonicalJSON.literal("\"", into: &text)
            passcodeCode = code
        case .none: passcodeCode = nil
        }
        let code = try Self.code(deviceKeys.code, text)
        CanonicalJSON.literal(",\"mac\":\"", into: &text)
        Base64.encode(code.span, into: &text)
        CanonicalJSON.literal("\"}", into: &text)
        deviceCode = code
        uuid = contents.uuid
        device = contents.device
        generation = contents.generation
        cost = contents.cost
        salt = contents.salt
        wrappedKeys = contents.wrappedKeys
        self.text = text.withBytes { span in span.indices.map { span[$0] } }
    }

    init(_ contents: Contents, passcodeCode: [UInt8]?, deviceCode: [UInt8], text: [UInt8]) {
        uuid = contents.uuid
        device = contents.device
        generation = contents.generation
        cost = contents.cost
        salt = contents.salt
        wrappedKeys = contents.wrappedKeys
        self.passcodeCode = passcodeCode
        self.deviceCode = deviceCode
        self.text = text
    }

    private static func code(
        _ key: borrowing SecretBytes, _ text: borrowing SecretBytes
    ) throws(CryptographyFailure) -> [UInt8] {
        var hmac = try HMACSHA256(key: key)
        return try text.withBytes { bytes throws(CryptographyFailure) in try hmac.authenticate(bytes) }
    }

    /// True when the device's code fits, compared in constant time.
    func hasDeviceCode(under key: borrowing SecretBytes) throws(CryptographyFailure) -> Bool {
        try hasCode(deviceCode, before: ",\"mac\":\"", under: key)
    }

    /// True when the passcode's code fits, compared in constant time.
    func hasPasscodeCode(under key: borrowing SecretBytes) throws(CryptographyFailure) -> Bool {
        guard let passcodeCode else { return false }
        return try hasCode(passcodeCode, before: ",\"passcode\":\"", under: key)
    }

    private func hasCode(
        _ code: [UInt8], before member: String, under key: borrowing SecretBytes
    ) throws(CryptographyFailure) -> Bool {
        // What follows the authenticated text has a fixed length: the members with codes.
        let encoded = Base64.encodedCount(Self.codeSize)
        var tail = ",\"mac\":\"".utf8.count + encoded + "\"}".utf8.count
        if member != ",\"mac\":\"" { tail += ",\"passcode\":\"".utf8.count + encoded + "\"".utf8.count }
        let text = text
        var hmac = try HMACSHA256(key: key)
        return try hmac.isValid(code, of: text.span.extracting(droppingLast: tail))
    }
}

extension Accessibility {
    /// The order of the members of `keys`: by code.
    static let inKeybag = allCases.sorted { $0.rawValue.utf8.lexicographicallyPrecedes($1.rawValue.utf8) }
}

extension Keybag.Contents {
    /// Appends the text up to the codes.
    func write(into text: inout SecretBytes) {
        CanonicalJSON.literal(
            "{\"version\":\(Keybag.version),\"uuid\":\"\(uuid)\",\"device\":\"\(device)\"", into: &text)
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
        if let cost { CanonicalJSON.literal(",\"scrypt\":\(cost.logN)", into: &text) }
    }
}

/// Reads the members of a keybag in their order.
private struct KeybagReader {
    private var scanner = CanonicalScanner()

    mutating func read(_ bytes: borrowing Span<UInt8>) throws -> Keybag {
        try scanner.literal("{\"version\":", in: bytes)
        let version = try scanner.integer(in: bytes)
        guard version <= Keybag.version else {
            throw KeychainStoreError.newerFormat(found: Int(version), known: Keybag.version)
        }
        guard version == Keybag.version else { throw malformed("the version is unknown") }
        try scanner.literal(",\"uuid\":", in: bytes)
        let spelling = try scanner.string(in: bytes)
        guard let uuid = ItemUUID(spelling), uuid.description == spelling else { throw malformed("the UUID is wrong") }
        try scanner.literal(",\"device\":", in: bytes)
        let name = try scanner.string(in: bytes)
        guard let device = DeviceID(name), device.description == name else { throw malformed("the device is wrong") }
        try scanner.literal(",\"generation\":", in: bytes)
        let generation = try scanner.integer(in: bytes)
        guard generation >= 1 else { throw malformed("the generation is wrong") }
        try scanner.literal(",\"salt\":", in: bytes)
        let salt = try sized(Keybag.saltSize, bytes)
        let keys = try keys(bytes)
        var cost: ScryptCost?
        var passcodeCode: [UInt8]?
        if scanner.skip(",\"scrypt\":", in: bytes) {
            // The range that may be computed is the opener's to judge, before the work is done.
            guard let found = ScryptCost(logN: Int(clamping: try scanner.integer(in: bytes))) else {
                throw malformed("the cost is wrong")
            }
            cost = found
            try scanner.literal(",\"passcode\":", in: bytes)
            passcodeCode = try sized(Keybag.codeSize, bytes)
        }
        guard (keys[.whenPasscodeSetThisDeviceOnly] != nil) == (cost != nil) else { throw malformed("keys") }
        try scanner.literal(",\"mac\":", in: bytes)
        let deviceCode = try sized(Keybag.codeSize, bytes)
        try scanner.literal("}", in: bytes)
        try scanner.end(in: bytes)
        let contents = Keybag.Contents(
            uuid: uuid, device: device, generation: Int(generation), salt: salt, wrappedKeys: keys, cost: cost)
        return Keybag(
            contents, passcodeCode: passcodeCode, deviceCode: deviceCode, text: bytes.indices.map { bytes[$0] })
    }

    private mutating func keys(_ bytes: borrowing Span<UInt8>) throws -> [Accessibility: [UInt8]] {
        try scanner.literal(",\"keys\":{", in: bytes)
        var keys: [Accessibility: [UInt8]] = [:]
        for accessibility in Accessibility.inKeybag {
            let member = (keys.isEmpty ? "\"" : ",\"") + accessibility.rawValue + "\":"
            guard scanner.skip(member, in: bytes) else {
                guard accessibility == .whenPasscodeSetThisDeviceOnly else { throw malformed("a key is missing") }
                continue
            }
            keys[accessibility] = try sized(ClassKey.size + AESKeyWrap.overhead, bytes)
        }
        try scanner.literal("}", in: bytes)
        return keys
    }

    private mutating func sized(_ count: Int, _ bytes: borrowing Span<UInt8>) throws -> [UInt8] {
        let value = try scanner.base64(in: bytes)
        guard value.count == count else { throw malformed("a value has the wrong length") }
        return value
    }

    private func malformed(_ rule: String) -> MalformedLine { MalformedLine(rule, at: scanner.position) }
}
