/// An item of a keychain without its secret: everything that `inspect` may show.
///
/// An `Item` is valid by construction: its attributes belong to its class, have the right kinds and are within
/// `ItemLimits`; access group, accessibility, both dates and the synchronizable flag are present.
package struct Item: Hashable, Sendable {
    /// The class.
    package let itemClass: ItemClass
    /// Preserved by updates, backups and restores.
    package let uuid: ItemUUID
    /// All attributes with a column.
    package let attributes: Attributes
    /// Attributes without a column, ordered by the UTF-8 bytes of their names.
    package let extra: [ExtraAttribute]
    /// The size of the secret in bytes; nil if the item has none, which differs from an empty one.
    package let secretSize: Int?
    /// The accessibility that people see, and that every rule about where the item may go asks: the value of `pdmn`, but
    /// for an item that is kept apart.
    package let accessibility: Accessibility
    /// The value of `pdmn`, which names the key of the secret.
    package let sealingAccessibility: Accessibility
    /// The value of `accc`; nil if it has none.
    package let constraint: AccessConstraint?

    /// Creates an item after checking that it is valid.
    package init(
        itemClass: ItemClass, uuid: ItemUUID, attributes: Attributes, extra: [ExtraAttribute] = [], secretSize: Int?
    ) throws(ItemProblem) {
        sealingAccessibility = try Self.checkedAccessibility(of: attributes)
        accessibility = Self.isKeptApart(extra) ? .whenPasscodeSetThisDeviceOnly : sealingAccessibility
        constraint = try Self.checkedConstraint(of: attributes)
        var size = try Self.checkedSize(of: attributes, itemClass)
        try Self.check(extra)
        for attribute in extra { size += attribute.name.utf8.count + attribute.value.utf8.count }
        guard size <= ItemLimits.attributesSize else { throw .attributesTooLarge(size) }
        if let secretSize, secretSize > ItemLimits.secretSize { throw .secretTooLarge(secretSize) }
        self.itemClass = itemClass
        self.uuid = uuid
        self.attributes = attributes
        self.extra = extra
        self.secretSize = secretSize
    }

    private init(_ other: Item, uuid: ItemUUID) {
        itemClass = other.itemClass
        self.uuid = uuid
        attributes = other.attributes
        extra = other.extra
        secretSize = other.secretSize
        accessibility = other.accessibility
        sealingAccessibility = other.sealingAccessibility
        constraint = other.constraint
    }

    /// The item as it is named and sorted, if its values are large: texts are cut, and data and free attributes left out.
    ///
    /// - Parameter limit: the largest size of a value that stays as it is, in bytes.
    package func shortened(toBytes limit: Int = 1_024) -> Item {
        if attributes.membersSize <= limit, extra.isEmpty { return self }
        var kept = attributes
        for code in attributes.codes {
            switch attributes[code] {
            case .text(let text) where text.utf8.count > limit:
                kept[code] = .text(String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))))
            case .data(let bytes) where bytes.count > limit: kept[code] = nil
            default: break
            }
        }
        let extra = extra.filter { $0.name.utf8.count + $0.value.utf8.count <= limit }
        do throws(ItemProblem) {
            return try Item(
                itemClass: itemClass, uuid: uuid, attributes: kept, extra: extra, secretSize: secretSize)
        } catch {
            // Less of what is valid is valid, too; if not, it is only larger.
            return self
        }
    }

    /// The same item with another UUID.
    package func with(uuid: ItemUUID) -> Item { Item(self, uuid: uuid) }

    private static func checkedAccessibility(of attributes: Attributes) throws(ItemProblem) -> Accessibility {
        guard attributes.codes.contains(.pdmn) else { throw .missing(.pdmn) }
        let found = attributes.withMember(.pdmn) { form, bytes in
            form == .text ? Accessibility(code: bytes.extracting(1..<bytes.count - 1)) : nil
        }
        guard let accessibility = found ?? nil else { throw .unknownAccessibility }
        return accessibility
    }

    private static func checkedConstraint(of attributes: Attributes) throws(ItemProblem) -> AccessConstraint? {
        guard let value = attributes[.accc] else { return nil }
        guard case .text(let name) = value, let constraint = AccessConstraint(rawValue: name) else {
            throw .unknownConstraint
        }
        return constraint
    }

    /// Checks all attributes, and returns how many bytes they have that count toward `ItemLimits`.
    private static func checkedSize(of attributes: Attributes, _ itemClass: ItemClass) throws(ItemProblem) -> Int {
        if let foreign = attributes.codes.subtracting(itemClass.attributes).first {
            throw .notInClass(foreign, itemClass)
        }
        var total = 0
        for (rank, code) in attributes.codes.enumerated() {
            let size = attributes.withMember(ranked: rank) { form, bytes in
                form.fits(code.kind) ? form.size(of: bytes) : nil
            }
            guard let size else { throw .wrongKind(code) }
            guard size <= ItemLimits.attributeSize else { throw .attributeTooLarge(code) }
            total += size
        }
        if let missing = requiredCodes.subtracting(attributes.codes).first { throw .missing(missing) }
        let isFlag = attributes.withMember(.sync) { _, bytes in bytes.count == 1 && (48...49).contains(bytes[0]) }
        guard isFlag == true else { throw .wrongKind(.sync) }
        return total
    }

    private static let requiredCodes = AttributeCodes([.agrp, .cdat, .mdat, .sync])

    private static func check(_ extra: [ExtraAttribute]) throws(ItemProblem) {
        guard extra.count <= ItemLimits.extraCount else { throw .tooManyExtra(extra.count) }
        for (index, attribute) in extra.enumerated() {
            guard attribute.name.utf8.count + attribute.value.utf8.count <= ItemLimits.attributeSize else {
                throw .extraTooLarge
            }
            if index > 0, !extra[index - 1].name.utf8.lexicographicallyPrecedes(attribute.name.utf8) {
                throw .extraOutOfOrder
            }
        }
    }
}

extension Item {
    /// The value of `agrp`.
    package var accessGroup: String { attributes.text(.agrp) ?? "" }
    /// True for items with the flag that makes a synchronizing keychain share them between devices.
    package var isSynchronizable: Bool { attributes.number(.sync) == 1 }
    /// True for a synchronizable item that is ThisDeviceOnly: it stays on its device, although queries find it by its
    /// flag.
    package var isSynchronizableInNameOnly: Bool { isSynchronizable && accessibility.isThisDeviceOnly }
    /// True for items that a synchronizing keychain would not bring back.
    package var isLocal: Bool { !isSynchronizable || accessibility.isThisDeviceOnly }

    /// Rejects an item whose flag makes no sense.
    ///
    /// Apple's calls accept one that is synchronizable in name only, but no user can want it. They reject one that is
    /// synchronizable and has a constraint.
    package func requireMeaningfulFlag() throws(ItemProblem) {
        if isSynchronizableInNameOnly { throw .thisDeviceOnlySynchronizable }
        if isSynchronizable, constraint != nil { throw .synchronizableAsks }
    }
    /// When the item was added.
    package var created: Timestamp { attributes.date(.cdat) ?? .reference }
    /// When the item was last changed.
    package var modified: Timestamp { attributes.date(.mdat) ?? .reference }
    /// True for a certificate, which is public without its private key and need not be kept secret.
    package var isPublicData: Bool { itemClass == .certificate }

    /// The value that an absent attribute has in a unique key.
    package static func keyDefault(_ code: AttributeCode) -> AttributeValue {
        switch code.kind {
        case .number: .number(0)
        case .date: .date(.reference)
        case .string, .textOrData: .text("")
        case .data, .dataOrText: .data([])
        }
    }
}
