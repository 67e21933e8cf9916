internal import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// Gathers the items that are made from another program's records.
///
/// Items that one keychain could not hold together are made distinct. Each item gets a UUID derived from its record, so
/// that reading the same file again yields the same items.
///
/// ```swift
/// let collector = RecordCollector(format: "bitwarden", file: exportID, date: file.modified)
/// try collector.add(RecordPart("password", draft, secret: password, record: id, name: title))
/// collector.leaveOut("password history", 3)
/// return try collector.finish(details: "personal vault", isPlaintext: true)
/// ```
package final class RecordCollector {
    /// The name of the format.
    package let format: String
    private let file: [UInt8]
    private var collection: ItemCollection
    private var places = KeyPlaces()
    /// The indices of the items from other files of the input, by UUID.
    private var indices: [ItemUUID: Int] = [:]
    private var parts = Tally()
    private var leftOut = Tally()
    private var refused: [ForeignContents.Refused] = []
    private var staying: [(name: String, reason: Passage.Reason)] = []
    private var duplicates = 0
    private var marked: [Item] = []
    private var remarks: [String] = []
    /// Some of the paths of unknown members that became fields; foreign text.
    private var unknownFields: [String] = []
    /// The number of records so far whose names are the same, for those without an ID.
    private var ordinals: [ExactText: Int] = [:]
    /// The number of records that were begun with `record`.
    private var records = 0
    /// The number of these that are damaged, and why the first one is.
    private var failures: (count: Int, first: ForeignFailure)?

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
    package func add(_ part: consuming RecordPart) throws(ForeignFailure) {
        try requireRoom()
        if part.draft.uuid == nil { part.draft.uuid = uuid(of: part) }
        do throws(ItemProblem) {
            var item = try collection.item(part.draft, secret: part.secret)
            var key = PackedItem.key(of: item)
            // The same for every target.
            if case .stays(let reason) = Passage.decide(item, from: .foreignFile, to: .keychain) {
                staying.append((part.name, reason))
                return
            }
            if let other = places.first(key, where: { collection.hasKey(key, at: $0) }) {
                if collection.hasSecret(part.secret, at: other), !isOfAnotherRecord(item, than: other) {
                    duplicates += 1
                    return
                }
                guard part.draft.attributes.mark(item.itemClass, for: item.uuid) else {
                    return refuse(part.name, .sameKey, kind: part.placeKind)
                }
                item = try collection.item(part.draft, secret: part.secret)
                key = PackedItem.key(of: item)
                guard places.first(key, where: { collection.hasKey(key, at: $0) }) == nil else {
                    return refuse(part.name, .sameKey, kind: part.placeKind)
                }
                marked.append(item)
            }
            places.add(collection.count, key)
            collection.append(item, key: key, secret: part.secret)
            parts.add(part.kind)
        } catch {
            refuse(part.name, .item(error), kind: part.placeKind)
        }
    }

    /// True for a note, a field or another part beside the login, of another record than that of the item at an index: each
    /// record keeps its own.
    private func isOfAnotherRecord(_ item: Item, than index: Int) -> Bool {
        guard let id = item.free("source.id"), let part = item.free("source.part") else { return false }
        if [RecordPlace.login, .token].contains(RecordPlace(part: part)) { return false }
        let other = collection.item(at: index)
        return other.free("source.id").map { $0.exact != id.exact } ?? false
    }

    /// Adds the contents of another file of the input; an item already present with another secret is refused.
    ///
    /// - Parameters:
    ///   - file: the name of the file; foreign text.
    ///   - kind: describes an item, for people.
    /// - Throws: as `add`, and what visiting the items throws.
    package func add(
        _ contents: ForeignContents, of file: String, kind: @escaping (Item) -> String
    ) throws {
        var visitor = AddingVisitor { [self] item, secret in
            try requireRoom()
            let secret = item.secretSize == nil ? nil : secret.copy()
            let key = PackedItem.key(of: item)
            if let other = indices[item.uuid] ?? places.first(key, where: { collection.hasKey(key, at: $0) }) {
                if collection.hasSecret(secret, at: other) {
                    duplicates += 1
                } else {
                    refuse("\(file): \(item.attributes.text(.labl) ?? "")", .sameKey)
                }
                return
            }
            indices[item.uuid] = collection.count
            places.add(collection.count, key)
            collection.append(item, key: key, secret: secret)
            parts.add(kind(item))
        }
        try contents.items.visitItems(&visitor)
        for (kind, count) in contents.leftOut { leaveOut(kind, count) }
        for item in contents.refused { refuse("\(file): \(item.name)", item.problem, kind: item.kind) }
        staying += contents.staying
        duplicates += contents.duplicates
        marked += contents.marked
        for sentence in contents.remarks { remark("\(file): \(sentence)") }
    }

    /// Reads one record: if it is damaged, nothing of it is kept, and it is refused by name.
    ///
    /// - Parameter name: the name of the record in its program; foreign text.
    /// - Returns: false if it is damaged.
    /// - Throws: what `body` throws, unless it says that the record is damaged.
    @discardableResult
    package func record<E: Error>(_ name: String, _ body: () throws(E) -> Void) throws(E) -> Bool {
        records += 1
        let before = (parts, leftOut, duplicates)
        let counts = (collection.count, refused.count, marked.count, remarks.count)
        do throws(E) {
            try body()
            return true
        } catch {
            let rule: String
            let failure = error as? ForeignFailure
            switch failure {
            case .damaged(let broken), .damagedLine(_, let broken): rule = broken
            case .notUTF8: rule = "it is not UTF-8"
            default: throw error
            }
            for index in (counts.0..<collection.count).reversed() { places.removeLast(collection.key(at: index)) }
            collection.keepFirst(counts.0)
            (parts, leftOut, duplicates) = before
            refused.removeSubrange(counts.1...)
            marked.removeSubrange(counts.2...)
            remarks.removeSubrange(counts.3...)
            refuse(name, .damaged(rule))
            failures = ((failures?.count ?? 0) + 1, failures?.first ?? failure ?? .damaged(rule))
            return false
        }
    }

    /// The number of times that this was called with the same identity before: tells records without an ID apart.
    package func ordinal(of identity: String) -> Int {
        func next(_ number: inout Int) -> Int {
            number += 1
            return number
        }
        return next(&ordinals[identity.exact, default: -1])
    }

    /// Counts what has no place in a keychain.
    package func leaveOut(_ kind: String, _ count: Int = 1) {
        leftOut.add(kind, count)
    }

    /// Lists an item that should be imported but cannot be; its name is foreign text.
    ///
    /// - Parameter kind: as in `ForeignContents.Refused`.
    package func refuse(
        _ name: String, _ problem: ForeignContents.Problem, kind: String = ForeignContents.Refused.wholeRecord
    ) {
        refused.append(ForeignContents.Refused(name: name, kind: kind, problem: problem))
    }

    /// Adds a sentence for the user, unless it was added before.
    package func remark(_ sentence: String) {
        if !remarks.contains(sentence) { remarks.append(sentence) }
    }

    /// Puts the items in archive order.
    ///
    /// - Throws: `ForeignFailure` (`damaged` if two parts have the same identity, `damaged`, `damagedLine` and `notUTF8` if
    ///   no record can be read).
    package func finish(details: String, isPlaintext: Bool) throws(ForeignFailure) -> ForeignContents {
        if let failures, failures.count == records { throw failures.first }
        if !unknownFields.isEmpty {
            remark(
                "unknown members, which may be of a newer version, became fields: "
                    + unknownFields.joined(separator: ", "))
        }
        var all = ItemCollection(date: .reference)
        swap(&all, &collection)
        do throws(ItemCollection.Clash) {
            return ForeignContents(
                items: try all.finish(), details: details, parts: parts.counts, leftOut: leftOut.counts,
                refused: refused, staying: staying, duplicates: duplicates, marked: marked, remarks: remarks,
                isPlaintext: isPlaintext)
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

    /// Identifies the names of a record that has no ID, among all records of all files.
    func code(ofRecord record: String) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(256)
        for piece in ["kcbackup record", format, record] { Self.append(piece, to: &text) }
        text += file
        return Hexadecimal.encode(Array(SHA256.hash(text.span).bytes.prefix(8)))
    }

    /// A UUID derived from the record; those of records that differ only in their order differ only in their ordinals.
    private func uuid(of part: borrowing RecordPart) -> ItemUUID {
        var text: [UInt8] = []
        text.reserveCapacity(256)
        Self.append("kcbackup import", to: &text)
        Self.append(format, to: &text)
        text.append(decimal: file.count)
        text.append(UInt8(ascii: "\n"))
        text += file
        Self.append(part.record, to: &text)
        Self.append(part.part, to: &text)
        Self.append(part.ordinal.beyond, to: &text)
        return ItemUUID(derivedFrom: SHA256.hash(text.span).bytes).with(ordinal: part.ordinal.number)
    }

    private static func append(_ piece: String, to text: inout [UInt8]) {
        text.append(decimal: piece.utf8.count)
        text.append(UInt8(ascii: "\n"))
        text.append(utf8: piece)
    }
}

/// Passes each item with its secret on.
private struct AddingVisitor: ItemVisitor {
    let add: (Item, borrowing SecretBytes) throws -> Void

    init(_ add: @escaping (Item, borrowing SecretBytes) throws -> Void) { self.add = add }

    func wants(_ item: Item) -> Bool { true }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws { try add(item, secret) }

    func skip(damaged item: Item?) {}
}

/// Counts by kind, in the order of first appearance.
private struct Tally {
    private(set) var counts: [(kind: String, count: Int)] = []
    private var places: [ExactText: Int] = [:]

    mutating func add(_ kind: String, _ count: Int = 1) {
        if count == 0 { return }
        if let place = places[kind.exact] {
            counts[place].count += count
        } else {
            places[kind.exact] = counts.count
            counts.append((kind, count))
        }
    }
}

/// The numbers of items by their unique keys.
private struct KeyPlaces {
    /// The first item with each hash, which is randomly seeded.
    private var first: [Int: Int] = [:]
    /// Others with the same hash, in the order of adding.
    private var others: [Int: [Int]] = [:]

    mutating func add(_ index: Int, _ key: [UInt8]) {
        let hash = HashedBytes(key).hashValue
        if first[hash] == nil { first[hash] = index } else { others[hash, default: []].append(index) }
    }

    /// The first item whose key has the hash of this one and for which `fits` is true.
    func first(_ key: [UInt8], where fits: (Int) -> Bool) -> Int? {
        let hash = HashedBytes(key).hashValue
        guard let index = first[hash] else { return nil }
        return fits(index) ? index : others[hash]?.first(where: fits)
    }

    /// Removes the item that was added last with this key.
    mutating func removeLast(_ key: [UInt8]) {
        let hash = HashedBytes(key).hashValue
        if others[hash]?.popLast() == nil { first[hash] = nil }
    }
}

extension RecordCollector {
    /// Counts members of records whose meaning is not known, and names some of them; the names are foreign text.
    package func leaveOut(unknown names: [String]) {
        if names.isEmpty { return }
        leaveOut("unknown member", names.count)
        var shown: [String] = []
        for name in names { Self.show(name, among: &shown) }
        remark("unknown members, which may be of a newer version: " + shown.joined(separator: ", "))
    }

    /// Names the path of an unknown member that became a field; foreign text.
    func noteUnknownField(_ path: String) { Self.show(path, among: &unknownFields) }

    private static func show(_ name: String, among shown: inout [String]) {
        if shown.count > shownNames || shown.contains(where: { $0.exact == name.exact }) { return }
        shown.append(shown.count == shownNames ? "…" : name)
    }

    /// The number of names that a remark lists.
    private static let shownNames = 10

    /// Reads one record of a document, as `record(_:_:)` does.
    ///
    /// - Parameters:
    ///   - title: the value of its name; nil if it has none.
    ///   - number: its number in the document, from 1, which names a record without a name.
    /// - Throws: what `body` throws, except `ForeignFailure.damaged`.
    package func record(
        _ record: ForeignJSON.Value, of json: ForeignJSON, title: ForeignJSON.Value?, number: Int,
        _ body: () throws(ForeignFailure) -> Void
    ) throws(ForeignFailure) {
        let title = json.text(title).flatMap { $0.isEmpty ? nil : $0 }
        let isRead = try self.record(title ?? "record \(number)", body)
        if !isRead { json.skip(record) }
    }
}
