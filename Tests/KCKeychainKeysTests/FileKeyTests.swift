import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys

@Suite("Keys of files in a keybag") struct FileKeyTests {
    private let device: DeviceKey
    private let cost: ScryptCost
    private let keys: ClassKeys
    private var passcode: SecretBytes { SecretBytes(copying: "open".utf8) }

    init() throws {
        device = try DeviceKey.generate()
        cost = try #require(ScryptCost(logN: 1))
        keys = try ClassKeys(generatingWithPasscode: true)
    }

    private func keybag(
        _ keys: ClassKeys, files: WrappedFileKeys = WrappedFileKeys(), retired: Int = 0
    ) throws -> Keybag {
        let earlier = try (0..<retired).map { _ in try ClassKeys(generatingWithPasscode: true) }
        return try Keybag.wrapping(
            keys, retired: earlier, uuid: ItemUUID(), generation: 1, deviceKey: device, passcode: passcode, cost: cost,
            files: files)
    }

    private func opened(_ bag: Keybag, _ fileClass: FileKeyClass, _ keys: ClassKeys) throws -> [[UInt8]] {
        try #require(try bag.fileKeys(fileClass, under: keys)).map { $0.secret.bytesForTest() }
    }

    @Test("Each class gets a key with the first use, and opens under its own class key alone")
    func classes() throws {
        let plain = try keybag(keys)
        let bag = try plain.withFileKeys(under: keys, device)
        #expect(try Keybag(text: bag.text.span) == bag)
        #expect(bag.hasKeys(of: plain) && bag != plain)
        var found: Set<[UInt8]> = []
        for fileClass in FileKeyClass.allCases { found.formUnion(try opened(bag, fileClass, keys)) }
        #expect(found.count == 3)
        let unlockedOnce = try bag.deviceOnlyKeys(device)
        #expect(try FileKeyClass.allCases.allSatisfy { try bag.fileKeys($0, under: unlockedOnce) == nil })
        var afterFirst = unlockedOnce
        afterFirst[.afterFirstUnlockThisDeviceOnly] = keys[.afterFirstUnlockThisDeviceOnly]
        #expect(try bag.fileKeys(.untilFirstUnlock, under: afterFirst)?.count == 1)
        #expect(try bag.fileKeys(.complete, under: afterFirst) == nil)
        // A second use finds the same keys.
        #expect(try bag.withFileKeys(under: keys, device) == bag)
    }

    @Test("Only the public half of 'unless-open' is known without a class key")
    func publicHalves() throws {
        let bag = try keybag(keys).withFileKeys(under: keys, device)
        let key = try #require(try bag.fileKeys(.unlessOpen, under: keys)?.first)
        #expect(bag.openFilePublicKey(.unlessOpen) == key.publicKey)
        #expect(bag.openFilePublicKey(.complete) == nil && bag.openFilePublicKey(.untilFirstUnlock) == nil)
    }

    @Test("Another passcode has other keys in front, and keeps those before")
    func renewed() throws {
        let bag = try keybag(keys).withFileKeys(under: keys, device)
        let newer = try ClassKeys(generatingWithPasscode: true)
        let files = try bag.renewedFileKeys(from: keys, to: newer)
        let after = try keybag(newer, files: files)
        for fileClass in FileKeyClass.allCases {
            let (old, new) = (try opened(bag, fileClass, keys), try opened(after, fileClass, newer))
            #expect(new.count == 2 && Array(new.dropFirst()) == old)
            #expect(throws: KeybagFailure.self) { try after.fileKeys(fileClass, under: keys) }
        }
    }

    @Test("No key is ever dropped: the 33rd passcode keeps the newest key")
    func limit() throws {
        var present = keys
        var files = try keybag(keys).withFileKeys(under: keys, device).sameFileKeys
        let first = try #require(try files.keys(.complete, under: keys)?.first).publicKey
        for _ in 0..<WrappedFileKeys.limit + 1 {
            let newer = try ClassKeys(generatingWithPasscode: true)
            files = try files.renewed(from: present, to: newer)
            present = newer
        }
        let all = try #require(try files.keys(.complete, under: present))
        #expect(all.count == WrappedFileKeys.limit && all.last?.publicKey == first)
        let bag = try keybag(present, files: files)
        #expect(try Keybag(text: bag.text.span) == bag)
        // The part of the limit that is for these keys.
        let plain = try keybag(present)
        #expect(bag.text.count - plain.text.count <= 6_144)
    }

    @Test("A public half that is not of the key is found when the key opens")
    func planted() throws {
        let bag = try keybag(keys).withFileKeys(under: keys, device)
        var contents = bag.contents
        contents.files.publicKey = [UInt8](repeating: 9, count: 32)
        let forged = try Keybag(contents, passcodeCode: nil, DeviceKeys(device, bag.uuid))
        #expect(throws: KeybagFailure.self) { try forged.fileKeys(.unlessOpen, under: keys) }
        #expect(throws: KeybagFailure.self) { try forged.renewedFileKeys(from: keys, to: keys) }
    }

    @Test("An archive has no keys of files, and one that has some is refused")
    func archived() throws {
        let plain = try keybag(keys)
        let bag = try plain.withFileKeys(under: keys, device)
        #expect(try bag.archivable(device).text == plain.text)
        #expect(throws: KeybagFailure.damaged("the keybag of an archive has keys of files")) {
            try bag.requireArchivable()
        }
    }

    @Test("A keybag with keys of files is refused when changed at any byte")
    func tampered() throws {
        let bag = try keybag(keys).withFileKeys(under: keys, device)
        for index in bag.text.indices {
            var text = bag.text
            text[index] ^= 0x01
            #expect(throws: KeybagFailure.self, "byte \(index)") {
                _ = try Keybag(text: text.span).deviceOnlyKeys(device)
            }
        }
    }
}
