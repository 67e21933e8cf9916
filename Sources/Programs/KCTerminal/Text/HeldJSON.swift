internal import KCByteStreams
package import KCReportText

/// The items of a list as JSON, separated by commas, as long as they are few enough to be kept.
///
/// A list that is kept need not be read a second time once it is known to be complete and genuine.
package struct HeldJSON {
    /// The JSON; empty if there was too much of it.
    package private(set) var bytes: [UInt8] = []
    /// False if there was too much of it.
    package private(set) var isWhole = true

    package init(bytes: [UInt8] = [], isWhole: Bool = true) {
        self.bytes = bytes
        self.isWhole = isWhole
    }

    // In bytes; some ten thousand items.
    private static let limit = 8 << 20

    /// Adds an item.
    ///
    /// - Throws: as `JSONValue.encode`.
    package mutating func append(_ item: JSONValue) throws {
        guard isWhole else { return }
        if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
        try item.encode(into: &bytes)
        guard bytes.count > Self.limit else { return }
        isWhole = false
        bytes = []
    }
}
