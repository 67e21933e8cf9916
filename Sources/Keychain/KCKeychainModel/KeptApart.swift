/// Items that archives leave out, as a kept state of the desktop keyring has them.
///
/// No archive has a WhenPasscodeSetThisDeviceOnly item. A state has one under a key that it can have, with a mark that
/// gives it back its accessibility. No way in accepts the mark from elsewhere.
extension Item {
    private static let mark = ExtraAttribute(
        name: "kcbackup:attribute:kcbackup:accessible", value: Accessibility.whenPasscodeSetThisDeviceOnly.rawValue)

    /// True for an item that a kept state has, and that goes nowhere but back to the desktop keyring.
    package var isKeptApart: Bool { Self.isKeptApart(extra) }

    static func isKeptApart(_ extra: [ExtraAttribute]) -> Bool { extra.contains(mark) }

    /// The item as a kept state has it: itself, unless no archive has it.
    package func keptApart() throws(ItemProblem) -> Item {
        guard sealingAccessibility == .whenPasscodeSetThisDeviceOnly else { return self }
        var attributes = attributes
        attributes[.pdmn] = .text(Accessibility.whenUnlocked.rawValue)
        let extra = (extra + [Self.mark]).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return try Item(
            itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: secretSize)
    }
}
