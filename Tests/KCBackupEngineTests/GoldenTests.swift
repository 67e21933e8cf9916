import Foundation
import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// Archives of a released format version, which must stay readable forever, with everything that opens them.
///
/// `Archives/README.md` lists them. `UPDATE_GOLDEN=1 swift test --filter GoldenTests` regenerates them, which is
/// correct only until the version is released.
private struct Golden {
    static let folder = (#filePath as NSString).deletingLastPathComponent + "/Archives"
    static let passphrase = "correct horse battery staple"
    static let passcode = "1234"
    static let names = ["v1-passphrase.kcb", "v1-recipient.kcb", "v1-unencrypted.kcb"]

    let device: DeviceKey
    let identity: NativeIdentity

    init() throws {
        let key = try Self.read("v1-device.hex").split(whereSeparator: \.isWhitespace).joined()
        device = try DeviceKey(secret: SecretBytes(copying: try #require(Hexadecimal.decode(key))))
        identity = try #require(
            IdentityFile.parse(SecretBytes(copying: Self.read("v1-identity.txt").utf8)).identities.first)
    }

    static func read(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }

    func open(_ name: String) throws -> ProvenArchive {
        let genuine = try ArchiveFile(path: "\(Self.folder)/\(name)").prove()
        let opened =
            switch name {
            case "v1-passphrase.kcb": try genuine.open(passphrase: SecretBytes(copying: Self.passphrase.utf8))
            case "v1-recipient.kcb": try genuine.open(identities: [identity])
            default: try genuine.open()
            }
        return try ProvenArchive(opened, local: LocalIdentity(device: device))
    }

    /// A keychain to restore the archive into.
    func target(for archive: ProvenArchive, in folder: TemporaryFolder) throws -> Keychain {
        let path = folder.path("target.keychain")
        let passcode = Optional(Self.passcode)
        guard let keybag = archive.header.store?.keychain.keybag else {
            return try Keychain.create(
                at: path, deviceKey: device, passcode: passcode.secret, cost: Machine.cheap, now: moment(0),
                lockWait: .seconds(60))
        }
        let keychain = try Keychain.create(
            at: path, adopting: Keybag(text: Array(keybag.utf8).span), deviceKey: device, now: moment(0),
            lockWait: .seconds(60))
        try keychain.unlock(passcode: passcode.secret, now: moment(0))
        return keychain
    }

    /// A line per item: its metadata line, a tab, and its secret in Base64, or `-` for none.
    static func describe(_ keychain: Keychain) throws -> String {
        try keychain.find(ItemQuery()).items.map { item in
            var line = SecretBytes(capacity: 1024)
            ItemLine.encode(item, into: &line)
            let text = String(decoding: line.bytesForTest(), as: UTF8.self)
            switch try keychain.secret(of: item) {
            case .some(let secret): return "\(text)\t\(Base64.encode(secret.bytesForTest()))\n"
            case .none: return "\(text)\t-\n"
            }
        }.joined()
    }

    /// Regenerates all files.
    static func update() throws {
        let key = try RandomBytes.bytes(count: 32)
        try write("v1-device.hex", Array((Hexadecimal.encode(key) + "\n").utf8))
        let identity = IdentityFile.text(of: try NativeIdentity.generate(.x25519), comments: ["for tests alone"])
        try write("v1-identity.txt", identity.bytesForTest())
        let golden = try Golden()

        let scratch = try TemporaryFolder()
        let passcode = Optional(Self.passcode)
        let keychain = try Keychain.create(
            at: scratch.path("golden.keychain"), deviceKey: golden.device, passcode: passcode.secret,
            cost: ScryptCost(logN: 14), now: moment(0), lockWait: .seconds(60))
        var random = RandomItems(seed: 2026, hasConstraints: true)
        try keychain.write { writer in
            for _ in 0..<40 {
                let draft = random.draft()
                switch random.secret() {
                case .some(let bytes): try writer.add(draft, secret: SecretBytes(copying: bytes), now: moment(1))
                case .none: try writer.add(draft, secret: nil, now: moment(1))
                }
            }
        }
        try write("v1-contents.tsv", Array(try describe(keychain).utf8))

        let byPassphrase = try ArchiveKeys(
            passphrase: SecretBytes(copying: passphrase.utf8), cost: try #require(ScryptCost(logN: 14)))
        let byRecipient = try ArchiveKeys(recipients: [golden.identity.recipient])
        func creating(_ name: String) throws -> CreateBackup {
            try CreateBackup(
                of: ArchiveSource(kind: ArchiveSource.keychain, name: "login"), device: golden.device, tool: "kcbackup",
                to: FolderDestination(folder: scratch.path, name: name),
                now: moment(100))
        }
        _ = try creating(names[0]).encrypted(keychain, with: byPassphrase)
        _ = try creating(names[1]).encrypted(keychain, with: byRecipient)
        _ = try creating(names[2]).unencrypted(keychain)
        for name in names { try write(name, try scratch.read(name)) }
    }

    private static func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    }
}

@Suite("Archives of released versions", .serialized)
struct GoldenTests {
    @Test(
        "They are regenerated on request", .enabled(if: ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1"))
    func update() throws {
        try Golden.update()
    }

    @Test("Each one restores to its recorded contents, item for item", arguments: Golden.names)
    func restores(_ name: String) throws {
        let golden = try Golden()
        let archive = try golden.open(name)
        #expect(archive.origin == .thisDevice)
        let folder = try TemporaryFolder()
        let target = try golden.target(for: archive, in: folder)
        let report = try Bring(.archive(archive), options: RestoreOptions()).run(into: target)
        #expect(report.counts.create == 40)
        #expect(try Golden.describe(target) == Golden.read("v1-contents.tsv"))
    }
}
