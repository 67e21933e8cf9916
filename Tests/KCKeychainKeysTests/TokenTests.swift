import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys

@Suite("Security tokens of a keybag") struct TokenTests {
    private let device: DeviceKey
    private let cost: ScryptCost
    private let keys: ClassKeys
    private let blue: TokenName
    private let handle: TokenHandle
    private var passcode: SecretBytes { SecretBytes(copying: "open".utf8) }
    private var secret: SecretBytes { SecretBytes(copying: [UInt8](repeating: 9, count: 32)) }
    private var otherSecret: SecretBytes { SecretBytes(copying: [UInt8](repeating: 8, count: 32)) }

    init() throws {
        device = try DeviceKey.generate()
        cost = try #require(ScryptCost(logN: 1))
        keys = try ClassKeys(generatingWithPasscode: true)
        blue = try #require(TokenName("blue"))
        handle = try Self.handle(48)
    }

    private static func handle(_ size: Int) throws -> TokenHandle {
        try #require(
            TokenHandle(
                credential: [UInt8](repeating: 1, count: size), publicKey: [UInt8](repeating: 2, count: 64),
                salt: [UInt8](repeating: 3, count: 32)))
    }

    private func keybag(
        _ keys: ClassKeys, retired: Int = 0, tokens: [TokenRecord] = [], uuid: ItemUUID = ItemUUID(),
        _ device: DeviceKey? = nil
    ) throws -> Keybag {
        let earlier = try (0..<retired).map { _ in try ClassKeys(generatingWithPasscode: true) }
        return try Keybag.wrapping(
            keys, retired: earlier, uuid: uuid, generation: 1, deviceKey: device ?? self.device, passcode: passcode,
            cost: cost, tokens: tokens)
    }

    private func enrolled(_ bag: Keybag, _ name: TokenName? = nil, _ handle: TokenHandle? = nil) throws -> Keybag {
        try bag.withToken(
            name ?? blue, handle ?? self.handle, secret: secret, since: .reference, keys, device, passcode: passcode)
    }

    private func opened(
        _ bag: Keybag, _ secret: borrowing SecretBytes, _ device: DeviceKey? = nil
    ) throws -> ClassKeys {
        try bag.presenceKeys(ofToken: blue, secret: secret, device ?? self.device)
    }

    @Test("A token opens the presence key 'user-presence', and nothing else")
    func opens() throws {
        let plain = try keybag(keys)
        let bag = try enrolled(plain)
        let opened = try opened(bag, secret)
        #expect(opened.presenceKeys.keys.map(\.rawValue) == ["user-presence"])
        #expect(Accessibility.allCases.allSatisfy { opened[$0] == nil })
        let found = try #require(opened.presenceKeys[.userPresence]).secret.bytesForTest()
        #expect(try found == #require(keys.presenceKeys[.userPresence]).secret.bytesForTest())
        #expect(bag.hasKeys(of: plain) && bag != plain)
        #expect(try bag.withoutToken(blue, device) == plain)
        // The passcode still opens everything.
        let all = try bag.passcodeKeys(passcode, device, minimumCost: cost)
        #expect(all.presenceKeys.count == AccessConstraint.allCases.count)
    }

    @Test("Another secret, another device and another keybag open nothing")
    func bound() throws {
        let bag = try enrolled(keybag(keys))
        #expect(throws: KeybagFailure.token(.otherSecret(blue))) { try opened(bag, otherSecret) }
        #expect(throws: KeybagFailure.token(.forged(blue))) { try opened(bag, secret, DeviceKey.generate()) }
        #expect(throws: KeybagFailure.token(.none(blue))) { try opened(keybag(keys), secret) }
        var contents = try keybag(keys).contents
        contents.tokens = bag.tokens
        let spliced = try Keybag(contents, passcodeCode: nil, DeviceKeys(device, contents.uuid))
        #expect(throws: KeybagFailure.token(.otherSecret(blue))) { try opened(spliced, secret) }
    }

    @Test("The largest keybag, with every optional part and four tokens, reads back as written and fits the limit")
    func largest() throws {
        var bag = try keybag(keys, retired: Keybag.retiredLimit)
            .withEscrow(for: EscrowKey.generate().publicKey, since: .reference, keys, device, passcode: passcode)
            .with(#require(LockSettings(lockAfter: 31_536_000, lockOnSuspend: false)), device)
        let large = try Self.handle(TokenHandle.credentialLimit)
        for index in 1...Keybag.tokenLimit {
            let name = try #require(TokenName(String(repeating: "\(index)", count: TokenName.limit)))
            bag = try enrolled(bag, name, large)
        }
        #expect(try Keybag(text: bag.text.span) == bag)
        #expect(bag.text.count <= Keybag.sizeLimit)
        #expect(throws: KeybagFailure.token(.full)) { try enrolled(bag) }
        // The keybag that goes into the header of an archive is no larger than without tokens.
        #expect(try bag.archivable(device).text.count <= 13_312)
        #expect(try bag.withoutEscrow(device).tokens == bag.tokens)
        #expect(try bag.with(.default, device).tokens == bag.tokens)
    }

    @Test("A keybag with a token is refused when changed at any byte, or without its record, before a key is tried")
    func tampered() throws {
        let bag = try enrolled(keybag(keys))
        for index in bag.text.indices {
            var text = bag.text
            text[index] ^= 0x01
            #expect(throws: KeybagFailure.self, "byte \(index)") {
                _ = try Keybag(text: text.span).deviceOnlyKeys(device)
            }
        }
        let whole = String(decoding: bag.text, as: UTF8.self)
        let record = try #require(whole.firstMatch(of: /,"tokens":\[\{[^}]*\}\]/))
        let text = whole.replacing(String(record.0), with: "")
        #expect(throws: KeybagFailure.self) { _ = try Keybag(text: Array(text.utf8).span).deviceOnlyKeys(device) }
    }

    @Test("A record that was made without the passcode is detected when the passcode is used, and can be removed")
    func planted() throws {
        let bag = try keybag(keys)
        let guess = SecretBytes(copying: "guess".utf8)
        let wrong = try PasscodeKeys(guess, bag.contents, cost: cost, device)
        let thief = try TokenKey(secret, of: handle, for: bag.uuid)
        var contents = bag.contents
        contents.tokens = [
            try TokenRecord(
                keys, name: blue, since: .reference, handle: handle, for: thief.publicKey, contents, device, wrong)
        ]
        let planted = try Keybag(contents, passcodeCode: bag.passcodeCode, DeviceKeys(device, bag.uuid))
        #expect(throws: KeybagFailure.token(.forged(blue))) {
            _ = try planted.passcodeKeys(passcode, device, minimumCost: cost)
        }
        #expect(throws: KeybagFailure.wrongPasscode) {
            _ = try bag.withToken(
                blue, handle, secret: secret, since: .reference, keys, device, passcode: guess)
        }
        #expect(try planted.withoutToken(blue, device) == bag)
    }

    @Test("A record that wraps another key than that of the keybag opens nothing")
    func otherKey() throws {
        let bag = try enrolled(keybag(keys))
        let passcodeKeys = try PasscodeKeys(passcode, bag.contents, cost: cost, device)
        let others = try ClassKeys(generatingWithPasscode: true)
        var contents = bag.contents
        contents.tokens = [try bag.tokens[0].renewed(for: others, contents, device, passcodeKeys)]
        let exchanged = try Keybag(contents, passcodeCode: bag.passcodeCode, DeviceKeys(device, bag.uuid))
        #expect(throws: KeybagFailure.token(.forged(blue))) { try opened(exchanged, secret) }
    }

    @Test("A record is renewed without the token for new keys and for another device, and is removed with the passcode")
    func renewed() throws {
        let old = try enrolled(keybag(keys))
        let newer = try ClassKeys(generatingWithPasscode: true)
        let other = try DeviceKey.generate()
        for device in [device, other] {
            let bag = try keybag(newer, tokens: old.tokens, uuid: old.uuid, device)
            #expect(bag.tokens.map(\.since) == [.reference])
            let found = try #require(opened(bag, secret, device).presenceKeys[.userPresence]).secret.bytesForTest()
            #expect(try found == #require(newer.presenceKeys[.userPresence]).secret.bytesForTest())
            _ = try bag.passcodeKeys(passcode, device, minimumCost: cost)
        }
        let none = try Keybag.wrapping(
            ClassKeys(generatingWithPasscode: false), uuid: old.uuid, generation: 2, deviceKey: device, passcode: nil,
            cost: cost, tokens: old.tokens)
        #expect(none.tokens.isEmpty)
        #expect(throws: KeybagFailure.token(.noPasscode)) { try enrolled(none) }
        #expect(throws: KeybagFailure.token(.exists(blue))) { try enrolled(old) }
        #expect(throws: KeybagFailure.token(.none(blue))) { _ = try none.withoutToken(blue, device) }
    }

    @Test("An archive's keybag with a token is refused")
    func archived() throws {
        let bag = try enrolled(keybag(keys))
        #expect(throws: KeybagFailure.damaged("the keybag of an archive has token records")) {
            _ = try ArchivedKeybag(text: String(decoding: bag.text, as: UTF8.self), of: device.id, deviceKey: device)
        }
    }

    @Test("A name that could be taken for an option, or mislead on a terminal, is none")
    func names() {
        for text in ["", "-x", ".x", " x", "a/b", "a\"b", "a\nb", "\u{202e}a", String(repeating: "a", count: 65)] {
            #expect(TokenName(text) == nil, "\(text)")
        }
        for text in ["blue", "Schlüssel 2", "a.b_c-d", String(repeating: "a", count: 64)] {
            #expect(TokenName(text) != nil, "\(text)")
        }
        #expect(TokenName("\u{e9}") != TokenName("e\u{301}"))
    }
}
