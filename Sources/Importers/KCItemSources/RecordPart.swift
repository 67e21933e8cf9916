package import KCByteStreams
package import KCKeychainModel

/// An item to be made, and the part of another program's record that it comes from.
package struct RecordPart: ~Copyable {
    /// The kind of the item, for people: "password", "note", "one-time password".
    package let kind: String
    package var draft: ItemDraft
    /// Nil for an item that has no secret, as distinct from an empty one.
    package var secret: SecretBytes?
    /// Identifies the record in its file; never derived from a secret, since UUIDs are readable.
    package let record: String
    package let ordinal: Ordinal
    /// Which of the record's parts it is; unique within the record.
    package let part: String
    /// The record's name in its program; foreign text.
    package let name: String

    /// The kind as `RecordPlace.kind` has it.
    var placeKind: String { RecordPlace(part: part).kind }

    /// The number of earlier records, and of earlier parts of this record, that differ from this one only in their
    /// secrets.
    package struct Ordinal: Hashable, Sendable {
        let record: Int
        let part: Int

        /// Counts what came before.
        package init(record: Int = 0, part: Int = 0) {
            self.record = record
            self.part = part
        }

        /// The bits of the ordinal that the UUID contains in the clear: 20 of the record and 12 of the part.
        var number: UInt32 {
            UInt32(truncatingIfNeeded: record & 0xf_ffff) << 12 | UInt32(truncatingIfNeeded: part & 0xfff)
        }
        /// The number of earlier records that a UUID contains; 0 for one that was not derived.
        static func record(of uuid: ItemUUID) -> Int {
            let isDerived = uuid.high >> 12 & 0xf == 8
            return isDerived ? Int(uuid.low & 0xffff_ffff) >> 12 : 0
        }
        /// The remaining bits.
        var beyond: String { "\(record >> 20) \(part >> 12)" }
    }

    /// Describes a part.
    package init(
        _ kind: String, _ draft: ItemDraft, secret: consuming SecretBytes?, record: String,
        ordinal: Ordinal = Ordinal(), part: String = "", name: String
    ) {
        self.kind = kind
        self.draft = draft
        self.secret = secret
        self.record = record
        self.ordinal = ordinal
        self.part = part
        self.name = name
    }
}
