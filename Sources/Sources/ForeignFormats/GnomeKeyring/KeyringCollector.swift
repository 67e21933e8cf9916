internal import ByteStreams
internal import Cryptography
internal import ItemSources
internal import KeychainModel
internal import SecretService

/// Makes items of a keychain of a keyring's items, as the Secret Service's own items are made: names, unique key and
/// UUID are the same, so that a file and the living keyring that it came from are one to a backup.
struct KeyringCollector: ~Copyable {
    private var collector: RecordCollector
    /// The label of the keyring.
    private let keyring: String
    /// How many items had the same attributes, by the hash of these.
    private var ordinals: [[UInt8]: Int] = [:]

    /// The names of attributes that were numbers, with blanks between them.
    private static let numbers = "kcbackup:uint32"
    /// Apple's code of a secure note, `note` as a number.
    private static let noteType: Int64 = 1_852_798_053

    init(keyring: String, _ file: ForeignFile) {
        collector = RecordCollector(format: "gnome-keyring", file: Array(keyring.utf8), date: file.modified)
        self.keyring = keyring
    }

    mutating func add(_ item: KeyringItem, secret: consuming SecretBytes) throws(ForeignFailure) {
        try item.check()
        let place = CollectionName(label: keyring)
        let service = item.service
        let key = ServiceMapping.key(of: service.attributes, in: place, ordinal: 0)
        let ordinal = ordinals[key, default: 0]
        ordinals[key] = ordinal + 1
        var draft = ServiceMapping.draft(of: service, in: place, isDefault: false, ordinal: ordinal)
        draft.attributes[.labl] = item.label
        if !item.numbers.isEmpty {
            draft.extra.append(
                ExtraAttribute(name: Self.numbers, value: item.numbers.sorted().joined(separator: " ")))
        }
        if item.isNote, draft.itemClass == .genericPassword {
            draft.attributes[.desc] = .text("secure note")
            draft.attributes[.type] = .number(Self.noteType)
        }
        try collector.add(
            RecordPart(
                item.isNote ? "note" : "password", draft, secret: secret,
                record: Hexadecimal.encode(key) + "/\(ordinal)", name: item.text))
    }

    mutating func leaveOut(_ kind: String, _ count: Int = 1) { collector.leaveOut(kind, count) }

    mutating func refuse(_ name: String, _ problem: ForeignContents.Problem) { collector.refuse(name, problem) }

    mutating func remark(_ sentence: String) { collector.remark(sentence) }

    consuming func finish(_ form: String, isPlaintext: Bool) throws(ForeignFailure) -> ForeignContents {
        let details = "keyring '\(keyring)', \(form)"
        return try collector.finish(details: details, isPlaintext: isPlaintext)
    }
}
