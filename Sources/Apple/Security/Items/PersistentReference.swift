internal import Foundation
internal import KeychainModel

/// The name of an item that outlives the process: the four characters of its class and the 16 bytes of its UUID.
///
/// Backups keep UUIDs, so a reference is good after a restore as well.
struct PersistentReference: Hashable {
    let subject: ItemRequest.Subject
    /// The item's; for an identity its certificate's.
    let uuid: ItemUUID

    static let size = 20

    init(_ subject: ItemRequest.Subject, _ uuid: ItemUUID) {
        self.subject = subject
        self.uuid = uuid
    }

    /// Reads a reference that `data` gave.
    ///
    /// - Throws: `CallFailure` (`errSecParam`) for anything else.
    init(_ data: Data) throws(CallFailure) {
        let bytes = Array(data)
        guard bytes.count == Self.size, let code = String(validating: bytes.prefix(4), as: UTF8.self),
            let uuid = ItemUUID(bytes: bytes.span.extracting(4...))
        else { throw CallFailure(errSecParam) }
        if code == kSecClassIdentity {
            subject = .identities
        } else {
            guard let itemClass = ItemClass(rawValue: code) else { throw CallFailure(errSecParam) }
            subject = .items(itemClass)
        }
        self.uuid = uuid
    }

    /// The 20 bytes.
    var data: Data {
        let code =
            switch subject {
            case .items(let itemClass): itemClass.rawValue
            case .identities: kSecClassIdentity
            }
        return Data(Array(code.utf8) + uuid.bytes)
    }
}
