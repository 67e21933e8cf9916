import KCAgeEncryption
import KCArchiveForgery
import KCBackupArchive
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

extension SampleArchive {
    /// Writes an archive with one item per accessibility that archives can hold, named after it.
    ///
    /// The archive format does not interpret stored secrets, so those of the unencrypted archive are arbitrary bytes.
    fileprivate init(
        by device: DeviceKey, _ mode: ArchiveMode = .encrypted, to identity: NativeIdentity,
        withPassphrase: Bool = false
    ) throws {
        let folder = try TemporaryFolder()
        let protection = try Self.protection(mode, identity.recipient, withPassphrase)
        var writer = try ArchiveWriter(
            protection, of: ArchiveSource(kind: ArchiveSource.keychain, name: "login"), device: device,
            folder: folder.path)
        for item in try Self.items() {
            let secret = SecretBytes(copying: "secret of \(item.accessibility.rawValue)".utf8)
            var line = SecretBytes(capacity: 1024)
            ItemLine.encode(item, into: &line)
            try line.withBytes { span in try writer.append(item, line: span, secret: secret) }
        }
        let finished = try writer.finish(omitted: 1, damaged: 0, created: moment(100), tool: "test")
        try finished.publish(as: "genuine.kcb")
        self.init("genuine.kcb", in: folder, mode, by: device, to: identity)
    }

    private static func protection(
        _ mode: ArchiveMode, _ recipient: NativeRecipient, _ withPassphrase: Bool
    ) throws -> ArchiveProtection {
        guard mode == .encrypted else {
            let storeID = [UInt8](repeating: 9, count: 16)
            return .unencrypted(StoredKeychain(storeID: storeID, keybag: "{\"version\":1}"))
        }
        guard withPassphrase else { return .encrypted(try ArchiveKeys(recipients: [recipient])) }
        let cost = try #require(ScryptCost(logN: 1))
        return .encrypted(
            try ArchiveKeys(
                passphrase: SecretBytes(copying: passphrase.utf8), cost: cost, recipients: [recipient]))
    }

    private static func items() throws -> [Item] {
        let kept = Accessibility.allCases.filter { Travel($0) != .nowhere }
        let items = try kept.map { accessibility in
            let name = accessibility.rawValue
            var attributes = Attributes()
            for (code, text) in [(AttributeCode.acct, name), (.svce, "mail"), (.pdmn, name)] {
                attributes[code] = .text(text)
            }
            return try ItemDraft(itemClass: .genericPassword, attributes: attributes)
                .completed(now: moment(1), secretSize: "secret of \(name)".utf8.count)
        }
        return items.sorted { $0.precedes($1) }
    }
}

/// The test clock: `seconds` after the start of 2026.
private func moment(_ seconds: Int64) -> Timestamp {
    Timestamp(microseconds: 1_767_225_600_000_000 + seconds * 1_000_000) ?? .reference
}

extension HostileCase {
    /// Builds the archive and expects the refusal of this case.
    func check() throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(mode == .encrypted ? genuine.encrypted : genuine.unencrypted)
        try change(&forgery)
        let outcome = try genuine.outcome(of: forgery.bytes())
        #expect(refusal.fits(outcome.error), "it ended with \(String(describing: outcome.error))")
    }
}

/// The archives from which hostile ones are made.
struct Genuine: Sendable {
    let encrypted: SampleArchive
    /// Another archive from the same device, to the same identity.
    let second: SampleArchive
    let unencrypted: SampleArchive
    let withPassphrase: SampleArchive
    let secondWithPassphrase: SampleArchive
    let ofOtherDevice: SampleArchive

    static let all = Result { try Genuine() }

    private init() throws {
        let (device, identity) = (try DeviceKey.generate(), try NativeIdentity.generate(.x25519))
        encrypted = try SampleArchive(by: device, to: identity)
        second = try SampleArchive(by: device, to: identity)
        unencrypted = try SampleArchive(by: device, .unencrypted, to: identity)
        withPassphrase = try SampleArchive(by: device, to: identity, withPassphrase: true)
        secondWithPassphrase = try SampleArchive(by: device, to: identity, withPassphrase: true)
        ofOtherDevice = try SampleArchive(by: DeviceKey.generate(), to: identity)
    }

    var identity: NativeIdentity { encrypted.identity }

    /// Reads `bytes` and returns the error that ends the reading and the number of items read.
    ///
    /// Reads on the device that made all archives but `ofOtherDevice`. If reading succeeds, it must succeed again, and
    /// so must reading the metadata alone.
    func outcome(of bytes: [UInt8], passphrase: String? = nil) throws -> (error: (any Error)?, read: Int) {
        let folder = try TemporaryFolder()
        let path = try folder.write("hostile.kcb", bytes)
        func open() throws -> OpenedArchive {
            let file = try ArchiveFile(path: path)
            let genuine = try file.prove()
            if file.header.mode == .unencrypted { return try genuine.open() }
            guard let passphrase else { return try genuine.open(identities: [identity]) }
            return try genuine.open(passphrase: SecretBytes(copying: passphrase.utf8))
        }
        var items = ItemCounter()
        let reading = failure {
            let archive = try open()
            let device = archive.header.mode == .encrypted ? encrypted.device : nil
            let first = try archive.readAll(device: device, &items)
            var again = ItemCounter()
            try archive.readAgain(first, device: device, &again)
            #expect(again.count == items.count && first.contents.counts.total == items.count)
        }
        let readingMetadata = failure {
            var items = ItemCounter()
            _ = try open().readMetadata(&items)
        }
        #expect(reading != nil || readingMetadata == nil)
        return (reading, items.count)
    }
}

private struct ItemCounter: RecordVisitor {
    var count = 0

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) {
        count += 1
    }
}
