internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// Makes keychain items from a keyring's items, in the same way as from those of the Secret Service.
struct KeyringCollector: ~Copyable {
    private var collector: RecordCollector
    private let keyring: KeyringName
    /// The items so far; those with the same attributes are numbered when all are known.
    private var items: [(item: KeyringItem, key: [UInt8], secret: Range<Int>)] = []
    private var secrets = SecretBytes(capacity: 4_096)

    init(keyring: KeyringName, _ file: ForeignFile) {
        collector = RecordCollector(format: "gnome-keyring", file: Array(keyring.label.utf8), date: file.modified)
        self.keyring = keyring
    }

    mutating func add(_ item: KeyringItem, secret: consuming SecretBytes) throws(ForeignFailure) {
        try item.check()
        let key = KeyringMapping.identity(of: item, keyring: keyring).key
        let start = secrets.count
        secret.withBytes { secrets.append($0) }
        items.append((item, key, start..<secrets.count))
    }

    private mutating func collect(
        _ item: KeyringItem, _ key: [UInt8], _ ordinal: Int, secret: consuming SecretBytes
    ) throws(ForeignFailure) {
        let draft = KeyringMapping.draft(of: item, keyring: keyring, ordinal: ordinal)
        let name =
            switch item.label {
            case .text(let text): text
            default: ""
            }
        try collector.add(
            RecordPart(
                Self.kind(of: draft.attributes), draft, secret: secret,
                record: Hexadecimal.encode(key) + "/\(ordinal)", name: name))
    }

    /// The kind of an item, for people.
    static func kind(of attributes: Attributes) -> String { attributes.text(.desc) == nil ? "password" : "note" }

    mutating func leaveOut(_ kind: String, _ count: Int = 1) { collector.leaveOut(kind, count) }

    mutating func refuse(_ name: String, _ problem: ForeignContents.Problem) { collector.refuse(name, problem) }

    mutating func remark(_ sentence: String) { collector.remark(sentence) }

    consuming func finish(_ form: String, isPlaintext: Bool) throws(ForeignFailure) -> ForeignContents {
        // The daemon writes its items in any order.
        let items = items.enumerated().sorted {
            ($0.element.item.number, $0.offset) < ($1.element.item.number, $1.offset)
        }
        .map(\.element)
        let numbers = AlikeItems.numbers(of: items.map { ($0.key, $0.item.label.keyBytes ?? []) })
        for (entry, number) in zip(items, numbers) {
            let secret = secrets.withBytes { SecretBytes($0.extracting(entry.secret)) }
            try collect(entry.item, entry.key, number, secret: secret)
        }
        let details = "keyring '\(keyring.label)', \(form)"
        return try collector.finish(details: details, isPlaintext: isPlaintext)
    }
}
