internal import Foundation
internal import KCKeychainModel

/// A reference to an item that outlives the process: the four characters of its class and the 16 bytes of its UUID.
///
/// Backups preserve UUIDs, so a reference stays valid after a restore.
struct PersistentReference: Hashable {
    let subject: ItemRequest.Subject
    /// The UUID of the item, or of an identity's certificate.
    let uuid: ItemUUID

    static let size = 20

    init(_ subject: ItemRequest.Subject, _ uuid: ItemUUID) {
        self.subject = subject
        self.uuid = uuid
    }

    /// Parses a reference.
    ///
    /// - Throws: `CallFailure` (`errSecParam`) if `data` is not a reference.
    init(_ data: Data) throws(CallFailure) {
        let bytes = Array(data)
        guard bytes.count == Self.size, let code = String(validating: bytes.prefix(4), as: UTF8.self),
            let uuid = ItemUUID(bytes: bytes.span.extracting(4...))
        else { throw CallFailure(errSecParam) }
        if code == kSecClassIdentity as String {
            subject = .identities
        } else {
            guard let itemClass = ItemClass(rawValue: code) else { throw CallFailure(errSecParam) }
            subject = .items(itemClass)
        }
        self.uuid = uuid
    }

    /// The reference as 20 bytes.
    var data: Data {
        let code =
            switch subject {
            case .items(let itemClass): itemClass.rawValue
            case .identities: kSecClassIdentity as String
            }
        return Data(Array(code.utf8) + uuid.bytes)
    }
}
