package import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// Gathers the items that are made from another program's records.
///
/// Items that one keychain could not hold together are made distinct. Each item gets a UUID derived from its record, so
/// that reading the same file again yields the same items.
///
/// ```swift
/// var collector = RecordCollector(format: "bitwarden", file: exportID, date: file.modified)
/// try collector.add(RecordPart("password", draft, secret: password, record: id, name: title))
/// collector.leaveOut("password history", 3)
/// return try collector.finish(details: "personal vault", isPlaintext: true)
/// ```
package struct RecordCollector: ~Copyable {
    private let format: String
    private let file: [UInt8]
    private var collection: ItemCollection
    /// The indices of items by the hash of their unique key; the hash is randomly seeded.
    private var places: [Int: [Int]] = [:]
    /// The indices of the items from other files of the input, by UUID.
    private var indices: [ItemUUID: Int] = [:]
    private var parts = Tally()
    private var leftOut = Tally()
    private var refused: [ForeignContents.Refused] = []
    private var duplicates = 0
    private var marked: [Item] = []
    private var remarks: [String] = []

    /// Starts an empty collection.
    ///
    /// - Parameters:
    ///   - format: the name of the format; part of each UUID.
    ///   - file: identifies the file among others of its format, if its content does; part of each UUID.
    ///   - date: the creation and modification date of items without dates.
    package init(format: String, file: [UInt8] = [], date: Timestamp) {
        self.format = format
        self.file = file
        collection = ItemCollection(date: date)
    }

    /// Adds the item for a part of a record.
    ///
    /// A part that cannot be an item is refused by name; one that equals another, including the secret, is only
    /// counted.
    ///
    /// - Throws: `ForeignFailure` (`limit` beyond `ItemLimits.itemCount` items).
    package mutating func add(_ part: consuming RecordPart) throws(ForeignFailure) {
        try requireRoom()
        if part.draft.uuid == nil { part.draft.uuid = uuid(of: part) }
        do throws(ItemProblem) {
            var item = try collection.item(part.draft, secret: part.secret)
            if let other = place(of: item) {
                if collection.hasSecret(part.secret, at: other) {
                    duplicates += 1
                    return
                }
                guard part.draft.attributes.mark(item.itemClass, for: item.uuid) else {
                    return refuse(part.name, .sameKey)
                }
                item = try collection.item(part.draft, secret: part.secret)
                guard place(of: item) == nil else { return refuse(part.name, .sameKey) }
                marked.append(item)
            }
            places[item.keyHash, default: []].append(collection.count)
            collection.append(item, secret: part.secret)
            parts.add(part.kind)
        } catch {
            refuse(part.name, .item(error))
        }
    }

    /// Adds the contents of another file of the input; an item already present with another secret is refused.
    ///
    /// - Parameters:
    ///   - file: the name of the file; foreign text.
    ///   - kind: describes an item, for people.
    /// - Throws: as `add`.
    package mutating func add(
        _ contents: ForeignContents, of file: String, kind: (Item) -> String
    ) throws(ForeignFailure) {
        for index in 0..<contents.items.count {
            let item = contents.items.item(at: index)
            let secret = contents.items.secret(at: index)
            try requireRoom()
            if let other = indices[item.uuid] ?? place(of: item) {
                if collection.hasSecret(secret, at: other) {
                    duplicates += 1
                } else {
                    refuse("\(file): \(item.attributes.text(.labl) ?? "")", .sameKey)
                }
                continue
            }
            indices[item.uuid] = collection.count
            places[item.keyHash, default: []].append(collection.count)
            collection.append(item, secret: secret)
            parts.add(kind(item))
        }
        for (kind, count) in contents.leftOut { leaveOut(kind, count) }
        for item in contents.refused { refuse("\(file): \(item.name)", item.problem) }
        duplicates += contents.duplicates
        marked += contents.marked
        for sentence in contents.remarks { remark("\(file): \(sentence)") }
    }

    /// Counts what has no place in a keychain.
    package mutating func leaveOut(_ kind: String, _ count: Int = 1) {
        leftOut.add(kind, count)
    }

    /// Lists an item that should be imported but cannot be; its name is foreign text.
    package mutating func refuse(_ name: String, _ problem: ForeignContents.Problem) {
        refused.append(ForeignContents.Refused(name: name, problem: problem))
    }

    /// Adds a sentence for the user, unless it was added before.
    package mutating func remark(_ sentence: String) {
        if !remarks.contains(sentence) { remarks.append(sentence) }
    }

    /// Puts the items in archive order.
    ///
    /// - Throws: `ForeignFailure` (`damaged` if two parts have the same identity).
    package consuming func finish(details: String, isPlaintext: Bool) throws(ForeignFailure) -> ForeignContents {
        do throws(ItemCollection.Clash) {
            return ForeignContents(
                items: try collection.finish(), details: details, parts: parts.counts, leftOut: leftOut.counts,
                refused: refused, duplicates: duplicates, marked: marked, remarks: remarks, isPlaintext: isPlaintext)
        } catch {
            throw .damaged("two of its records have the same ID")
        }
    }

    private func requireRoom() throws(ForeignFailure) {
        let count = UInt64(collection.count)
        guard count < ItemLimits.itemCount else {
            throw .limit("items", found: count + 1, allowed: UInt64(ItemLimits.itemCount))
        }
    }

    /// The index of the item with the same unique key as `item`.
    private func place(of item: Item) -> Int? {
        places[item.keyHash]?.first { collection.item(at: $0).hasKey(of: item) }
    }

    /// A UUID derived from the record; those of records that differ only in their order differ only in their ordinals.
    private func uuid(of part: borrowing RecordPart) -> ItemUUID {
        var hash = SHA256()
        for piece in [
            Array("kcbackup import".utf8), Array(format.utf8), file, Array(part.record.utf8), Array(part.part.utf8),
            part.ordinal.beyond,
        ] {
            hash.update(Array("\(piece.count)\n".utf8).span)
            hash.update(piece.span)
        }
        return ItemUUID(derivedFrom: hash.finalize().bytes).with(ordinal: part.ordinal.number)
    }
}

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
        /// The remaining bits.
        var beyond: [UInt8] { Array("\(record >> 20) \(part >> 12)".utf8) }
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

/// Counts by kind, in the order of first appearance.
private struct Tally {
    private(set) var counts: [(kind: String, count: Int)] = []
    private var places: [String: Int] = [:]

    mutating func add(_ kind: String, _ count: Int = 1) {
        if count == 0 { return }
        if let place = places[kind] {
            counts[place].count += count
        } else {
            places[kind] = counts.count
            counts.append((kind, count))
        }
    }
}

extension Item {
    /// A hash of class and unique key; equal for items that could not be in one keychain.
    fileprivate var keyHash: Int {
        var hasher = Hasher()
        hasher.combine(itemClass)
        for code in itemClass.uniqueKey {
            let value = attributes[code] ?? Self.keyDefault(code)
            if let bytes = value.keyBytes { hasher.combine(bytes) } else { hasher.combine(value) }
        }
        return hasher.finalize()
    }
}
