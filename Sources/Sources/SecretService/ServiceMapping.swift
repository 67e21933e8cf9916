internal import ByteStreams
internal import ItemSources
package import KeychainModel

/// Maps items of the Secret Service to items of a keychain, and back.
///
/// Every attribute is stored in `extra` under its own name, and everything else without a keychain attribute of its own
/// under names that begin with `kcbackup:`. Class, service, server and account are derived from known schemas for
/// people to read; the way back ignores them.
package enum ServiceMapping {
    /// The attribute for an item's accessibility, as in `pdmn`, which can make the item ThisDeviceOnly.
    package static let accessible = "kcbackup:accessible"

    private static let prefix = "kcbackup:"
    private static let collection = "kcbackup:collection"
    private static let number = "kcbackup:collection-number"
    private static let alias = "kcbackup:alias"
    private static let type = "kcbackup:type"
    private static let contentType = "kcbackup:content-type"
    // The prefix for an attribute whose own name begins with kcbackup's prefix.
    private static let escape = "kcbackup:attribute:"

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
        let known = KnownSchema(item)
        var draft = ItemDraft(itemClass: known.itemClass, attributes: known.attributes)
        let identity = identity(of: item, in: place, ordinal: ordinal)
        draft.attributes[.musr] = .data(identity.key)
        draft.uuid = identity.uuid
        draft.attributes[.labl] = .text(item.label)
        if let date = date(item.created) { draft.attributes[.cdat] = .date(date) }
        if let date = date(item.modified) { draft.attributes[.mdat] = .date(date) }
        var extra: [(String, String)] = [(collection, place.label)]
        if place.number > 0 { extra.append((number, String(place.number))) }
        if isDefault { extra.append((alias, "default")) }
        if let given = item.type { extra.append((type, given)) }
        if item.contentType != usualContentType { extra.append((contentType, item.contentType)) }
        for attribute in item.attributes {
            if attribute.name == accessible, let code = Accessibility(rawValue: attribute.value), code != .whenUnlocked
            {
                draft.attributes[.pdmn] = .text(code.rawValue)
            } else if attribute.name.hasPrefix(prefix) {
                extra.append((escape + attribute.name, attribute.value))
            } else {
                extra.append((attribute.name, attribute.value))
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
        attribute.name == accessible && Accessibility(rawValue: attribute.value).map { $0 != .whenUnlocked } == true
    }

    private static func date(_ seconds: UInt64) -> Timestamp? {
        guard seconds > 0, seconds < UInt64(Int64.max) / 1_000_000 else { return nil }
        return Timestamp(microseconds: Int64(seconds) * 1_000_000)
    }

    // MARK: To the service

    /// The collection that a keychain item was in; nil if the item does not come from a service.
    package static func place(of item: Item) -> CollectionName? {
        guard let label = extra(collection, of: item) else { return nil }
        return CollectionName(label: label, number: extra(number, of: item).flatMap { Int($0) } ?? 0)
    }

    /// True if the item was in the collection with the alias `default`.
    static func wasInDefault(_ item: Item) -> Bool { extra(alias, of: item) == "default" }

    /// The service's item for a keychain item; nil for a certificate or a key, which has no place there.
    package static func serviceItem(of item: Item) -> ServiceItem? {
        guard item.itemClass == .genericPassword || item.itemClass == .internetPassword else { return nil }
        let isOfService = place(of: item) != nil
        var attributes: [ServiceAttribute] = isOfService ? [] : KnownSchema.attributes(of: item)
        for attribute in item.extra {
            if attribute.name.hasPrefix(escape), isOfService {
                let name = String(attribute.name.dropFirst(escape.count))
                attributes.append(ServiceAttribute(name: name, value: attribute.value))
            } else if !attribute.name.hasPrefix(prefix) || !isOfService,
                !attributes.contains(where: { $0.name == attribute.name }),
                isSpeakable(attribute.name + attribute.value)
            {
                attributes.append(ServiceAttribute(name: attribute.name, value: attribute.value))
            }
        }
        if item.accessibility != .whenUnlocked {
            attributes.removeAll { $0.name == accessible }
            attributes.append(ServiceAttribute(name: accessible, value: item.accessibility.rawValue))
        }
        let names: [AttributeCode] = [.labl, .svce, .srvr, .acct]
        let label = isOfService ? item.attributes.text(.labl) : names.lazy.compactMap { item.attributes.text($0) }.first
        return ServiceItem(
            label: speakable(label ?? ""), attributes: attributes, type: isOfService ? extra(type, of: item) : nil,
            contentType: isOfService ? extra(contentType, of: item) ?? usualContentType : usualContentType)
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
            case .musr: place(of: item) == nil
            default: back[entry.code] != entry.value
            }
        }.map(\.code)
    }

    private static func extra(_ name: String, of item: Item) -> String? {
        item.extra.first { $0.name == name }?.value
    }

    /// False for a text that D-Bus cannot transport.
    static func isSpeakable(_ text: String) -> Bool { !text.utf8.contains(0) }

    private static func speakable(_ text: String) -> String { isSpeakable(text) ? text : displayed(text) }
}
