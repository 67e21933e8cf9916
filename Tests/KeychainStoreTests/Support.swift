import ByteStreams
import Cryptography
import DeviceIdentity
import GRDB
import KeychainModel
import TestSupport
import Testing

@testable import KeychainStore

/// A folder with a device key, in which keychains are made and opened with a cost that tests can afford.
final class Bench {
    let folder: TemporaryFolder
    let device: DeviceKey

    static let cost = ScryptCost(logN: 1)

    init() throws {
        folder = try TemporaryFolder()
        device = try DeviceKey.generate()
    }

    var path: String { folder.path("login.keychain") }

    func create(passcode: String? = nil, at path: String? = nil) throws -> Keychain {
        try Keychain.create(
            at: path ?? self.path, deviceKey: device, passcode: passcode.secret, cost: Self.cost, now: moment(0),
            lockWait: .zero)
    }

    func open(at path: String? = nil) throws -> Keychain {
        try Keychain.open(at: path ?? self.path, deviceKey: device, lockWait: .zero, minimumCost: Self.cost)
    }

    /// Runs `statements` on the file as another program would.
    func alter(_ statements: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: statements) }
        try queue.close()
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

/// The test clock: `seconds` after the first second of 2026.
func moment(_ seconds: Int64) -> Timestamp {
    Timestamp(microseconds: 1_767_225_600_000_000 + seconds * 1_000_000) ?? .reference
}

/// A generic password as a user would add it.
func password(
    _ account: String, service: String = "mail", _ more: [AttributeCode: AttributeValue] = [:]
) -> ItemDraft {
    var attributes = Attributes()
    attributes[.acct] = .text(account)
    attributes[.svce] = .text(service)
    for (code, value) in more { attributes[code] = value }
    return ItemDraft(itemClass: .genericPassword, attributes: attributes)
}

extension Keychain {
    /// The secret as text, which only tests may make.
    func text(of item: Item) throws -> String? {
        switch try secret(of: item) {
        case .some(let secret): String(decoding: secret.bytesForTest(), as: UTF8.self)
        case .none: nil
        }
    }
}
