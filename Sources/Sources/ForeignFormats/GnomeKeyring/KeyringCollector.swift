internal import ByteStreams
internal import Cryptography
internal import ItemSources
internal import KeychainModel

/// Makes keychain items from a keyring's items, in the same way as from those of the Secret Service.
struct KeyringCollector: ~Copyable {
    private var collector: RecordCollector
    /// The label of the keyring.
    private let keyring: String
    /// The number of items with the same attributes so far, by the hash of the attributes.
    private var ordinals: [[UInt8]: Int] = [:]

    init(keyring: String, _ file: ForeignFile) {
        collector = RecordCollector(format: "gnome-keyring", file: Array(keyring.utf8), date: file.modified)
        self.keyring = keyring
    }

    mutating func add(_ item: KeyringItem, secret: consuming SecretBytes) throws(ForeignFailure) {
        try item.check()
        let key = KeyringMapping.identity(of: item, keyring: keyring).key
        let ordinal = ordinals[key, default: 0]
        ordinals[key] = ordinal + 1
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
        let details = "keyring '\(keyring)', \(form)"
        return try collector.finish(details: details, isPlaintext: isPlaintext)
    }
}
