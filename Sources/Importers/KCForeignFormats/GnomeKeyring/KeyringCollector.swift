internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// Makes keychain items from a keyring's items, in the same way as from those of the Secret Service.
final class KeyringCollector {
    private let collector: RecordCollector
    private let keyring: KeyringName
    /// The items so far; those with the same attributes are numbered when all are known.
    private var items: [(item: KeyringItem, key: [UInt8], secret: Range<Int>)] = []
    private var secrets = SecretBytes(capacity: 4_096)

    init(keyring: KeyringName, _ file: ForeignFile) {
        collector = RecordCollector(format: "gnome-keyring", file: Array(keyring.label.utf8), date: file.modified)
        self.keyring = keyring
    }

    /// Reads one item with `body`, which adds it last: if it is damaged, it is refused by name.
    ///
    /// - Parameter name: the name of the item; if a line of the file is damaged, the number of that line is told instead.
    /// - Throws: what `body` throws, unless it says that the item is damaged.
    func record<E: Error>(_ name: String, _ body: () throws(E) -> Void) throws(E) {
        do throws(E) {
            try body()
        } catch {
            var name = name
            if case .damagedLine(let line, _)? = error as? ForeignFailure { name = "line \(line)" }
            try collector.record(name) { () throws(E) in throw error }
        }
    }

    func add(_ item: KeyringItem, secret: consuming SecretBytes) throws(ForeignFailure) {
        try item.check()
        let key = KeyringMapping.identity(of: item, keyring: keyring).key
        let start = secrets.count
        secret.withBytes { secrets.append($0) }
        items.append((item, key, start..<secrets.count))
    }

    /// The kind of an item, for people.
    static func kind(of attributes: Attributes) -> String { attributes.text(.desc) == nil ? "password" : "note" }

    /// True if no item could be read so far.
    var isEmpty: Bool { items.isEmpty }

    func leaveOut(_ kind: String, _ count: Int = 1) { collector.leaveOut(kind, count) }

    func remark(_ sentence: String) { collector.remark(sentence) }

    func finish(_ form: String, isPlaintext: Bool) throws(ForeignFailure) -> ForeignContents {
        // The daemon writes its items in any order.
        let items = items.enumerated().sorted {
            ($0.element.item.number, $0.offset) < ($1.element.item.number, $1.offset)
        }
        .map(\.element)
        let numbers = KeyringIdentity.ordinals(of: items.map { ($0.key, $0.item.label.keyBytes ?? []) })
        for (entry, number) in zip(items, numbers) {
            try collector.record(entry.item.title) { () throws(ForeignFailure) in
                let draft = KeyringMapping.draft(of: entry.item, keyring: keyring, ordinal: number)
                try collector.add(
                    RecordPart(
                        Self.kind(of: draft.attributes), draft,
                        secret: secrets.withBytes { SecretBytes($0.extracting(entry.secret)) },
                        record: Hexadecimal.encode(entry.key) + "/\(number)", name: entry.item.title))
                collector.leaveOut("unreadable date", KeyringMapping.unreadableDates(of: entry.item))
            }
        }
        let details = "keyring '\(keyring.label)', \(form)"
        return try collector.finish(details: details, isPlaintext: isPlaintext)
    }
}
