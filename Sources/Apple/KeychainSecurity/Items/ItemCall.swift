internal import Foundation
internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore

/// A call on an open keychain, with the program's access groups and the current time.
struct ItemCall {
    let keychain: Keychain
    let groups: AccessGroups
    let now: Timestamp

    // MARK: Adding

    /// Adds one item, or for an identity the halves that are not there.
    ///
    /// - Returns: the requested result, or nil.
    func add(_ request: ItemRequest, with writer: KeychainWriter) throws -> Any? {
        // A referenced object contains its own data; data given in addition would be lost.
        guard let subject = request.subject, request.object == nil || request.data == nil else {
            throw CallFailure(errSecParam)
        }
        switch (subject, request.object) {
        case (.identities, .identity(let identity)):
            return try result(add(identity, request, with: writer), request.returns)
        case (.identities, _): throw CallFailure(errSecParam)
        case (.items(let itemClass), nil):
            let draft = try complete(ItemDraft(itemClass: itemClass), request)
            return try result(add(draft, request.data, with: writer), request.returns)
        case (.items, .some(let object)):
            return try result(add(object, request, with: writer), request.returns)
        }
    }

    /// Adds the objects of several requests.
    func addAll(_ requests: [ItemRequest], with writer: KeychainWriter) throws {
        for request in requests {
            guard let object = request.object else { throw CallFailure(errSecParam) }
            _ = try add(object, request, with: writer)
        }
    }

    private func add(_ object: ReferencedObject, _ request: ItemRequest, with writer: KeychainWriter) throws
        -> FoundItem
    {
        switch object {
        case .certificate(let certificate):
            return try add(complete(certificate.draft, request), certificate.data, with: writer)
        case .key(let key): return try add(complete(key.draft, request), key.data, with: writer)
        case .identity: throw CallFailure(errSecParam)
        }
    }

    private func add(
        _ identity: SecIdentity, _ request: ItemRequest, with writer: KeychainWriter
    ) throws -> FoundIdentity {
        let (certificate, key) = (identity.certificate, identity.key)
        let certificateData: SecretBytes? = SecretBytes(copying: certificate.data)
        let keyData: SecretBytes? = key.material.copy()
        let stored = try writer.addIdentity(
            certificate: complete(certificate.draft, request), certificateData, key: complete(key.draft, request),
            keyData, now: now)
        return FoundIdentity(
            certificate: FoundItem(item: stored.certificate, data: certificate.data),
            key: FoundItem(item: stored.key, data: key.data))
    }

    private func add(_ draft: ItemDraft, _ data: Data?, with writer: KeychainWriter) throws -> FoundItem {
        var secret: SecretBytes?
        if let data { secret = SecretBytes(copying: data) }
        let item = try writer.add(draft, secret: secret, now: now)
        return FoundItem(item: item, data: data)
    }

    /// Returns the draft with the attributes and the access group of the request.
    private func complete(_ draft: ItemDraft, _ request: ItemRequest) throws(CallFailure) -> ItemDraft {
        var draft = draft
        if request.object == nil, draft.itemClass == .certificate, let data = request.data,
            let certificate = SecCertificate(data)
        {
            draft = certificate.draft
        }
        for (code, value) in request.attributes where draft.itemClass.has(code) { draft.attributes[code] = value }
        // The keychain sets the dates; values from the caller are ignored.
        draft.attributes[.cdat] = nil
        draft.attributes[.mdat] = nil
        draft.attributes[.sync] = .number(request.synchronizable == .yes ? 1 : 0)
        draft.attributes[.agrp] = .text(try groups.writable(draft.attributes.text(.agrp)))
        try refuseToken(draft.attributes[.tkid])
        return draft
    }

    /// Refuses items in a token, as there are no tokens here.
    private func refuseToken(_ token: AttributeValue?) throws(CallFailure) {
        guard token ?? .text("") == .text("") else { throw CallFailure(errSecUnimplemented) }
    }

    // MARK: Reading

    /// Finds the items that match the request.
    ///
    /// - Returns: a single value, or an array if the limit is not one; nil if nothing is requested.
    func copy(_ request: ItemRequest) throws -> Any? {
        let needsData = request.returns.contains(.data) || request.returns.contains(.reference)
        let isSingle = (request.limit ?? .one) == .one
        let values: [Any?] = try keychain.read { reader in
            var finder = ItemFinder(self, reader, request)
            finder.needsData = needsData
            switch try finder.subject() {
            case .items: return try finder.items().map { try result($0, request.returns) }
            case .identities: return try finder.identities().map { try result($0, request.returns) }
            }
        }
        guard let first = values.first else { throw CallFailure(errSecItemNotFound) }
        if request.returns.isEmpty { return nil }
        return isSingle ? first : values.compactMap { $0 }
    }

    // MARK: Changing

    /// Changes every item that matches the request, or none.
    func update(_ request: ItemRequest, to dictionary: CallDictionary, with writer: KeychainWriter) throws {
        guard case .items(let itemClass) = request.persistentReference?.subject ?? request.subject else {
            throw CallFailure(errSecUnimplemented)
        }
        let new = try ItemRequest.changes(dictionary, of: itemClass)
        var changes: [AttributeCode: AttributeValue?] = new.attributes.mapValues { $0 }
        // An access control without a constraint takes the constraint away, which takes the passcode.
        if let control = new.accessControl, control.constraint == nil { changes[.accc] = .some(nil) }
        changes[.cdat] = nil
        changes[.mdat] = nil
        try refuseToken(new.attributes[.tkid])
        if case .text(let group) = new.attributes[.agrp] {
            changes[.agrp] = .some(.text(try groups.writable(group)))
        }
        switch new.synchronizable {
        case .yes: changes[.sync] = .some(.number(1))
        case .no: changes[.sync] = .some(.number(0))
        case .any: throw CallFailure(errSecParam)
        case nil: break
        }
        var secret: SecretBytes?
        if let data = new.data { secret = SecretBytes(copying: data) }
        let items = try ItemFinder(self, writer, request).allItems()
        guard !items.isEmpty else { throw CallFailure(errSecItemNotFound) }
        for item in items {
            try writer.update(matching: ItemQuery(item), set: changes, secret: secret, now: now)
        }
    }

    /// Deletes every item that matches the request; for an identity, its certificate, and its key unless another
    /// certificate that the program may use belongs to it.
    ///
    /// - Returns: false if no item was found. Matching rows that are not valid items are deleted too, but do not count.
    func delete(_ request: ItemRequest, with writer: KeychainWriter) throws -> Bool {
        var finder = ItemFinder(self, writer, request)
        finder.takesRowsUnseen = true
        switch try finder.subject() {
        case .items(let itemClass):
            let query = try finder.query(itemClass)
            let deleted = try writer.delete(matching: query, now: now, leavingTombstones: request.leavesTombstones)
            return !deleted.items.isEmpty
        case .identities:
            let (certificates, keys) = try finder.allHalves()
            let kept = try writer.deleteIdentities(
                certificates: certificates, keys: keys, keepingKeysOf: groups.searched, now: now,
                leavingTombstones: request.leavesTombstones)
            return certificates.count + keys.count > kept.count
        }
    }
}

extension ItemClass {
    /// True if items of the class can have this attribute.
    func has(_ code: AttributeCode) -> Bool { code.belongs(to: self) }
}
