package import KCByteStreams

/// A keychain as the subject of a series: the ID of its file, and where that is, since a copy of a file has its ID.
package struct KeychainSubject: Hashable, Sendable {
    // Hexadecimal digits of a store ID, which has 16 bytes.
    private static let idLength = 32
    private static let separator = UInt8(ascii: ":")

    /// The ID of the file, in hexadecimal.
    package let id: String
    /// The place of the file; nil in the data folder, where the series says its name.
    package let place: String?

    /// Creates a subject.
    package init(id: String, place: String?) {
        self.id = id
        self.place = place
    }

    /// Parses the text of a subject; nil if it is not that of a keychain.
    package init?(_ text: String) {
        let (id, rest) = (text.utf8.prefix(Self.idLength), text.utf8.dropFirst(Self.idLength))
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        guard id.count == Self.idLength, id.allSatisfy({ digits.contains($0) || letters.contains($0) }),
            rest.first.map({ $0 == Self.separator }) ?? true
        else { return nil }
        self.init(
            id: String(decoding: id, as: UTF8.self),
            place: rest.isEmpty ? nil : String(decoding: rest.dropFirst(), as: UTF8.self))
    }

    /// The form that `init` parses: the ID alone in the data folder, so that this can be moved.
    package var text: String { place.map { "\(id):\($0)" } ?? id }

    /// True if a file with the ID of another one is elsewhere: either was moved, or one is a copy.
    package func isElsewhere(than known: KeychainSubject) -> Bool {
        id.exact == known.id.exact && place?.exact != known.place?.exact
    }
}

/// The keychains of a data folder: which archives count for which of them if several have one ID.
package struct KeychainHolders {
    private let names: [ExactText: [ExactText]]

    /// - Parameter keychains: the series and the ID of each keychain that opens.
    package init(_ keychains: [(series: String, id: String)]) {
        names = Dictionary(grouping: keychains) { $0.id.exact }.mapValues { $0.map { $0.series.exact } }
    }

    /// Returns the series whose archives count for a keychain.
    ///
    /// They are those of the keychain at the place that the catalogue names. If that is gone, it was moved or renamed, and
    /// they count for the only one that has its ID.
    ///
    /// - Parameters:
    ///   - own: the series that archives of the keychain have.
    ///   - isAt: true if the keychain with an ID is at a place outside of the data folder, or may be.
    package func series(
        of keychain: KeychainSubject, named own: String, in catalogue: Catalogue,
        isAt: (_ place: String, _ id: String) -> Bool
    ) -> Set<ExactText> {
        let others = (names[keychain.id.exact] ?? []).filter { keychain.place != nil || $0 != own.exact }
        var found: Set<ExactText> = []
        for (series, text) in catalogue.pin?.subjects ?? [:] {
            guard let known = KeychainSubject(text), known.id.exact == keychain.id.exact else { continue }
            let isElsewhere = keychain.isElsewhere(than: known) || keychain.place == nil && series != own.exact
            if isElsewhere {
                if !others.isEmpty { continue }
                if let place = known.place, isAt(place, known.id) { continue }
            }
            found.insert(series)
        }
        return found
    }
}
