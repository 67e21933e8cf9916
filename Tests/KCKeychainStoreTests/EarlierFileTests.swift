import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainKeys
@testable import KCKeychainStore

/// Keychain files of every format version, which must remain readable (`Keychains/README.md`).
@Suite("Keychain files of earlier formats") struct EarlierFileTests {
    private static let folder = (#filePath as NSString).deletingLastPathComponent + "/Keychains/"

    struct Earlier: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let passcode: String?
        let items: Int
        let retired: Int

        init(_ name: String, passcode: String?, items: Int, retired: Int = 0) {
            testDescription = name
            self.passcode = passcode
            self.items = items
            self.retired = retired
        }
    }

    private static let all = [
        Earlier("v1-none", passcode: nil, items: 6), Earlier("v1-passcode", passcode: "walnut", items: 9),
        Earlier("v1-escrow", passcode: "lantern", items: 9, retired: 2),
    ]

    private static func device() throws -> DeviceKey {
        try DeviceKey(secret: SecretBytes(copying: (0..<32).map { UInt8($0) }))
    }

    @Test("Each file opens with all its items, accepts new ones, and is upgraded by a new passcode", arguments: all)
    func opens(_ earlier: Earlier) throws {
        let bench = try Bench(device: Self.device())
        let bytes = try Data(contentsOf: URL(filePath: Self.folder + earlier.testDescription + ".keychain"))
        try bench.folder.write("login.keychain", Array(bytes))
        let keychain = try Keychain.open(at: bench.path, deviceKey: bench.device, lockWait: Bench.patience)
        let before = keychain.keybag
        #expect(before.retired.count == earlier.retired)
        try keychain.unlock(passcode: earlier.passcode.secret, now: moment(10))
        func check(_ keychain: Keychain) throws {
            let opened = try keychain.items().filter { item in
                try keychain.text(of: item) == item.constraint?.rawValue ?? item.accessibility.rawValue
            }
            #expect(opened.count == earlier.items)
        }
        try check(keychain)
        let added = try keychain.add(password("added"), secret: "added".secret, now: moment(11))
        #expect(try keychain.text(of: added) == "added")
        try keychain.delete(matching: ItemQuery(added), now: moment(12))
        try keychain.setPasscode(
            current: earlier.passcode.secret, new: "next".secret, cost: Bench.cost, now: moment(13))
        let again = try bench.open()
        try again.unlock(passcode: "next".secret, now: moment(14))
        try check(again)
        #expect(again.keybag.retired.count == earlier.retired + 1)
        #expect(again.lockSettings == before.lockSettings)
        // An archive from before the change can be restored into it.
        let archived = try ArchivedKeybag(
            text: String(decoding: before.withoutEscrow(bench.device).text, as: UTF8.self), of: bench.device.id,
            deviceKey: bench.device)
        #expect(try again.form(ofSecretsUnder: archived) == .plain)
        #expect(archived.isOpen)
    }

    @Test("The original escrow key opens the file, even after the passcode is changed")
    func escrow() throws {
        let bench = try Bench(device: Self.device())
        let bytes = try Data(contentsOf: URL(filePath: Self.folder + "v1-escrow.keychain"))
        try bench.folder.write("login.keychain", Array(bytes))
        let keyFile = try Data(contentsOf: URL(filePath: Self.folder + "v1-escrow.key"))
        let keychain = try bench.open()
        for _ in 1...2 {
            let escrowed = try EscrowedKeychain(bench.open(), keyFile: SecretBytes(copying: keyFile))
            var collector = Collector()
            collector.isWanted = { $0.accessibility != .whenPasscodeSetThisDeviceOnly }
            try escrowed.visitItems(&collector)
            let secrets = collector.secrets.map { String(decoding: $0, as: UTF8.self) }
            #expect(secrets.sorted() == ["ak", "aku", "ck", "cku", "device-passcode", "dk", "dku", "user-presence"])
            try keychain.setPasscode(
                current: "lantern".secret, new: "lantern".secret, cost: Bench.cost, now: moment(13))
        }
    }

    @Test("The files are recreated", .enabled(if: ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1"))
    func update() throws {
        let cost = ScryptCost(logN: 14)
        func make(_ name: String, passcode: String?, _ then: (Keychain) throws -> Void = { _ in }) throws {
            let bench = try Bench(device: Self.device())
            let keychain = try Keychain.create(
                at: bench.path, deviceKey: bench.device, passcode: passcode.secret, cost: cost, now: moment(0))
            try then(keychain)
            _ = try keychain.fill()
            if keychain.hasPasscode { try keychain.fillAsking() }
            try Data(bench.folder.read("login.keychain")).write(to: URL(filePath: Self.folder + name + ".keychain"))
        }
        try make("v1-none", passcode: nil)
        try make("v1-passcode", passcode: "walnut")
        try make("v1-escrow", passcode: nil) { keychain in
            try keychain.setPasscode(current: nil, new: "walnut".secret, cost: cost, now: moment(1))
            try keychain.setPasscode(current: "walnut".secret, new: "lantern".secret, cost: cost, now: moment(2))
            try keychain.setLockSettings(try #require(LockSettings(lockAfter: 60, lockOnSuspend: true)))
            let key = try EscrowKey.generate()
            try keychain.enableEscrow(
                for: key.publicKey, passcode: SecretBytes(copying: "lantern".utf8), now: moment(3))
            let keyFile = key.text(comments: ["escrow key of v1-escrow.keychain"]).bytesForTest()
            try Data(keyFile).write(to: URL(filePath: Self.folder + "v1-escrow.key"))
        }
    }
}
