internal import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel

/// The words that are searched for: each must be in the service, the server, the account or the label of an item.
///
/// A word is letters and digits. Words joined by other characters, such as `mail.example.org`, are found where they
/// follow each other. Case and accents make no difference.
package struct SearchText: Hashable, Sendable {
    // More than a person types, and within the limits of SQLite.
    private static let limit = 32

    /// The text as an expression for SQLite, in which none of its characters has a meaning.
    let expression: String

    /// Parses a text; nil if it has no letter or digit, or more than 32 parts.
    package init?(_ text: String) {
        let isSpace = { (byte: UInt8) in byte <= 0x20 }
        let parts = text.utf8.split(whereSeparator: isSpace).map { String(decoding: Array($0), as: UTF8.self) }
        let words = parts.filter { $0.unicodeScalars.contains(where: Self.isOfWord) }
        guard 1...Self.limit ~= words.count else { return nil }
        let phrases = words.map { "\"\($0.exact.replacing("\"", with: "\"\""))\"" }
        expression = "{service server account label} : (\(phrases.joined(separator: " AND ")))"
    }

    /// True for the characters that SQLite's tokenizer takes for parts of words.
    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }

    /// The ID of a device as one word, which finds only the items of that device.
    static func word(of device: DeviceID) -> String { device.description.exact.replacing("-", with: "") }

    /// The expression for what one device has.
    func expression(of device: DeviceID?) -> String {
        device.map { "(\(expression)) AND machine : \"\(Self.word(of: $0))\"" } ?? expression
    }
}

/// A search in an index.
package struct FleetQuery: Sendable {
    /// In which archives an item is looked for.
    package enum Time: Hashable, Sendable {
        /// In the newest of each keychain.
        case now
        /// In the newest that was made before this.
        case before(Timestamp)
        /// In all.
        case ever
    }

    /// Nil for all items of the machines.
    package let text: SearchText?
    /// Nil for all.
    package let machines: [DeviceID]?
    package let time: Time
    /// How many items are found.
    package let limit: Int

    /// Describes a search.
    package init(text: SearchText?, machines: [DeviceID]? = nil, time: Time = .now, limit: Int) {
        precondition(text != nil || machines != nil, "a search has a text or machines")
        self.text = text
        self.machines = machines
        self.time = time
        self.limit = limit
    }
}

/// An item that was found, in the newest archive that has it.
package struct FoundItem: Hashable, Sendable {
    package let device: DeviceID
    /// The name that people use for the machine; nil if no list has one.
    package let machine: String?
    /// The source that the archive was made from, as in its metadata.
    package let sourceKind: String
    package let sourceName: String
    package let uuid: ItemUUID
    package let itemClass: ItemClass
    package let service: String?
    package let server: String?
    package let account: String?
    package let label: String?
    package let group: String
    package let accessibility: Accessibility
    package let created: Timestamp
    package let modified: Timestamp
    /// When the archive was made, by the clock of the machine.
    package let seen: Timestamp
}

/// The result of a search.
package struct FoundItems: Sendable {
    package var items: [FoundItem] = []
    /// True if there are more than the search wanted.
    package var hasMore = false
}
