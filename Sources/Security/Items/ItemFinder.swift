internal import ByteStreams
internal import Foundation
internal import KeychainModel
internal import KeychainStore

/// An item that was found, with its secret where that was wanted.
struct FoundItem {
    let item: Item
    let data: Data?
}

/// A certificate that was found, and the private key that belongs to it.
struct FoundIdentity {
    let certificate: FoundItem
    let key: FoundItem
}

/// Finds what a request means, in one state of the keychain.
///
/// A row that makes no item, or whose seal is broken, is passed over as if it were not there. One whose class key is not
/// at hand ends the search with `errSecInteractionNotAllowed`, also where no secret is wanted: on Apple's systems
/// attributes are locked away as well, and a program must not take "locked" for "not there".
struct ItemFinder {
    private let call: ItemCall
    private let reader: KeychainReader
    private let request: ItemRequest
    /// True to bring secrets along.
    var needsData = false

    init(_ call: ItemCall, _ reader: KeychainReader, _ request: ItemRequest) {
        self.call = call
        self.reader = reader
        self.request = request
    }

    /// What is looked for.
    ///
    /// - Throws: `CallFailure` (`errSecParam`) where a reference and a class disagree, or filters do not fit.
    func subject() throws(CallFailure) -> ItemRequest.Subject {
        guard let subject = request.persistentReference?.subject ?? request.subject,
            request.subject ?? subject == subject
        else { throw CallFailure(errSecParam) }
        try request.filters.check(subject)
        return subject
    }

    /// The items, at most as many as the limit says.
    func items() throws -> [FoundItem] {
        guard case .items(let itemClass) = try subject() else { throw CallFailure(errSecParam) }
        return try found(itemClass, attributes: conditions, limit: limit)
    }

    /// All items, whatever the limit, without their secrets.
    func allItems() throws -> [Item] {
        guard case .items(let itemClass) = try subject() else { throw CallFailure(errSecParam) }
        return try found(itemClass, attributes: conditions, limit: nil).map(\.item)
    }

    /// The identities, at most as many as the limit says.
    func identities() throws -> [FoundIdentity] {
        var ofKey: [AttributeCode: AttributeValue] = [:]
        var ofCertificate: [AttributeCode: AttributeValue] = [:]
        for (code, value) in conditions {
            if ItemClass.certificate.has(code) { ofCertificate[code] = value } else { ofKey[code] = value }
        }
        ofKey[.kcls] = .number(1)
        var identities: [FoundIdentity] = []
        for certificate in try found(.certificate, attributes: ofCertificate, limit: nil) {
            guard let hash = certificate.item.attributes[.pkhh] else { continue }
            ofKey[.klbl] = hash
            guard let key = try found(.key, attributes: ofKey, limit: 1).first else { continue }
            identities.append(FoundIdentity(certificate: certificate, key: key))
            if identities.count == limit { break }
        }
        return identities
    }

    /// The query that finds candidates in the keychain.
    func query(_ itemClass: ItemClass, limit: Int?) throws(CallFailure) -> ItemQuery {
        try query(itemClass, conditions, limit: limit)
    }

    private func query(
        _ itemClass: ItemClass, _ attributes: [AttributeCode: AttributeValue], limit: Int?
    ) throws(CallFailure) -> ItemQuery {
        if let group = attributes[.agrp] {
            guard case .text(let named) = group, call.groups.include(named) else {
                throw CallFailure(errSecMissingEntitlement)
            }
        } else if call.groups.ordered.isEmpty {
            throw CallFailure(errSecMissingEntitlement)
        }
        var query = ItemQuery(itemClass: itemClass, attributes: attributes, accessGroups: call.groups.searched)
        query.limit = limit
        query.meansTombstones = request.meansTombstones
        if let reference = request.persistentReference {
            if case .items = reference.subject { query.uuid = reference.uuid }
            if itemClass == .certificate { query.uuid = reference.uuid }
        } else {
            query.synchronizable = request.synchronizable ?? .no
        }
        return query
    }

    private var conditions: [AttributeCode: AttributeValue] {
        // What the caller says beside an object makes the condition narrower.
        (request.object?.conditions ?? [:]).merging(request.attributes) { $1 }
    }

    private var limit: Int? {
        switch request.limit ?? .one {
        case .one: 1
        case .number(let count): count
        case .all: nil
        }
    }

    private func found(
        _ itemClass: ItemClass, attributes: [AttributeCode: AttributeValue], limit: Int?
    ) throws -> [FoundItem] {
        let (exact, folded) = request.filters.split(attributes)
        let isExact = request.filters.isEmpty
        // Most often the first row will do. Where it does not, because it is damaged, all are looked at.
        if let limit, isExact {
            let candidates = try reader.find(query(itemClass, exact, limit: limit)).items
            let usable = try self.usable(candidates, folded, limit: limit)
            if usable.count == candidates.count { return usable }
        }
        return try usable(reader.find(query(itemClass, exact, limit: nil)).items, folded, limit: limit)
    }

    private func usable(
        _ candidates: [Item], _ folded: [AttributeCode: String], limit: Int?
    ) throws -> [FoundItem] {
        var found: [FoundItem] = []
        for item in candidates where request.filters.accepts(item, folded: folded) {
            if found.count == limit { break }
            if request.meansTombstones {
                found.append(FoundItem(item: item, data: nil))
                continue
            }
            guard call.keychain.canOpen(item.accessibility) else {
                if request.skipsLocked { continue }
                throw CallFailure(errSecInteractionNotAllowed)
            }
            guard let whole = try opened(item),
                item.itemClass != .certificate || request.filters.accepts(certificate: whole.data)
            else { continue }
            found.append(needsData ? whole : FoundItem(item: item, data: nil))
        }
        return found
    }
}

extension ItemFinder {
    /// An item with its secret; nil when its seal is broken.
    private func opened(_ item: Item) throws(KeychainStoreError) -> FoundItem? {
        do {
            guard let secret = try reader.secret(of: item) else { return FoundItem(item: item, data: nil) }
            return FoundItem(item: item, data: secret.data)
        } catch {
            if case .itemDamaged = error { return nil }
            throw error
        }
    }
}

extension SecretBytes {
    /// A copy in ordinary memory, which nothing wipes: what the API hands out.
    fileprivate var data: Data {
        borrowing get { withBytes { bytes in Data(bytes.indices.map { bytes[$0] }) } }
    }
}
