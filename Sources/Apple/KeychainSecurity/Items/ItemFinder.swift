internal import Foundation
internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore

/// A found item, with its secret if requested.
struct FoundItem {
    let item: Item
    let data: Data?
}

/// A found certificate and its private key.
struct FoundIdentity {
    let certificate: FoundItem
    let key: FoundItem
}

/// Finds the items that match a request, in one snapshot of the keychain.
///
/// A row that is not a valid item, or whose seal is broken, is skipped as if it did not exist. If the class key of an
/// item is not available, the search fails with `errSecInteractionNotAllowed`, even if no secret was requested: on
/// Apple's systems, attributes are locked too, and a program must not mistake "locked" for "not found".
struct ItemFinder {
    private let call: ItemCall
    private let reader: KeychainReader
    private let request: ItemRequest
    /// True to include secrets.
    var needsData = false
    /// True to accept locked or damaged rows, as when deleting, which needs no class key.
    var takesRowsUnseen = false

    init(_ call: ItemCall, _ reader: KeychainReader, _ request: ItemRequest) {
        self.call = call
        self.reader = reader
        self.request = request
    }

    /// Returns the subject of the search.
    ///
    /// - Throws: `CallFailure` (`errSecParam`) if filters do not apply.
    func subject() throws(CallFailure) -> ItemRequest.Subject {
        guard let subject = request.persistentReference?.subject ?? request.subject else {
            throw CallFailure(errSecParam)
        }
        try request.filters.check(subject)
        return subject
    }

    /// Returns the matching items, up to the limit.
    func items() throws -> [FoundItem] {
        guard case .items(let itemClass) = try subject() else { throw CallFailure(errSecParam) }
        return try found(itemClass, attributes: conditions, limit: limit)
    }

    /// Returns all matching items, regardless of the limit, without their secrets.
    func allItems() throws -> [Item] {
        guard case .items(let itemClass) = try subject() else { throw CallFailure(errSecParam) }
        return try found(itemClass, attributes: conditions, limit: nil).map(\.item)
    }

    /// Returns the matching identities, up to the limit.
    func identities() throws -> [FoundIdentity] { try identities(limit: limit) }

    /// Returns the halves of all matching identities, regardless of the limit, without their secrets; of a referenced
    /// identity, also one whose other half is missing.
    func allHalves() throws -> (certificates: [Item], keys: [Item]) {
        guard case .identity(let identity) = request.object else {
            let identities = try identities(limit: nil)
            return (identities.map(\.certificate.item), identities.map(\.key.item))
        }
        let (ofCertificate, ofKey) = conditionsOfHalves
        let keys = ReferencedObject.key(identity.key).conditions.merging(ofKey) { $1 }
        return (
            try found(.certificate, attributes: ofCertificate, limit: nil).map(\.item),
            try found(.key, attributes: keys, limit: nil).map(\.item)
        )
    }

    private var conditionsOfHalves: (certificate: [AttributeCode: AttributeValue], key: [AttributeCode: AttributeValue])
    {
        var ofKey: [AttributeCode: AttributeValue] = [:]
        var ofCertificate: [AttributeCode: AttributeValue] = [:]
        for (code, value) in conditions {
            if ItemClass.certificate.has(code) { ofCertificate[code] = value } else { ofKey[code] = value }
        }
        ofKey[.kcls] = .number(1)
        return (ofCertificate, ofKey)
    }

    private func identities(limit: Int?) throws -> [FoundIdentity] {
        let (ofCertificate, given) = conditionsOfHalves
        var ofKey = given
        var identities: [FoundIdentity] = []
        try visit(.certificate, attributes: ofCertificate) { certificate in
            guard let hash = certificate.item.attributes[.pkhh] else { return true }
            ofKey[.klbl] = hash
            guard let key = try found(.key, attributes: ofKey, limit: 1).first else { return true }
            identities.append(FoundIdentity(certificate: certificate, key: key))
            return identities.count != limit
        }
        return identities
    }

    /// Returns the query that finds candidates in the keychain.
    func query(_ itemClass: ItemClass) throws(CallFailure) -> ItemQuery { try query(itemClass, conditions) }

    private func query(
        _ itemClass: ItemClass, _ attributes: [AttributeCode: AttributeValue]
    ) throws(CallFailure) -> ItemQuery {
        if let group = attributes[.agrp] {
            guard case .text(let named) = group, call.groups.include(named) else {
                throw CallFailure(errSecMissingEntitlement)
            }
        } else if call.groups.ordered.isEmpty {
            throw CallFailure(errSecMissingEntitlement)
        }
        var query = ItemQuery(itemClass: itemClass, attributes: attributes, accessGroups: call.groups.searched)
        query.meansTombstones = request.meansTombstones
        query.order = .insertion
        if let reference = request.persistentReference {
            if case .items = reference.subject { query.uuid = reference.uuid }
            if itemClass == .certificate { query.uuid = reference.uuid }
        } else {
            query.synchronizable = request.synchronizable ?? .no
        }
        return query
    }

    private var conditions: [AttributeCode: AttributeValue] {
        // Attributes in the request narrow the search for a referenced object.
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
        var found: [FoundItem] = []
        try visit(itemClass, attributes: attributes) { item in
            found.append(item)
            return found.count != limit
        }
        return found
    }

    /// Visits the matching items, row by row, until `body` returns false.
    private func visit(
        _ itemClass: ItemClass, attributes: [AttributeCode: AttributeValue], _ body: (FoundItem) throws -> Bool
    ) throws {
        let (exact, folded) = request.filters.split(attributes)
        let query = try query(itemClass, exact)
        if request.limit == .number(0) { return }
        try reader.visit(query) { item in
            guard request.filters.accepts(item, folded: folded), let found = try judged(item) else { return true }
            return try body(found)
        }
    }

    /// Returns the item if it matches, or nil to skip it.
    private func judged(_ item: Item) throws -> FoundItem? {
        if request.meansTombstones || takesRowsUnseen { return FoundItem(item: item, data: nil) }
        // Attributes are readable while the keychain is unlocked; only the secret asks for the passcode.
        let isAsking = item.protection.constraint != nil && !call.keychain.canOpen(item.protection)
        if isAsking, !needsData, call.keychain.canOpen(Protection(item.accessibility)) {
            return FoundItem(item: item, data: nil)
        }
        guard call.keychain.canOpen(item.protection) else {
            if request.skipsLocked { return nil }
            throw CallFailure(errSecInteractionNotAllowed)
        }
        // Certificates are public, and the filters need their contents. Other secrets are copied only if requested.
        if needsData || item.itemClass == .certificate {
            guard let found = try opened(item),
                item.itemClass != .certificate || request.filters.accepts(certificate: found.data)
            else { return nil }
            return found
        }
        return try reader.isWhole(item) ? FoundItem(item: item, data: nil) : nil
    }

    /// Returns an item with its secret; nil if its seal is broken.
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
