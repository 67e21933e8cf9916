import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

/// A folder and a device, with keychains whose passcodes have a low cost.
final class Bench {
    let folder: TemporaryFolder
    let device: DeviceKey

    static let cost = ScryptCost(logN: 1)
    /// A test that starts a program holds the locks of other tests between fork and exec.
    static let patience = Duration.seconds(60)

    /// Creates a folder, for a new device or for `device`, which may have another folder too.
    ///
    /// - Parameter inMemory: true for tests with many changes, which would wait for the disk.
    init(device: DeviceKey? = nil, inMemory: Bool = false) throws {
        folder = try TemporaryFolder(inMemory: inMemory)
        if let device { self.device = device } else { self.device = try DeviceKey.generate() }
    }

    var path: String { folder.path("login.keychain") }

    func create(passcode: String? = nil, at path: String? = nil) throws -> Keychain {
        try Keychain.create(
            at: path ?? self.path, deviceKey: device, passcode: passcode.secret, cost: Self.cost, now: moment(0),
            lockWait: Self.patience)
    }

    func open(at path: String? = nil, lockWait: Duration = patience) throws -> Keychain {
        try Keychain.open(at: path ?? self.path, deviceKey: device, lockWait: lockWait, minimumCost: Self.cost)
    }

    /// Changes the file as another program would.
    @discardableResult
    func alter(_ sql: String, _ parameters: [SQLiteFile.Value] = []) throws -> [[SQLiteFile.Value]] {
        try SQLiteFile(path).run(sql, parameters)
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

extension String {
    var secret: SecretBytes? { Optional(self).secret }
}

/// The test clock: `seconds` after the start of 2026.
func moment(_ seconds: Int64) -> Timestamp {
    Timestamp(microseconds: 1_767_225_600_000_000 + seconds * 1_000_000) ?? .reference
}

/// A draft of an item.
func draft(_ itemClass: ItemClass, _ attributes: [AttributeCode: AttributeValue]) -> ItemDraft {
    var collected = Attributes()
    for (code, value) in attributes { collected[code] = value }
    return ItemDraft(itemClass: itemClass, attributes: collected)
}

/// A draft of a generic password.
func password(
    _ account: String, service: String = "mail", _ more: [AttributeCode: AttributeValue] = [:]
) -> ItemDraft {
    draft(
        .genericPassword, [.acct: .text(account), .svce: .text(service)].merging(more) { _, second in second })
}

extension Keychain {
    /// The secret as text, for tests only.
    func text(of item: Item) throws -> String? {
        switch try secret(of: item) {
        case .some(let secret): String(decoding: secret.bytesForTest(), as: UTF8.self)
        case .none: nil
        }
    }

    /// The live items; records an issue if any row is damaged.
    func items(_ query: ItemQuery = ItemQuery()) throws -> [Item] {
        let matches = try find(query)
        #expect(matches.damaged == 0)
        return matches.items
    }
}

extension Keychain {
    /// Adds one item per accessibility that the keychain accepts, with its code as the secret.
    func fill() throws -> [Accessibility: Item] {
        var items: [Accessibility: Item] = [:]
        for accessibility in Accessibility.allCases
        where hasPasscode || accessibility != .whenPasscodeSetThisDeviceOnly {
            let code = accessibility.rawValue
            items[accessibility] = try add(password(code, [.pdmn: .text(code)]), secret: code.secret, now: moment(1))
        }
        return items
    }

    /// Adds one item per constraint, with its name as the secret.
    @discardableResult
    func fillAsking() throws -> [AccessConstraint: Item] {
        var items: [AccessConstraint: Item] = [:]
        for constraint in AccessConstraint.allCases {
            let name = constraint.rawValue
            items[constraint] = try add(password(name, [.accc: .text(name)]), secret: name.secret, now: moment(1))
        }
        return items
    }

    /// The accessibilities whose item opens with the right secret.
    func readable(_ items: [Accessibility: Item]) -> Set<Accessibility> {
        Set(items.filter { (try? text(of: $1)) == $0.rawValue }.keys)
    }
}

/// Collects everything that a visit reports.
struct Collector: ItemVisitor {
    var items: [Item] = []
    var lines: [[UInt8]] = []
    var secrets: [[UInt8]] = []
    var damaged: [Item?] = []
    var isWanted: (Item) throws -> Bool = { _ in true }

    mutating func wants(_ item: Item) throws -> Bool { try isWanted(item) }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        items.append(item)
        lines.append(line.indices.map { line[$0] })
        secrets.append(secret.bytesForTest())
    }

    mutating func skip(damaged item: Item?) throws { damaged.append(item) }
}

extension Keychain {
    /// Everything that a visit reports.
    func visit(_ form: SecretForm = .plain, wants: @escaping (Item) throws -> Bool = { _ in true }) throws -> Collector
    {
        var collector = Collector()
        collector.isWanted = wants
        guard form == .plain else { return try visitStoredItems { _ in collector } }
        try visitItems(&collector)
        return collector
    }
}

/// The metadata line of an item.
func line(_ item: Item) -> SecretBytes {
    var line = SecretBytes(capacity: 1024)
    ItemLine.encode(item, into: &line)
    return line
}

/// Copies collected items to another keychain, as a restore does.
func copy(_ collected: Collector, _ form: SecretForm, to target: Keychain) throws {
    try target.writeItems { writer in
        for (index, item) in collected.items.enumerated() {
            let line = collected.lines[index]
            try writer.put(
                item, line: line.span, secret: SecretBytes(copying: collected.secrets[index]),
                in: form, replacing: nil)
        }
    }
}

extension Connection {
    /// Runs `body` in a write transaction, without the lock that keeps other processes out.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try database.begin(writing: true)
        do {
            let result = try body(database)
            try database.commit()
            return result
        } catch {
            database.rollBack()
            throw error
        }
    }
}
