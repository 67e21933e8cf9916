internal import Foundation
internal import KCByteStreams
internal import KCKeychainModel

/// An element of `kSecMatchItemList`.
enum ListedItem {
    case reference(PersistentReference)
    case object(ReferencedObject)

    /// - Throws: `CallFailure` (`errSecParam`) for anything else.
    init(_ given: Any) throws(CallFailure) {
        if let data = given as? Data {
            self = .reference(try PersistentReference(data))
        } else {
            self = .object(try ReferencedObject(given))
        }
    }

    /// The kind of the element.
    var subject: ItemRequest.Subject {
        switch self {
        case .reference(let reference): reference.subject
        case .object(let object): object.subject
        }
    }

    /// True if the element is this item, or an identity that the item belongs to.
    func isPart(_ item: Item) -> Bool {
        switch self {
        case .reference(let reference):
            switch reference.subject {
            case .items(let itemClass): item.itemClass == itemClass && item.uuid == reference.uuid
            // An identity has the reference of its certificate, and its key is found by that.
            case .identities: item.itemClass == .key || item.uuid == reference.uuid
            }
        case .object(.identity(let identity)):
            item.itemClass == .key
                ? Self.fits(item, .key(identity.key)) : Self.fits(item, .certificate(identity.certificate))
        case .object(let object): object.subject == .items(item.itemClass) && Self.fits(item, object)
        }
    }

    private static func fits(_ item: Item, _ object: ReferencedObject) -> Bool {
        object.conditions.allSatisfy { code, value in item.attributes[code] == value }
    }
}
