@testable import KeychainSecurity

extension ReferenceModel {
    /// The items that match a request, in the order they were added.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of items, or nil for no limit.
    ///   - opening: Whether the class keys of the items are required.
    func matches(
        _ request: ModelRequest, _ groups: [String], limit: Int? = nil, opening: Bool
    ) throws(ModelRefusal) -> [Item] {
        if groups.isEmpty { throw ModelRefusal(errSecMissingEntitlement) }
        let holdsAll = groups.contains("*")
        if let group = request.group, !holdsAll, !groups.contains(group) {
            throw ModelRefusal(errSecMissingEntitlement)
        }
        let candidates = items.filter { item in
            item.isTombstone == request.meansTombstones && (holdsAll || groups.contains(item.group))
                && isMeant(item, by: request)
        }
        var found: [Item] = []
        for item in candidates {
            if found.count == limit { break }
            // Tombstones have no secret.
            if !opening || item.isTombstone || canOpen(item.protection) {
                found.append(item)
            } else {
                tally.count("a locked item is left out", when: request.skipsLocked)
                if !request.skipsLocked { throw ModelRefusal(errSecInteractionNotAllowed) }
            }
        }
        return found
    }

    private func isMeant(_ item: Item, by request: ModelRequest) -> Bool {
        if let itemClass = request.itemClass, itemClass != item.itemClass { return false }
        if let reference = request.reference {
            let isMeant = reference == .addedBy(step: item.step, itemClass: item.itemClass)
            tally.count("found by its reference", when: isMeant)
            return isMeant
        }
        if !request.meansAnySynchronizability, item.isSynchronizable != (request.isSynchronizable ?? false) {
            return false
        }
        let uniqueKey = ModelSchema.uniqueKey(of: item.itemClass)
        return request.attributes.allSatisfy { code, wanted in
            switch code {
            case "pdmn":
                if case .text(let protection) = wanted { return item.protection == protection }
                return false
            case "cdat": return ModelSchema.weight(wanted, as: .date) == .number(item.created)
            case "mdat": return ModelSchema.weight(wanted, as: .date) == .number(item.modified)
            default:
                guard let kind = ModelSchema.kind(of: code, in: item.itemClass) else { return false }
                let has = item.attributes[code]
                // Attributes outside the unique key have no default.
                if has == nil, !uniqueKey.contains(code) { return false }
                let isMeant = ModelSchema.weight(has, as: kind) == ModelSchema.weight(wanted, as: kind)
                tally.count("nothing counts as the default", when: isMeant && has == nil)
                if case (.text, .data) = (has, wanted) { tally.count("a text is found by its bytes", when: isMeant) }
                return isMeant
            }
        }
    }

    /// Finds items and returns the result.
    func copy(_ request: ModelRequest, _ groups: [String]) throws(ModelRefusal) -> PlainResult {
        let found = try matches(request, groups, limit: request.limit, opening: true)
        if found.isEmpty, case .addedBy = request.reference { tally.count("the reference of an item that is gone") }
        guard let first = found.first else { throw ModelRefusal(errSecItemNotFound) }
        tally.count("a list of several", when: request.isList && found.count > 1)
        tally.count("a list with a limit", when: request.isList && found.count == request.limit)
        tally.count("a tombstone is found", when: first.isTombstone)
        tally.count(
            "an item without a secret", when: first.secret == nil && request.returns.contains(kSecReturnData as String))
        if request.returns.isEmpty { return .nothing }
        if request.returns == [kSecReturnRef as String] {
            // Passwords have no objects.
            return request.isList ? .list([]) : .nothing
        }
        return request.isList ? .list(found.map { shown($0, request.returns) }) : shown(first, request.returns)
    }

    /// The result for one item according to the return keys.
    func shown(_ item: Item, _ returns: Set<String>) -> PlainResult {
        let reference = PlainResult.reference(step: item.step, itemClass: item.itemClass)
        switch returns {
        case []: return .nothing
        case [kSecReturnData as String]: return .data(item.secret ?? [])
        case [kSecReturnPersistentRef as String]: return reference
        case [kSecReturnRef as String]: return .nothing
        default: break
        }
        var dictionary: [String: PlainResult] = [:]
        if returns.contains(kSecReturnAttributes as String) {
            for (code, value) in item.attributes {
                guard let kind = ModelSchema.kind(of: code, in: item.itemClass), code != "musr" else { continue }
                dictionary[code] = ModelSchema.shown(value, as: kind)
            }
            dictionary["pdmn"] = .text(item.protection)
            dictionary["accc"] = .control(item.protection)
            dictionary["sync"] = .number(item.isSynchronizable ? 1 : 0)
            dictionary["cdat"] = .date(item.created)
            dictionary["mdat"] = .date(item.modified)
        }
        if returns.contains(kSecReturnData as String), let secret = item.secret {
            dictionary[kSecValueData as String] = .data(secret)
        }
        if returns.contains(kSecReturnPersistentRef as String) {
            dictionary[kSecValuePersistentRef as String] = reference
        }
        if returns.contains(kSecReturnRef as String) { dictionary[kSecClass as String] = .text(item.itemClass) }
        return .dictionary(dictionary)
    }
}
