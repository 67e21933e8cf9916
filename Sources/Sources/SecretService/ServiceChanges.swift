internal import ItemSources
package import KeychainModel

/// An attribute that cannot be changed in a Secret Service: no attribute of the item says it there.
package struct AttributeWithoutHome: Error {
    /// Which one.
    package let code: AttributeCode
}

/// An item of a Secret Service that is to be another one.
package struct ServiceChanges {
    private let item: Item
    private let place: CollectionName
    private var service: ServiceItem

    /// Prepares changes of an item that a service holds.
    package init(of item: Item) {
        guard let place = ServiceMapping.place(of: item), let service = ServiceMapping.serviceItem(of: item) else {
            preconditionFailure("an item of a service is in a collection")
        }
        self.item = item
        self.place = place
        self.service = service
    }

    /// Sets an attribute, or removes it: nil.
    ///
    /// What programs find the item by is changed where an attribute of the item says the same, and added where nothing
    /// does.
    package mutating func set(_ code: AttributeCode, to value: AttributeValue?) throws(AttributeWithoutHome) {
        switch (code, value) {
        case (.labl, .text(let label)) where ServiceMapping.isSpeakable(label):
            service.label = label
            if service.isEntry { replace(ServiceItem.title, by: label) }
        case (.pdmn, .text(let accessibility)):
            replace(
                ServiceMapping.accessible,
                by: accessibility == Accessibility.whenUnlocked.rawValue ? nil : accessibility)
        default:
            let homes = KnownSchema.homes(of: code, in: item.itemClass)
            let candidates = homes.filter { service[$0] != nil } + homes.prefix(1)
            guard let text = Self.text(of: value, code), let changed = changed(candidates, text, code, value) else {
                throw AttributeWithoutHome(code: code)
            }
            service = changed
        }
    }

    /// The service's item with one of these attributes set, which then says what was wanted.
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
        service.attributes.removeAll { $0.name == name }
        if let text { service.attributes.append(ServiceAttribute(name: name, value: text)) }
        service.attributes.sort()
    }

    /// What an attribute of a service says; nil for what none can say.
    private static func text(of value: AttributeValue?, _ code: AttributeCode) -> String?? {
        switch value {
        case nil: .some(nil)
        case .text(let text) where ServiceMapping.isSpeakable(text): text
        case .number(let number) where code == .ptcl: KnownSchema.name(ofProtocol: number)
        case .number(let number): String(number)
        default: nil
        }
    }

    private func draft(ordinal: Int) -> ItemDraft {
        ServiceMapping.draft(
            of: service, in: place, isDefault: ServiceMapping.wasInDefault(item), ordinal: ordinal)
    }

    /// The first part of the unique key, which items with the same attributes have in common.
    package var key: [UInt8] {
        ServiceMapping.identity(of: service, in: place, ordinal: 0).key
    }

    /// The changed item.
    ///
    /// - Parameter ordinal: the how-manieth with this key it is, from 0.
    /// - Throws: `ItemProblem`.
    package func changed(ordinal: Int, secretSize: Int?, now: Timestamp) throws(ItemProblem) -> Item {
        var draft = draft(ordinal: ordinal)
        draft.attributes[.cdat] = item.attributes[.cdat]
        draft.attributes[.mdat] = item.attributes[.mdat]
        return try draft.completed(now: now, secretSize: secretSize)
    }
}
