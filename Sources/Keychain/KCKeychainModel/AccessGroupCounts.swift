package import KCByteStreams

/// Counts items by access group.
///
/// Most items belong to one of a few groups, which are recognized by their bytes, without making a text for each item.
package struct AccessGroupCounts {
    /// The groups seen last, each in the slot of its hash, and the number of items since it was put there.
    private var recent = [(group: [UInt8], count: Int)](repeating: ([], 0), count: slotCount)
    private var earlier: [ExactText: Int] = [:]

    private static let slotCount = 64

    /// Creates counts of no items.
    package init() {}

    /// Counts an item.
    package mutating func add(_ item: Item) {
        item.attributes.withMember(.agrp) { form, bytes in
            var hash: UInt32 = 0
            for index in bytes.indices { hash = (hash ^ UInt32(bytes[index])) &* 0x0100_0193 }
            let slot = Int(hash >> 16) % Self.slotCount
            let known = recent[slot].group
            if !known.span.isEqual(to: bytes) {
                settle(slot)
                recent[slot] = (bytes.indices.map { bytes[$0] }, 0)
            }
            recent[slot].count += 1
        }
    }

    /// The number of items in each access group.
    package var byGroup: [ExactText: Int] {
        var counts = self
        for slot in recent.indices { counts.settle(slot) }
        return counts.earlier
    }

    /// Moves the count of a slot to the others.
    private mutating func settle(_ slot: Int) {
        guard recent[slot].count > 0 else { return }
        let group = recent[slot].group
        let value = AttributeForm.escapedText.value(of: group.span)
        if case .text(let group) = value { earlier[group.exact, default: 0] += recent[slot].count }
        recent[slot].count = 0
    }
}
