internal import KCByteStreams
internal import KCItemSources
package import KCKeychainModel

/// An attribute that cannot be changed in a Secret Service, because no attribute there corresponds to it.
package struct UnmappedAttribute: Error {
    /// The attribute.
    package let code: AttributeCode
}

/// Changes to an item of a Secret Service.
package struct ServiceChanges {
    private let item: Item
    private let place: CollectionName
    private(set) var service: ServiceItem

    /// Prepares changes to an item that a service holds.
    package init(of item: Item) {
        guard let place = ServiceMapping.place(of: item), let service = ServiceMapping.serviceItem(of: item) else {
            preconditionFailure("an item of a service is in a collection")
        }
        self.item = item
        self.place = place
        self.service = service
    }

    /// Sets an attribute, or removes it if `value` is nil.
    ///
    /// If an attribute of the service's item corresponds to it, that attribute is changed; otherwise one is added.
    package mutating func set(_ code: AttributeCode, to value: AttributeValue?) throws(UnmappedAttribute) {
        switch (code, value) {
        case (.labl, .text(let label)) where ServiceMapping.isSpeakable(label):
            service.label = label
            if service.isEntry { replace(KeyringEntry.title, by: label) }
        case (.pdmn, nil): replace(KeyringExtra.accessible, by: nil)
        case (.pdmn, .text(let accessibility)):
            replace(
                KeyringExtra.accessible,
                by: accessibility == Accessibility.whenUnlocked.rawValue ? nil : accessibility)
        default:
            // Such an item is identified by its label, and an attribute would make another one of it.
            if service.attributes.isEmpty { throw UnmappedAttribute(code: code) }
            let homes = ServiceNames.homes(of: code, in: item.itemClass)
            let candidates = homes.filter { service[$0] != nil } + homes.prefix(1)
            guard let text = Self.text(of: value, code), let changed = changed(candidates, text, code, value) else {
                throw UnmappedAttribute(code: code)
            }
            service = changed
        }
    }

    /// The service's item after a change of the first of these attributes that leads to the wanted value; nil if none
    /// does.
    private func changed(
        _ names: [String], _ text: String?, _ code: AttributeCode, _ value: AttributeValue?
    ) -> ServiceItem? {
        names.lazy.map { name in
            var changes = self
            changes.replace(name, by: text)
            return changes
        }.first { $0.draft(ordinal: 0).attributes[code] == value }?.service
    }

    private mutating func replace(_ name: String, by text: String?) {
        service.attributes.removeAll { $0.name.exact == name.exact }
        if let text { service.attributes.append(ServiceAttribute(name: name, value: text)) }
        service.attributes.sort()
    }

    /// The text for an attribute of a service, or a nested nil to remove it; nil if no text can express the value.
    private static func text(of value: AttributeValue?, _ code: AttributeCode) -> String?? {
        switch value {
        case nil: .some(nil)
        case .text(let text) where ServiceMapping.isSpeakable(text): text
        case .number(let number) where code == .ptcl: WebAddress.scheme(ofProtocolCode: number)
        case .number(let number): String(number)
        default: nil
        }
    }

    private func draft(ordinal: Int) -> ItemDraft {
        ServiceMapping.draft(
            of: service, in: place, isDefault: ServiceMapping.wasInDefault(item), ordinal: ordinal)
    }

    /// True if the item is marked as bound to this device, which a service cannot enforce.
    package var isMarkedAsBound: Bool {
        service.attributes.contains { KeyringExtra.accessibility($0.name, $0.value)?.isThisDeviceOnly == true }
    }

    /// The first part of the unique key, which items with the same attributes share.
    package var key: [UInt8] {
        ServiceMapping.identity(of: service, in: place, ordinal: 0).key
    }

    /// Refuses a change that would make the item larger than an item can be.
    package func check() throws(ItemProblem) {
        _ = try draft(ordinal: 0).completed(now: .reference, secretSize: item.secretSize)
    }
}
