package import KCBackupCatalogue
internal import KCByteStreams
internal import KCItemSources
package import KCKeychainModel

extension Item {
    /// The label of the collection that the item has in the desktop keyring; nil for an item of another origin.
    package var collection: String? { extra.first { $0.name.exact == KeyringExtra.collection.exact }?.value }
}

extension Attributes {
    /// Returns a value as text; for bytes that are not text, their number.
    package func shown(_ code: AttributeCode, _ calendar: LocalCalendar = .utc) -> String? {
        guard let value = self[code] else { return nil }
        return switch value {
        case .text(let text): text
        case .data(let bytes): text(code) ?? "(\(byteCount(UInt64(bytes.count))))"
        case .number(let number): String(number)
        case .date(let date): calendar.moment(date)
        }
    }

    /// The value of an attribute as a four-character code, such as `htps`; nil if it has no such value.
    package func fourCharacters(_ code: AttributeCode) -> String? {
        guard code.isFourCharacters, case .number(let number) = self[code] else { return nil }
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        return bytes.allSatisfy { (0x20..<0x7f).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
