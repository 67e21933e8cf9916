internal import KCByteStreams
internal import KCItemSources
package import KCKeychainModel

/// Maps items of the Secret Service to items of a keychain, and back.
///
/// Every attribute is stored in `extra` under its own name, and everything else without a keychain attribute of its own
/// under names that begin with `kcbackup:`. Class, service, server and account are derived from known schemas for
/// people to read; the way back ignores them.
package enum ServiceMapping {
    /// The content type of most secrets; it is not stored.
    static let usualContentType = "text/plain"
    /// The content type of a secret that is not text.
    static let contentTypeOfBytes = "application/octet-stream"

    // MARK: From the service

    /// The keychain item for an item of a service.
    ///
    /// - Parameter ordinal: the index of the item among those of the collection with the same attributes, from 0.
    package static func draft(
        of item: ServiceItem, in place: CollectionName, isDefault: Bool, ordinal: Int
    ) -> ItemDraft {
        let schema = KeyringSchema(
            item.attributes.map { ($0.name, $0.value) }, type: item.type, label: item.label)
        var draft = ItemDraft(itemClass: schema.itemClass, attributes: schema.attributes)
        let identity = identity(of: item, in: place, ordinal: ordinal)
        draft.attributes[.musr] = .data(identity.key)
        draft.uuid = identity.uuid
        draft.attributes[.labl] = .text(item.label)
        if let date = date(item.created) { draft.attributes[.cdat] = .date(date) }
        if let date = date(item.modified) { draft.attributes[.mdat] = .date(date) }
        var extra: [(String, String)] = [(KeyringExtra.collection, place.label)]
        if place.number > 0 { extra.append((KeyringExtra.number, String(place.number))) }
        if isDefault { extra.append((KeyringExtra.alias, "default")) }
        if let type = item.type { extra.append((KeyringExtra.type, type)) }
        if item.contentType != usualContentType { extra.append((KeyringExtra.contentType, item.contentType)) }
        for attribute in item.attributes {
            if let accessibility = KeyringExtra.accessibility(attribute.name, attribute.value) {
                draft.attributes[.pdmn] = .text(accessibility.rawValue)
            } else {
                extra.append((KeyringExtra.name(of: attribute.name), attribute.value))
            }
        }
        draft.extra = extra.map { ExtraAttribute(name: $0.0, value: $0.1) }
        return draft
    }

    /// The identity of an item.
    static func identity(of item: ServiceItem, in place: CollectionName, ordinal: Int) -> KeyringIdentity {
        KeyringIdentity(
            keyring: place.label, number: place.number,
            attributes: item.identifying.filter { !isOurs($0) }.map { ($0.name, $0.value) }, type: item.type,
            label: .text(item.label), ordinal: ordinal)
    }

    /// True for the accessibility, which does not identify an item.
    private static func isOurs(_ attribute: ServiceAttribute) -> Bool {
        KeyringExtra.accessibility(attribute.name, attribute.value) != nil
    }

    private static func date(_ seconds: UInt64) -> Timestamp? {
        guard seconds > 0, seconds < UInt64(Int64.max) / 1_000_000 else { return nil }
        return Timestamp(microseconds: Int64(seconds) * 1_000_000)
    }

    // MARK: To the service

    /// The collection that a keychain item was in; nil if the item does not come from a service.
    package static func place(of item: Item) -> CollectionName? {
        guard let label = extra(KeyringExtra.collection, of: item) else { return nil }
        return CollectionName(label: label, number: extra(KeyringExtra.number, of: item).flatMap(placeNumber) ?? 0)
    }

    /// A number as it was written; nil for any other text.
    private static func placeNumber(_ text: String) -> Int? {
        Int(text).flatMap { $0 > 0 && String($0) == text ? $0 : nil }
    }

    /// Selects the archived items of a collection.
    package static func filter(collection label: String) -> ItemFilter {
        var filter = ItemFilter()
        filter.extra = [ExtraAttribute(name: KeyringExtra.collection, value: label)]
        return filter
    }

    /// True if the item was in the collection with the alias `default`.
    static func wasInDefault(_ item: Item) -> Bool { extra(KeyringExtra.alias, of: item) == "default" }

    /// The service's item for a keychain item; nil for a certificate or a key, which has no place there.
    package static func serviceItem(of item: Item) -> ServiceItem? { converted(item)?.item }

    /// The names of the extra attributes of an item that a service cannot hold.
    package static func unmappedExtra(_ item: Item) -> [String] { converted(item)?.lost ?? item.extra.map(\.name) }

    /// The service's item for a keychain item, and the names of the extra attributes that it cannot hold.
    private static func converted(_ item: Item) -> (item: ServiceItem, lost: [String])? {
        guard item.itemClass == .genericPassword || item.itemClass == .internetPassword else { return nil }
        let isOfService = place(of: item) != nil
        var attributes: [ServiceAttribute] = isOfService ? [] : ServiceNames.attributes(of: item)
        var lost: [String] = []
        var properties: [ExactText: String] = [:]
        for extra in item.extra {
            var name = extra.name
            if isOfService, let escaped = name.exact.removingPrefix(KeyringExtra.escape) {
                name = escaped
            } else if isOfService, name.exact.hasPrefix(KeyringExtra.prefix) {
                // A service has no numbers.
                let isKept = name != KeyringExtra.numbers
                if isKept, isSpeakable(extra.value),
                    name != KeyringExtra.number || placeNumber(extra.value) != nil
                {
                    properties[name.exact] = extra.value
                } else {
                    lost.append(extra.name)
                }
                continue
            }
            let isThere = attributes.contains { $0.hasName(name) }
            if isThere, attributes.contains(ServiceAttribute(name: name, value: extra.value)) { continue }
            if isThere || isHash(name) || !isSpeakable(name + extra.value) {
                lost.append(extra.name)
            } else {
                attributes.append(ServiceAttribute(name: name, value: extra.value))
            }
        }
        if item.accessibility != .whenUnlocked {
            attributes.removeAll { $0.hasName(KeyringExtra.accessible) }
            attributes.append(ServiceAttribute(name: KeyringExtra.accessible, value: item.accessibility.rawValue))
        }
        let names: [AttributeCode] = [.labl, .svce, .srvr, .acct]
        let label = isOfService ? item.attributes.text(.labl) : names.lazy.compactMap { item.attributes.text($0) }.first
        let service = ServiceItem(
            label: speakable(label ?? ""), attributes: attributes, type: properties[KeyringExtra.type.exact],
            contentType: properties[KeyringExtra.contentType.exact] ?? usualContentType)
        return (service, lost)
    }

    /// The attributes of an item that a service cannot hold.
    ///
    /// Dates are always among them, since a service dates its items itself.
    package static func unmappedAttributes(_ item: Item) -> [AttributeCode] {
        guard let service = serviceItem(of: item) else { return item.attributes.entries.map(\.code) }
        let back = draft(of: service, in: CollectionName(label: ""), isDefault: false, ordinal: 0).attributes
        return item.attributes.entries.filter { entry in
            switch entry.code {
            case .sync: entry.value != .number(0)
            case .agrp: entry.value != .text(ItemDraft.defaultAccessGroup)
            case .pdmn: false
            // Without an account, a service has no attribute for it.
            case .acct where entry.value == .text(""): false
            case .musr: place(of: item) == nil
            default: back[entry.code] != entry.value
            }
        }.map(\.code)
    }

    private static func extra(_ name: String, of item: Item) -> String? {
        item.extra.first { $0.name.exact == name.exact && isSpeakable($0.value) }?.value
    }

    // The prefix of attribute names in GNOME Keyring's files that were never unlocked; the values are hashes. GNOME
    // Keyring accepts such names from programs too, but the attribute says nothing then.
    private static let hashedPrefix = "gkr:compat:hashed:"

    /// True for the name of an attribute whose value is a hash.
    static func isHash(_ name: String) -> Bool { name.utf8.starts(with: hashedPrefix.utf8) }

    /// False for a text that D-Bus cannot transport.
    static func isSpeakable(_ text: String) -> Bool { !text.utf8.contains(0) }

    private static func speakable(_ text: String) -> String { isSpeakable(text) ? text : displayed(text) }
}
