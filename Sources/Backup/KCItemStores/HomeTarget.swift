internal import KCByteStreams
internal import KCHomeFiles
internal import KCKeychainModel

/// A home as the target of a restore: each item is written as the file that it was.
///
/// An archive may name any path; only those that a backup of a home takes are written. A home has no transactions: a
/// restore that fails leaves the files that it has written, each complete.
final class HomeTarget: ItemTarget, ItemWriter {
    private let root: HomeRoot
    private let home: WritableHome
    /// Makes a code of a file that is the same for equal files only.
    private let code: (HomeItem, HomeFileRule, borrowing SecretBytes) throws -> [UInt8]
    private var places: [HomePath: Place] = [:]
    /// The files of the archive that cannot be beside the others.
    private var refused: Set<HomePath> = []
    private var written = 0

    /// A file of the archive, and what is where it goes.
    struct Place {
        let item: Item
        let file: HomeItem
        let rule: HomeFileRule
        /// The code of the file as it will be.
        let code: [UInt8]
        let existing: Existing

        /// The file that is there; nil for none.
        var status: EntryStatus? { if case .file(_, _, let status, _) = existing { status } else { nil } }

        enum Existing {
            case missing
            /// A file, as an item, and whether it has the same bytes.
            case file(HomeItem, Item, EntryStatus, hasBytes: Bool)
            case inTheWay(HomeFile.Failure?)
        }
    }

    init(
        _ root: HomeRoot, _ home: WritableHome,
        code: @escaping (HomeItem, HomeFileRule, borrowing SecretBytes) throws -> [UInt8]
    ) {
        self.root = root
        self.home = home
        self.code = code
    }

    /// The place of an item that may be written; nil for any other.
    func place(of item: Item) -> Place? {
        // Two items of an archive may name the same file; the first one is it.
        HomeItem.path(of: item).flatMap { places[$0] }.flatMap { $0.item.uuid == item.uuid ? $0 : nil }
    }

    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result { try body(self) }

    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result {
        defer { home.synchronize() }
        do {
            return try body(self)
        } catch  where written > 0 {
            throw BrokenOffWrite(written: written, cause: error)
        }
    }

    var needsAnnouncements: Bool { true }

    func announce(_ item: Item, secret: borrowing SecretBytes, hasSecret: Bool) throws {
        guard hasSecret, let file = HomeItem(item), file.path.root == root,
            let rule = HomeTable.rule(for: file.path), places[file.path] == nil
        else { return }
        guard secret.count <= rule.limitInBytes, places.count < HomeReader.countLimit, !isInsideAnother(file.path)
        else {
            refused.insert(file.path)
            return
        }
        let existing: Place.Existing
        switch try home.entry(at: file.path, rule) {
        case .missing: existing = .missing
        case .inTheWay(let problem): existing = .inTheWay(problem)
        case .file(let found):
            let own = HomeItem(file.path, found)
            let ownItem = try own.draft.completed(now: own.modified, secretSize: found.bytes.count)
            let hasBytes = found.bytes.withBytes { bytes in secret.withBytes { bytes.isEqual(to: $0) } }
            existing = .file(own, ownItem, found.status, hasBytes: hasBytes)
        }
        places[file.path] = Place(
            item: item, file: file, rule: rule, code: try code(file, rule, secret), existing: existing)
    }

    /// True if a file of the archive would have to be a folder as well.
    private func isInsideAnother(_ path: HomePath) -> Bool { path.folders.contains { places[$0] != nil } }

    func item(withKeyOf item: Item) -> Item? {
        if case .file(_, let existing, _, _) = place(of: item)?.existing { existing } else { nil }
    }

    func item(withUUID uuid: ItemUUID) -> Item? { nil }

    /// An export: items that leave this device are bound to none.
    var kind: Passage.Target { .export }

    func obstacle(to item: Item) -> ItemObstacle? {
        guard let file = HomeItem(item), file.path.root == root, HomeTable.rule(for: file.path) != nil,
            !refused.contains(file.path)
        else {
            return .notAHomeFile
        }
        // Without a place, its secret is not available, which is said.
        guard let place = places[file.path] else { return nil }
        if place.item.uuid != item.uuid { return .notAHomeFile }
        if case .inTheWay(let problem) = place.existing {
            return problem?.isOfRights == true ? .notPermitted : .inTheWay
        }
        return nil
    }

    func obstacle(toWriting item: Item) throws -> ItemObstacle? {
        guard let place = place(of: item) else { return nil }
        return try home.obstacle(at: place.file.path, place.status) == nil ? nil : .notPermitted
    }

    /// A file that was restored for its owner alone is the one that others could read once.
    func holds(_ item: Item, as existing: Item) -> Bool {
        guard let place = place(of: item), case .file(let own, _, _, _) = place.existing else { return false }
        return [place.file.permissions, place.file.restoredPermissions(place.rule)].contains(own.permissions)
    }

    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) -> Bool {
        guard let path = HomeItem.path(of: existing), case .file(_, _, _, let hasBytes) = places[path]?.existing else {
            return false
        }
        return hasBytes
    }

    /// None: a restore removes no file.
    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) -> Int { 0 }

    func removeLocalItems(_ local: LocalItems, except staying: Set<ItemUUID>) -> Int { 0 }

    func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm, replacing: Item?
    ) throws {
        guard let place = place(of: item) else {
            throw HomeFailure.changedMeanwhile(item.attributes.text(.labl) ?? "")
        }
        try home.write(place.file, place.rule, secret, replacing: place.status)
        written += 1
    }
}
