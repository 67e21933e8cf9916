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
    /// True to take rows as they are, locked or damaged: what deletes needs no class key.
    var takesRowsUnseen = false

    init(_ call: ItemCall, _ reader: KeychainReader, _ request: ItemRequest) {
        self.call = call
        self.reader = reader
        self.request = request
    }

    /// What is looked for.
    ///
    /// - Throws: `CallFailure` (`errSecParam`) where filters do not fit.
    func subject() throws(CallFailure) -> ItemRequest.Subject {
        guard let subject = request.persistentReference?.subject ?? request.subject else {
            throw CallFailure(errSecParam)
        }
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
    func identities() throws -> [FoundIdentity] { try identities(limit: limit) }

    /// All identities, whatever the limit.
    func allIdentities() throws -> [FoundIdentity] { try identities(limit: nil) }

    private func identities(limit: Int?) throws -> [FoundIdentity] {
        var ofKey: [AttributeCode: AttributeValue] = [:]
        var ofCertificate: [AttributeCode: AttributeValue] = [:]
        for (code, value) in conditions {
            if ItemClass.certificate.has(code) { ofCertificate[code] = value } else { ofKey[code] = value }
        }
        ofKey[.kcls] = .number(1)
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

    /// The query that finds candidates in the keychain.
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
        var found: [FoundItem] = []
        try visit(itemClass, attributes: attributes) { item in
            found.append(item)
            return found.count != limit
        }
        return found
    }

    /// Visits what is meant, row by row, until `body` answers false.
    private func visit(
        _ itemClass: ItemClass, attributes: [AttributeCode: AttributeValue], _ body: (FoundItem) throws -> Bool
    ) throws {
        let (exact, folded) = request.filters.split(attributes)
        try reader.visit(query(itemClass, exact)) { item in
            guard request.filters.accepts(item, folded: folded), let found = try judged(item) else { return true }
            return try body(found)
        }
    }

    /// An item that counts; nil for one to be passed over.
    private func judged(_ item: Item) throws -> FoundItem? {
        if request.meansTombstones || takesRowsUnseen { return FoundItem(item: item, data: nil) }
        guard call.keychain.canOpen(item.accessibility) else {
            if request.skipsLocked { return nil }
            throw CallFailure(errSecInteractionNotAllowed)
        }
        // A certificate is public, and its filters look into it. Of others no copy is made that nobody wants.
        if needsData || item.itemClass == .certificate {
            guard let found = try opened(item),
                item.itemClass != .certificate || request.filters.accepts(certificate: found.data)
            else { return nil }
            return found
        }
        return try reader.isWhole(item) ? FoundItem(item: item, data: nil) : nil
    }

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
