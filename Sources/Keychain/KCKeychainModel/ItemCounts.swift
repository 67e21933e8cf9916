package import KCByteStreams

/// The number of items of each class.
package struct ItemCounts: Hashable, Sendable {
    private var counts: [Int]

    /// Creates counts of zero.
    package init() {
        counts = ItemClass.allCases.map { _ in 0 }
    }

    /// The number of items of a class, at least 0.
    package subscript(itemClass: ItemClass) -> Int {
        get { counts[itemClass.position] }
        set { counts[itemClass.position] = newValue }
    }

    /// The number of all items.
    package var total: Int { counts.reduce(0, +) }

    /// Appends the counts as canonical JSON, in class order.
    package func encode(into line: inout some ByteBuffer & ~Copyable) {
        for itemClass in ItemClass.allCases {
            CanonicalJSON.literal(itemClass.position == 0 ? "{\"" : ",\"", into: &line)
            CanonicalJSON.literal(itemClass.rawValue, into: &line)
            CanonicalJSON.literal("\":", into: &line)
            CanonicalJSON.integer(Int64(self[itemClass]), into: &line)
        }
        CanonicalJSON.literal("}", into: &line)
    }

    /// Parses the output of `encode`.
    package init(_ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        self.init()
        for itemClass in ItemClass.allCases {
            try scanner.literal(itemClass.position == 0 ? "{\"" : ",\"", in: bytes)
            try scanner.literal(itemClass.rawValue, in: bytes)
            try scanner.literal("\":", in: bytes)
            let count = try scanner.integer(in: bytes)
            guard (0...Int64(ItemLimits.itemCount)).contains(count) else {
                throw MalformedLine("a count is out of range", at: scanner.position)
            }
            self[itemClass] = Int(count)
        }
        try scanner.literal("}", in: bytes)
    }
}
