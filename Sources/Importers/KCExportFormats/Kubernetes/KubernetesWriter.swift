internal import KCByteStreams
package import KCItemSources
package import KCKeychainModel

/// Secrets of Kubernetes, for `kubectl apply -f`, in the clear.
///
/// Items that were imported from Kubernetes become the Secrets that they were; any other password becomes a Secret of its
/// own. Members that a cluster sets itself, such as the UID and the owner, are not in the file.
package final class KubernetesWriter: PlainExportWriter {
    /// How the objects are written.
    package enum Form: Sendable {
        case json
        case yaml
    }

    private let form: Form
    private var secrets: [ExactText: WrittenSecret] = [:]
    /// The Secrets of which a value is not in the file.
    private var partial: Set<ExactText> = []
    /// The Secrets of which an import left out labels or annotations.
    private var lacking: Set<ExactText> = []
    /// The Secrets whose values differ in what a Secret has beside them.
    private var mixed: Set<ExactText> = []

    /// Starts a file.
    package init(_ form: Form) { self.form = form }

    package let notesOthers = true

    package func passOver(_ item: Item) {
        if let description = KubernetesSecret(item) { partial.insert(description.path.exact) }
    }

    /// Values are put together by their Secrets.
    package let joins = false

    package func add(_ record: ExportedRecord) -> ExportOutcome {
        var outcome = ExportOutcome()
        for part in record.parts {
            guard let problem = place(part.item, part) else { continue }
            outcome.unheld.append((part, problem))
            passOver(part.item)
        }
        return outcome
    }

    private func place(_ item: Item, _ part: ExportedPart) -> ExportProblem? {
        if var description = KubernetesSecret(item) {
            if description.isPartial { lacking.insert(description.path.exact) }
            // Other values of the Secret may have been imported from a file that said less of it.
            description.isPartial = false
            let key = item.attributes.text(.acct)
            let isBytes = item.attributes[.acct] != nil && key == nil
            if isBytes { return .nameNotText }
            return add(description, key, item, part.secret)
        }
        if part.isOfKeychain { return .noPlace }
        let record = ExportedRecord(part)
        if record.hasAccountOfBytes { return .nameNotText }
        guard
            let description = KubernetesSecret(
                namespace: nil, name: KubernetesName.object(record.title, ending: Self.ending(of: item)))
        else { return .noName }
        guard secrets[description.path.exact] == nil else { return .sameName }
        let written = WrittenSecret(description, modified: item.modified, isImported: false)
        if let account = record.account, !account.isEmpty {
            written.add("username", SecretBytes(copying: account.utf8))
        }
        if let address = record.addresses.first { written.add("url", SecretBytes(copying: address.utf8)) }
        if item.secretSize != nil { written.add(Self.key(of: part.place), part.secret) }
        guard written.size <= KubernetesSecret.dataLimit else { return .tooLarge }
        secrets[description.path.exact] = written
        return nil
    }

    /// Digits that tell a Secret from those of other items with its title, in each export.
    private static func ending(of item: Item) -> String {
        let digits = "\(item.uuid)".lowercased().utf8.filter { $0 != UInt8(ascii: "-") }
        // UUIDs that an import derives from records that are alike differ at their ends.
        return String(decoding: digits.prefix(8) + digits.suffix(8), as: UTF8.self)
    }

    private static func key(of place: RecordPlace) -> String {
        switch place {
        case .note: "note"
        case .oneTimePassword: "otpauth"
        case .passkey: "passkey"
        default: "password"
        }
    }

    /// Adds a value of a Secret that was imported.
    private func add(
        _ description: KubernetesSecret, _ key: String?, _ item: Item, _ secret: borrowing SecretBytes
    ) -> ExportProblem? {
        let known = secrets[description.path.exact]
        // A Secret that was made of another item only happens to have this name.
        if let known, !known.isImported { return .sameName }
        let written = known ?? WrittenSecret(description, modified: item.modified, isImported: true)
        if let key {
            guard KubernetesName.isKey(key) else { return .noName }
            guard !written.has(key) else { return .sameName }
            guard written.size + secret.count <= KubernetesSecret.dataLimit else { return .tooLarge }
            written.add(key, secret)
        } else if item.secretSize != nil {
            return .noName
        }
        // An import keeps values that were changed here, and those that its file lacks, with the labels that they had.
        if written.description != description { mixed.insert(description.path.exact) }
        written.describe(description, modified: item.modified)
        secrets[description.path.exact] = written
        return nil
    }

    package var remarks: [String] { incomplete + differing + unlabelled + refused }

    // A warning has room for some names.
    private static let namedSecrets = 3

    /// The Secrets that a cluster would take values from, in one sentence.
    private var incomplete: [String] {
        let found = written(of: partial)
        if found.isEmpty { return [] }
        return [
            "\(named(found)) \(found.count == 1 ? "lacks values that it has" : "lack values that they have") here; "
                + "'kubectl replace', and often 'apply', removes them from the cluster"
        ]
    }

    /// The Secrets of which one file cannot say all that the items say, in one sentence.
    private var differing: [String] {
        let found = written(of: mixed)
        if found.isEmpty { return [] }
        return [
            "values of \(named(found)) differ here in type, labels, annotations or 'immutable'; the file has those of the "
                + "value that was changed last"
        ]
    }

    /// The Secrets without labels and annotations that they had in their cluster, in one sentence.
    private var unlabelled: [String] {
        let found = written(of: lacking)
        if found.isEmpty { return [] }
        return [
            "\(named(found)) \(found.count == 1 ? "lacks" : "lack") labels or annotations that the import left out, "
                + "since the secret was in them or they were too large"
        ]
    }

    /// The Secrets at these paths that are in the file.
    private func written(of paths: Set<ExactText>) -> [ExactText] {
        paths.filter { secrets[$0]?.isImported == true }.sorted()
    }

    private func named(_ found: [ExactText]) -> String {
        let names = found.prefix(Self.namedSecrets).map { "'\($0)'" }.joined(separator: ", ")
        let others = found.count - Self.namedSecrets
        return "\(found.count == 1 ? "the Secret" : "the Secrets") \(names)\(others > 0 ? " and \(others) more" : "")"
    }

    private var refused: [String] {
        secrets.sorted { $0.key < $1.key }.compactMap { path, secret in
            let missing = secret.description.requiredKeys.filter { !$0.contains(where: secret.has) }
            if missing.isEmpty { return nil }
            let keys = missing.map { $0.joined(separator: " or ") }.joined(separator: " and ")
            return "Kubernetes refuses the Secret '\(path)', whose type asks for the key \(keys)"
        }
    }

    package func finish(to output: (borrowing Span<UInt8>) throws -> Void) throws {
        var file = SecretBytes(capacity: secrets.values.reduce(256) { $0 + 2 * $1.size + 512 })
        let sorted = secrets.sorted { $0.key < $1.key }.map(\.value)
        switch form {
        case .json:
            CanonicalJSON.literal("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[", into: &file)
            for (index, secret) in sorted.enumerated() {
                CanonicalJSON.literal(index == 0 ? "\n" : ",\n", into: &file)
                secret.writeJSON(into: &file)
            }
            CanonicalJSON.literal("\n]}\n", into: &file)
        case .yaml:
            CanonicalJSON.literal("apiVersion: v1\nitems:\(sorted.isEmpty ? " []" : "")\n", into: &file)
            for secret in sorted { secret.writeYAML(into: &file) }
            // Last, so that a file that ends early is none of Kubernetes.
            CanonicalJSON.literal("kind: List\n", into: &file)
        }
        try file.withBytes(output)
    }
}

/// A Secret with its data in base64.
private final class WrittenSecret {
    private(set) var description: KubernetesSecret
    /// When the value with this description was changed.
    private var modified: Timestamp
    /// False for what is made of an item that is no value of a Secret.
    let isImported: Bool
    private var text = SecretBytes(capacity: 256)
    private var ranges: [ExactText: Range<Int>] = [:]
    /// The size of all values in bytes.
    private(set) var size = 0

    init(_ description: KubernetesSecret, modified: Timestamp, isImported: Bool) {
        self.description = description
        self.modified = modified
        self.isImported = isImported
    }

    /// Takes the description of a value that was changed later than that of the present one.
    func describe(_ description: KubernetesSecret, modified: Timestamp) {
        guard modified > self.modified else { return }
        (self.description, self.modified) = (description, modified)
    }

    func has(_ key: String) -> Bool { ranges[key.exact] != nil }

    func add(_ key: String, _ value: borrowing SecretBytes) {
        let start = text.count
        value.withBytes { Base64.encode($0, into: &text) }
        ranges[key.exact] = start..<text.count
        size += value.count
    }

    func writeJSON(into file: inout SecretBytes) {
        CanonicalJSON.literal("{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":", into: &file)
        CanonicalJSON.string(description.name, into: &file)
        if let namespace = description.namespace {
            CanonicalJSON.literal(",\"namespace\":", into: &file)
            CanonicalJSON.string(namespace, into: &file)
        }
        for (title, pairs) in [("labels", description.labels), ("annotations", description.annotations)]
        where !pairs.isEmpty {
            CanonicalJSON.literal(",\"\(title)\":{", into: &file)
            for (index, pair) in pairs.enumerated() {
                if index > 0 { CanonicalJSON.literal(",", into: &file) }
                CanonicalJSON.string(pair.name, into: &file)
                CanonicalJSON.literal(":", into: &file)
                CanonicalJSON.string(pair.value, into: &file)
            }
            CanonicalJSON.literal("}", into: &file)
        }
        CanonicalJSON.literal("},\"type\":", into: &file)
        CanonicalJSON.string(description.type, into: &file)
        if description.isImmutable { CanonicalJSON.literal(",\"immutable\":true", into: &file) }
        CanonicalJSON.literal(",\"data\":{", into: &file)
        let start = file.count
        for (key, range) in ranges.sorted(by: { $0.key < $1.key }) {
            if file.count > start { CanonicalJSON.literal(",", into: &file) }
            CanonicalJSON.string(key.string, into: &file)
            CanonicalJSON.literal(":\"", into: &file)
            text.withBytes { file.append($0.extracting(range)) }
            CanonicalJSON.literal("\"", into: &file)
        }
        CanonicalJSON.literal("}}", into: &file)
    }

    /// Writes a member of a list.
    func writeYAML(into file: inout SecretBytes) {
        CanonicalJSON.literal("- apiVersion: v1\n  kind: Secret\n  type: ", into: &file)
        Self.yaml(description.type, into: &file)
        if description.isImmutable { CanonicalJSON.literal("\n  immutable: true", into: &file) }
        CanonicalJSON.literal("\n  metadata:\n    name: ", into: &file)
        Self.yaml(description.name, into: &file)
        if let namespace = description.namespace {
            CanonicalJSON.literal("\n    namespace: ", into: &file)
            Self.yaml(namespace, into: &file)
        }
        for (title, pairs) in [("labels", description.labels), ("annotations", description.annotations)]
        where !pairs.isEmpty {
            CanonicalJSON.literal("\n    \(title):", into: &file)
            for pair in pairs {
                CanonicalJSON.literal("\n      ", into: &file)
                Self.yaml(pair.name, into: &file)
                CanonicalJSON.literal(": ", into: &file)
                Self.yaml(pair.value, into: &file)
            }
        }
        if !ranges.isEmpty { CanonicalJSON.literal("\n  data:", into: &file) }
        for (key, range) in ranges.sorted(by: { $0.key < $1.key }) {
            CanonicalJSON.literal("\n    ", into: &file)
            Self.yaml(key.string, into: &file)
            CanonicalJSON.literal(": \"", into: &file)
            text.withBytes { file.append($0.extracting(range)) }
            CanonicalJSON.literal("\"", into: &file)
        }
        CanonicalJSON.literal("\n", into: &file)
    }

    /// A string in quotation marks, in which everything beyond printable ASCII is escaped: no reader takes it for another
    /// type, or for the end of a line.
    private static func yaml(_ text: String, into file: inout SecretBytes) {
        file.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                file.append(UInt8(ascii: "\\"))
                file.append(UInt8(ascii: scalar))
            case " "..."~": file.append(UInt8(ascii: scalar))
            default:
                let digits = String(scalar.value, radix: 16)
                CanonicalJSON.literal(
                    "\\U" + String(repeating: "0", count: 8 - digits.utf8.count) + digits, into: &file)
            }
        }
        file.append(UInt8(ascii: "\""))
    }
}
