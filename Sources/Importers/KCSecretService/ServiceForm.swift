internal import KCItemSources
package import KCKeychainModel

/// Items in the form in which a service would return them, for comparisons with its own: without its dates, and without
/// what not every service can hold.
package final class ServiceForm {
    private let kind: SecretServiceClient.Kind
    /// The collection that was read, if it was only one; a restore into it puts all items there.
    private let chosen: CollectionName?
    /// The collection of items that come from no service.
    private let standard: CollectionName?
    /// How many items of other places have had the same attributes so far.
    private var counts: [[UInt8]: Int] = [:]

    init(in kind: SecretServiceClient.Kind, chosen: CollectionName?, standard: CollectionName?) {
        self.kind = kind
        self.chosen = chosen
        self.standard = standard
    }

    /// The form of an item; nil if the service has no place for it.
    package func form(of item: Item) -> Item? {
        guard let service = ServiceMapping.serviceItem(of: item)?.form(in: kind) else { return nil }
        let own = ServiceMapping.place(of: item)
        guard let place = chosen ?? own ?? standard else { return nil }
        var draft = ServiceMapping.draft(of: service.comparable, in: place, isDefault: false, ordinal: 0)
        if place == own {
            draft.uuid = item.uuid
            draft.attributes[.musr] = item.attributes[.musr]
        } else {
            let identified = kind == .keePassXC ? service.asEntry : service
            let first = ServiceMapping.identity(of: identified, in: place, ordinal: 0)
            let identity = first.with(ordinal: UInt32(counts[first.key, default: 0]))
            counts[first.key, default: 0] += 1
            draft.uuid = identity.uuid
            draft.attributes[.musr] = .data(identity.key)
        }
        do throws(ItemProblem) {
            return try draft.completed(now: .reference, secretSize: item.secretSize ?? 0)
        } catch {
            // An item that is over a limit in this form is no item of the service.
            return nil
        }
    }
}

extension ServiceForm {
    /// The form in which the items of two keyring files are compared.
    ///
    /// If each of them has one collection, the two are versions of it, whatever their labels: oo7 takes the label from
    /// the name of the file, and GNOME Keyring writes it into the file.
    package static func ofFiles(_ first: [Item], _ second: [Item]) -> ServiceForm {
        let (places, others) = (Set(first.map(ServiceMapping.place)), Set(second.map(ServiceMapping.place)))
        let chosen = places.count == 1 && others.count == 1 ? places.first ?? nil : nil
        return ServiceForm(in: .other, chosen: chosen, standard: nil)
    }
}

extension SecretServiceClient {
    /// The form in which this service holds items.
    ///
    /// - Parameters:
    ///   - source: what was read.
    ///   - scope: the collections that were read.
    package func form(in source: ServiceSource, _ scope: ServiceScope) -> ServiceForm {
        let chosen: CollectionName? = if case .collection = scope { source.collections.first?.name } else { nil }
        return ServiceForm(
            in: kind, chosen: chosen, standard: source.collections.first(where: \.isDefault)?.name)
    }
}
