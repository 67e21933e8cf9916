package import ByteStreams
internal import Cryptography
package import KeychainModel

/// Gathers the items that another program's records become.
///
/// Items that a keychain could not hold beside each other are told apart here, and each gets a UUID that follows from
/// its record, so that reading the same file again gives the same items.
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
    /// Where the items of a unique key are, by its hash; hashes are seeded at random.
    private var places: [Int: [Int]] = [:]
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
    ///   - file: what identifies the file among others of its format, if something in it does; part of each UUID.
    ///   - date: when items without dates were made and changed.
    package init(format: String, file: [UInt8] = [], date: Timestamp) {
        self.format = format
        self.file = file
        collection = ItemCollection(date: date)
    }

    /// Adds what a part of a record becomes.
    ///
    /// One that cannot be an item is refused by name; one that is like another, secret included, is counted.
    ///
    /// - Throws: `ForeignFailure` (`limit` beyond `ItemLimits.itemCount` items).
    package mutating func add(_ part: consuming RecordPart) throws(ForeignFailure) {
        let count = UInt64(collection.count)
        guard count < ItemLimits.itemCount else {
            throw .limit("items", found: count + 1, allowed: UInt64(ItemLimits.itemCount))
        }
        if part.draft.uuid == nil { part.draft.uuid = uuid(of: part) }
        do throws(ItemProblem) {
            var item = try collection.item(part.draft, secret: part.secret)
            if let other = place(of: item) {
                if collection.hasSecret(part.secret, at: other) {
                    duplicates += 1
                    return
                }
                part.draft.mark("import:" + Hexadecimal.encode(Array(digest(of: part).prefix(4))))
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

    /// Counts what has no place in a keychain.
    package mutating func leaveOut(_ kind: String, _ count: Int = 1) {
        leftOut.add(kind, count)
    }

    /// Lists an item that should be taken and cannot; its name is foreign text.
    package mutating func refuse(_ name: String, _ problem: ForeignContents.Problem) {
        refused.append(ForeignContents.Refused(name: name, problem: problem))
    }

    /// Adds a sentence that the user should read, once.
    package mutating func remark(_ sentence: String) {
        if !remarks.contains(sentence) { remarks.append(sentence) }
    }

    /// Puts the items in archive order.
    ///
    /// - Throws: `ForeignFailure` (`damaged` where two parts have one identity).
    package consuming func finish(details: String, isPlaintext: Bool) throws(ForeignFailure) -> ForeignContents {
        do throws(ItemCollection.Clash) {
            return ForeignContents(
                items: try collection.finish(), details: details, parts: parts.counts, leftOut: leftOut.counts,
                refused: refused, duplicates: duplicates, marked: marked, remarks: remarks, isPlaintext: isPlaintext)
        } catch {
            throw .damaged("two of its records have the same ID")
        }
    }

    /// Where an item with the unique key of `item` is.
    private func place(of item: Item) -> Int? {
        places[item.keyHash]?.first { collection.item(at: $0).hasKey(of: item) }
    }

    private func uuid(of part: borrowing RecordPart) -> ItemUUID {
        ItemUUID(derivedFrom: digest(of: part))
    }

    private func digest(of part: borrowing RecordPart) -> [UInt8] {
        var hash = SHA256()
        for piece in [
            Array("kcbackup import".utf8), Array(format.utf8), file, Array(part.record.utf8), Array(part.part.utf8),
        ] {
            hash.update(Array("\(piece.count)\n".utf8).span)
            hash.update(piece.span)
        }
        return hash.finalize().bytes
    }
}

/// An item to be, and the part of another program's record that it comes from.
package struct RecordPart: ~Copyable {
    /// What kind of thing it is, for people: "password", "note", "one-time password".
    package let kind: String
    package var draft: ItemDraft
    /// Nil for an item that has no secret, which differs from an empty one.
    package var secret: SecretBytes?
    /// What identifies the record in its file; never made of a secret, since UUIDs are readable.
    package let record: String
    /// Which of the record's parts it is; unique within the record.
    package let part: String
    /// What its program calls the record; foreign text.
    package let name: String

    /// Describes a part.
    package init(
        _ kind: String, _ draft: ItemDraft, secret: consuming SecretBytes?, record: String, part: String = "",
        name: String
    ) {
        self.kind = kind
        self.draft = draft
        self.secret = secret
        self.record = record
        self.part = part
        self.name = name
    }
}

/// Counts by kind, in the order of first appearance.
private struct Tally {
    private(set) var counts: [(kind: String, count: Int)] = []

    mutating func add(_ kind: String, _ count: Int = 1) {
        if count == 0 { return }
        if let index = counts.firstIndex(where: { $0.kind == kind }) {
            counts[index].count += count
        } else {
            counts.append((kind, count))
        }
    }
}

extension ItemDraft {
    /// Adds a mark to an attribute of the unique key that people hardly look at, so that the key becomes another one.
    fileprivate mutating func mark(_ mark: String) {
        let code: AttributeCode? =
            switch itemClass {
            case .genericPassword: .svce
            case .internetPassword: .sdmn
            case .certificate, .key: nil
            }
        guard let code else { return }
        switch attributes[code] {
        case .text(let text) where !text.isEmpty: attributes[code] = .text(text + " " + mark)
        case .data(let bytes) where !bytes.isEmpty: attributes[code] = .data(bytes + Array((" " + mark).utf8))
        default: attributes[code] = .text(mark)
        }
    }
}

extension Item {
    /// A hash of class and unique key: equal for items that could not be in one keychain.
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
