import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// A machine with a device key, a folder for keychains and archives, and derivation costs low enough for tests.
final class Machine: Sendable {
    let folder: TemporaryFolder
    let local: LocalIdentity
    var device: DeviceKey { local.device }

    static let cheap = ScryptCost(logN: 1)

    /// - Parameter inMemory: true for tests with many archives, which would wait for the disk.
    init(trusting trusted: [DeviceID: String] = [:], inMemory: Bool = false) throws {
        folder = try TemporaryFolder(inMemory: inMemory)
        local = LocalIdentity(device: try DeviceKey(secret: RandomBytes.secret(count: 32)), trusted: trusted)
    }

    func makeKeychain(_ name: String = "login", passcode: String? = "1234") throws -> Keychain {
        let keychain = try Keychain.create(
            at: folder.path(name + ".keychain"), deviceKey: device, passcode: passcode.secret, cost: Self.cheap,
            now: moment(0), lockWait: .seconds(60))
        try keychain.unlock(passcode: passcode.secret, now: moment(0))
        return keychain
    }

    /// Makes an encrypted archive for `recipients` and, if given, a passphrase.
    @discardableResult
    func backUp(
        _ keychain: Keychain, as name: String, to recipients: [NativeRecipient] = [],
        inspectors: [NativeRecipient] = [], passphrase: String? = nil
    ) throws -> CreateReport {
        let keys =
            if let passphrase, let cost = Self.cheap {
                try ArchiveKeys(
                    passphrase: SecretBytes(copying: passphrase.utf8), cost: cost, recipients: recipients,
                    inspectors: inspectors)
            } else {
                try ArchiveKeys(recipients: recipients, inspectors: inspectors)
            }
        return try creating(name).encrypted(keychain, with: keys)
    }

    /// A backup into the folder of this machine.
    func creating(_ name: String, tool: String = "test") throws -> CreateBackup {
        try CreateBackup(
            of: ArchiveSource(kind: ArchiveSource.keychain, name: "login"), device: device, tool: tool,
            to: FolderDestination(folder: folder.path, name: name), now: moment(100))
    }

    /// Makes an unencrypted archive.
    @discardableResult
    func backUpUnencrypted(_ keychain: Keychain, as name: String) throws -> CreateReport {
        try creating(name).unencrypted(keychain)
    }

    func open(
        _ path: String, with identity: NativeIdentity? = nil, passphrase: String? = nil
    ) throws -> ProvenArchive {
        let genuine = try ArchiveFile(path: path).prove()
        let opened =
            if let passphrase {
                try genuine.open(passphrase: SecretBytes(copying: passphrase.utf8))
            } else if let identity {
                try genuine.open(identities: [identity])
            } else {
                try genuine.open()
            }
        return try ProvenArchive(opened, local: local)
    }

    /// Restores an archive of any device, unless the test changes the options.
    @discardableResult
    func restore(
        _ archive: ProvenArchive, into keychain: Keychain, _ change: (inout RestoreOptions) -> Void = { _ in }
    ) throws -> RestoreReport {
        var options = RestoreOptions()
        options.acceptedOrigin = archive.header.device
        change(&options)
        return try Bring(.archive(archive), options: options).run(into: keychain)
    }
}

extension Optional where Wrapped == String {
    var secret: SecretBytes? {
        switch self {
        case .some(let text): SecretBytes(copying: text.utf8)
        case .none: nil
        }
    }
}

/// The test clock: `seconds` after the start of 2026.
func moment(_ seconds: Int64) -> Timestamp {
    Timestamp(microseconds: 1_767_225_600_000_000 + seconds * 1_000_000) ?? .reference
}

extension Keychain {
    /// Adds a generic password.
    @discardableResult
    func add(
        _ account: String, _ secret: String?, _ accessibility: Accessibility = .whenUnlocked,
        synchronizable: Bool = false, at time: Timestamp = moment(1)
    ) throws -> Item {
        var attributes = Attributes()
        attributes[.acct] = .text(account)
        attributes[.svce] = .text("mail")
        attributes[.pdmn] = .text(accessibility.rawValue)
        attributes[.sync] = .number(synchronizable ? 1 : 0)
        return try add(
            ItemDraft(itemClass: .genericPassword, attributes: attributes), secret: secret.secret, now: time)
    }

    /// Every item with its secret as text, by account.
    func contents() throws -> [String: String?] {
        var contents: [String: String?] = [:]
        for item in try find(ItemQuery()).items {
            let secret = try secret(of: item)
            let text: String? =
                switch secret {
                case .some(let secret): String(decoding: secret.bytesForTest(), as: UTF8.self)
                case .none: nil
                }
            contents[item.attributes.text(.acct) ?? "?"] = .some(text)
        }
        return contents
    }

    /// Imports the items of a file.
    func `import`(
        _ items: some ItemSource, _ policy: ConflictPolicy, isDryRun: Bool = false
    ) throws -> RestoreReport {
        var options = RestoreOptions()
        options.conflictPolicy = policy
        options.isDryRun = isDryRun
        return try Bring(.items(items), options: options).run(into: self)
    }

    /// Changes the secret of an item.
    func change(_ item: Item, to secret: String, at time: Timestamp) throws {
        _ = try update(matching: ItemQuery(item), set: [:], secret: Optional(secret).secret, now: time)
    }
}
