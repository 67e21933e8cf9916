internal import ByteStreams
internal import ItemSources
package import KeychainModel

/// What an item of the Secret Service is as an item of a keychain, and the way back.
///
/// Every attribute goes into `extra` under its own name, and everything else that has no attribute of its own in a
/// keychain under names that begin with `kcbackup:`. Class, service, server and account are made of what is known of
/// the schema, for people to read; the way back does not look at them.
package enum ServiceMapping {
    /// The attribute by which an item is ThisDeviceOnly: its accessibility, as in `pdmn`.
    package static let accessible = "kcbackup:accessible"

    private static let prefix = "kcbackup:"
    private static let collection = "kcbackup:collection"
    private static let number = "kcbackup:collection-number"
    private static let alias = "kcbackup:alias"
    private static let type = "kcbackup:type"
    private static let contentType = "kcbackup:content-type"
    // A foreign attribute whose name begins with our prefix.
    private static let escape = "kcbackup:attribute:"

    /// What most secrets are; it is not kept.
    static let usualContentType = "text/plain"
    /// What a secret is that is no text.
    static let contentTypeOfBytes = "application/octet-stream"

    // MARK: From the service

    /// The item of a keychain.
    ///
    /// - Parameter ordinal: the how-manieth it is, from 0, of the items with the same attributes in the collection.
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

    /// Which item it is.
    static func identity(of item: ServiceItem, in place: CollectionName, ordinal: Int) -> KeyringIdentity {
        KeyringIdentity(
            keyring: place.label, number: place.number,
            attributes: item.identifying.filter { !isOurs($0) }.map { ($0.name, $0.value) }, type: item.type,
            label: .text(item.label), ordinal: ordinal)
    }

    /// True for the accessibility, which is no part of what programs find the item by.
    private static func isOurs(_ attribute: ServiceAttribute) -> Bool {
        attribute.name == accessible && Accessibility(rawValue: attribute.value).map { $0 != .whenUnlocked } == true
    }

    private static func date(_ seconds: UInt64) -> Timestamp? {
        guard seconds > 0, seconds < UInt64(Int64.max) / 1_000_000 else { return nil }
        return Timestamp(microseconds: Int64(seconds) * 1_000_000)
    }

    // MARK: To the service

    /// The collection that an item of a keychain was in; nil for one that comes from elsewhere.
    package static func place(of item: Item) -> CollectionName? {
        guard let label = extra(collection, of: item) else { return nil }
        return CollectionName(label: label, number: extra(number, of: item).flatMap { Int($0) } ?? 0)
    }

    /// True if the item was in the collection with the alias `default`.
    static func wasInDefault(_ item: Item) -> Bool { extra(alias, of: item) == "default" }

    /// The item of a service that becomes of an item of a keychain; nil for a certificate or a key, which has no place
    /// there.
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

    /// The attributes of an item that a service does not hold.
    ///
    /// Dates are among them always: a service dates its items itself.
    package static func withoutHome(_ item: Item) -> [AttributeCode] {
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
