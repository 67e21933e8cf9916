internal import KCByteStreams
internal import KCItemMatching
package import KCKeychainModel

extension Item {
    /// The item without its authentication type.
    var withoutAuthentication: Item {
        get throws(ItemProblem) {
            var attributes = attributes
            attributes[.atyp] = nil
            return try with(uuid: uuid, attributes: attributes)
        }
    }

    /// The item as it replaces one that is there: what the source does not say, and what the user decides, such as who
    /// may read it, stays as it is.
    func merged(into old: Item) throws(ItemProblem) -> Item {
        guard old.itemClass == itemClass else { return self }
        // A key that may not be extracted stays so.
        let keepsBound = old.attributes.number(.extr) == 0
        // The existing item keeps its accessibility; from another device's point of view it may only become stricter.
        let keepsAccessibility = !accessibility.isThisDeviceOnly || old.isSynchronizable
        let isAlike = likeness == old.likeness
        let (mine, theirs) = (attributes.codes, old.attributes.codes)
        let merged = attributes.replaced(by: old.attributes) { code in
            switch code {
            case .agrp, .sync, .cdat: true
            case .extr where keepsBound: true
            case .pdmn where keepsAccessibility: true
            case .svce where isAlike, .sdmn where isAlike, .musr where isAlike: true
            default: !mine.contains(code) && theirs.contains(code) && !isComplete(code, for: old)
            }
        }
        // A record of another program that has the same names does not take an item out of its own record.
        let oldFormat = old.freeAttribute("source.format")
        let isOfRecord = ["source.id", "source.record"].contains { old.freeAttribute($0) != nil }
        let isOfOther = oldFormat != nil && isOfRecord && freeAttribute("source.format") != oldFormat
        let own = isOfOther ? extra.filter { !Self.isOrigin($0) } : extra
        let kept = old.extra.filter { isOfOther && Self.isOrigin($0) || !replaces($0, of: old) }
        let all = (own + kept).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return try Item(
            itemClass: itemClass, uuid: old.uuid, attributes: merged, extra: all, secretSize: secretSize)
    }

    /// True if the source says all about an attribute, so that a missing one is removed.
    ///
    /// A source that has an address has all its parts. A record with an ID says whether it has a user name.
    private func isComplete(_ code: AttributeCode, for old: Item) -> Bool {
        guard let format = freeAttribute("source.format") else { return false }
        switch code {
        case .port, .path, .sdmn, .ptcl, .atyp: return attributes[.srvr] != nil
        case .acct:
            let id = freeAttribute("source.id")
            return id != nil && id == old.freeAttribute("source.id") && format == old.freeAttribute("source.format")
        default: return false
        }
    }

    /// True if a free attribute of the existing item is removed.
    ///
    /// A record with an ID is complete. A row of a table may lack columns, but has all its addresses. Attributes with the name
    /// of the format, such as the labels of a Secret of Kubernetes, are those that the file has now.
    private func replaces(_ attribute: ExtraAttribute, of old: Item) -> Bool {
        if extra.contains(where: { $0.name.exact == attribute.name.exact }) { return true }
        guard let format = freeAttribute("source.format"), format == old.freeAttribute("source.format") else {
            return false
        }
        if Self.isOrigin(attribute) { return true }
        if let id = freeAttribute("source.id"), id == old.freeAttribute("source.id") { return true }
        if attribute.name.exact.hasPrefix(format + ".") { return true }
        return attribute.name.exact.hasPrefix("url.") && freeAttribute("url.1") != nil
    }

    /// True for an attribute that says which part of which record an item is.
    private static func isOrigin(_ attribute: ExtraAttribute) -> Bool {
        ["source.format", "source.id", "source.record", "source.part"].contains(attribute.name)
    }

    func freeAttribute(_ name: String) -> String? { extra.first { $0.name.exact == name.exact }?.value }

    /// The same item without dates of its own, for comparisons.
    package var undated: Item {
        get throws(ItemProblem) {
            var attributes = attributes
            attributes[.cdat] = .date(.reference)
            attributes[.mdat] = .date(.reference)
            return try with(uuid: uuid, attributes: attributes)
        }
    }

    /// The same item with the dates of another.
    func dated(as other: Item) throws(ItemProblem) -> Item {
        try with(uuid: uuid, attributes: attributes.replaced(by: other.attributes) { $0 == .cdat || $0 == .mdat })
    }
}
