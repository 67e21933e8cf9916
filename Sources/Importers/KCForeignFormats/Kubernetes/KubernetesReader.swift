internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel

/// Reads the Secrets among objects of Kubernetes.
struct KubernetesReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector
    private var paths: Set<ExactText> = []
    private var lists = 0
    private var secrets = 0
    private var sealed = 0
    private var others = 0
    /// The first labels and annotations that were left out, and the number of all.
    private var repeating: (first: [String], count: Int) = ([], 0)
    /// True if the end of the file is not to be seen, as in YAML.
    private let mayEndEarly: Bool
    /// The part that the last object lacks, if nothing of the file follows it.
    private var lack: Lack?

    private enum Lack {
        /// The type, which a cluster gives each Secret, and which comes last in the order of the alphabet.
        case type
        /// Keys that its type asks for.
        case keys(String, path: String)
    }

    init(_ json: ForeignJSON, _ collector: RecordCollector, mayEndEarly: Bool) {
        self.mayEndEarly = mayEndEarly
        self.json = json
        self.collector = collector
    }

    /// Reads an object or a list.
    ///
    /// - Parameter implied: the kind of an object in a list of one kind, which need not say it.
    mutating func add(_ object: ForeignJSON.Value, implied: String? = nil) throws(ForeignFailure) {
        lack = nil
        if object.isNull {
            return collector.remark("a list has 'null' in the place of a member: is all of it there?")
        }
        guard object.isObject else { throw .damaged("an object of Kubernetes is not an object") }
        let kind = try text(object["kind"]) ?? implied ?? ""
        let version = try text(object["apiVersion"]) ?? (implied == nil ? "" : "v1")
        if object["sops"]?.isObject ?? false {
            throw .refused(
                title: "encrypted with SOPS", hint: "'sops -d FILE' writes what is in it; import that, and delete it")
        }
        // Programs write it behind the data, so it is missing where a YAML file ends early.
        if kind.isEmpty { throw .damaged("an object has no kind, as if the file ended early") }
        if kind.exact.hasSuffix("List"), let items = object["items"] {
            if mayEndEarly, items.isNull { throw .damaged("a list has no members, as if the file ended early") }
            if items.isNull { collector.remark("a list has 'null' in the place of its members: is all of it there?") }
            lists += 1
            json.skip("metadata", of: object)
            let each = kind.exact.removingSuffix("List").flatMap { $0.isEmpty ? nil : $0 }
            for item in try json.list(items) { try add(item, implied: each) }
            if object.members.last?.name.exact != "items".exact { lack = nil }
        } else if kind.exact == "Secret", version.isEmpty || version.exact == "v1" {
            secrets += 1
            try addSecret(object, hasVersion: !version.isEmpty)
        } else {
            leaveOut(object, kind)
        }
    }

    /// - Throws: `ForeignFailure.refused` if there is something, and no Secret.
    func requireSecrets() throws(ForeignFailure) {
        guard secrets == 0, lists == 0 || sealed + others > 0 else { return }
        if sealed > 0 {
            throw .refused(
                title: "a file of SealedSecrets, for the controller of their cluster",
                hint: "'kubectl get secret -A -o json' writes the Secrets that it made of them")
        }
        throw .refused(
            title: "a file of Kubernetes objects without a Secret",
            hint: "'kubectl get secret -A -o json' writes the Secrets of a cluster")
    }

    /// Judges by the last object whether a YAML file ends early.
    ///
    /// - Throws: `ForeignFailure.damaged` if it does.
    func requireWhole() throws(ForeignFailure) {
        switch lack {
        case .type?:
            throw .damaged("the last object lacks the type, which kubectl writes last, as if the file ended early")
        case .keys(let keys, let path)?:
            collector.remark(
                "the Secret '\(path)' lacks the key \(keys), which its type asks for: is all of it there?")
        case nil: break
        }
    }

    // A remark has room for some names.
    private static let namedPairs = 5

    /// Says which labels and annotations were left out, since a cluster has uses for them.
    func tellRepeating() {
        if repeating.count == 0 { return }
        let others = repeating.count - repeating.first.count
        collector.remark(
            "not kept, since the secret is in it, and missing in an export: "
                + repeating.first.joined(separator: ", ") + (others > 0 ? " and \(others) more" : ""))
    }

    private mutating func leaveOut(_ object: ForeignJSON.Value, _ kind: String) {
        json.skip(object)
        if kind.exact == "SealedSecret" {
            sealed += 1
            collector.remark("SealedSecrets open only in the controller of their cluster")
            return collector.leaveOut("SealedSecret object")
        }
        others += 1
        let isName = (1...63).contains(kind.utf8.count) && kind.exact.isASCIILettersAndDigits()
        collector.leaveOut(isName ? "\(kind) object" : "object of an unknown kind")
    }

    private mutating func addSecret(_ object: ForeignJSON.Value, hasVersion: Bool) throws(ForeignFailure) {
        let metadata = object["metadata"]
        let names = [json.text(metadata?["namespace"]), json.text(metadata?["name"])].compactMap { $0 }
        let title = names.isEmpty ? "Secret \(secrets)" : names.joined(separator: "/")
        let isRead = try collector.record(title) { () throws(ForeignFailure) in
            guard hasVersion else { throw .damaged("it has no apiVersion") }
            try read(object)
        }
        if !isRead { json.skip(object) }
        if Self.lacksType(object) { lack = .type }
    }

    /// True for a Secret of a cluster, in the order in which kubectl writes it, without its last member.
    private static func lacksType(_ object: ForeignJSON.Value) -> Bool {
        guard object["type"] == nil, let last = object.members.last, last.name.exact == "metadata".exact else {
            return false
        }
        // Only a cluster sets them; a file that is made without one may have null.
        return ["creationTimestamp", "resourceVersion", "uid"].contains { !(last.value[$0]?.isNull ?? true) }
    }

    private mutating func read(_ object: ForeignJSON.Value) throws(ForeignFailure) {
        guard let metadata = try json.object(object["metadata"]), let name = try text(metadata["name"]) else {
            throw .damaged("it has no name")
        }
        let namespace = try text(metadata["namespace"]).flatMap { $0.isEmpty ? nil : $0 }
        guard var secret = KubernetesSecret(namespace: namespace, name: name) else {
            throw .damaged("its name, or that of its namespace, is none that Kubernetes has")
        }
        guard !paths.contains(secret.path.exact) else { throw .damaged("another Secret has the same name") }
        if let type = try text(object["type"]), !type.isEmpty { secret.type = type }
        secret.isImmutable = try flag(object["immutable"])
        let data = try KubernetesData(object, of: json)
        let missing = secret.requiredKeys.filter { names in
            !names.contains { name in data.keys.contains { $0.exact == name.exact } }
        }
        if !missing.isEmpty {
            lack = .keys(missing.map { $0.joined(separator: " or ") }.joined(separator: " and "), path: secret.path)
        }
        let keptLabels = try labels(metadata["labels"], of: data)
        let keptAnnotations = try annotations(metadata["annotations"], of: data)
        secret.labels = keptLabels.kept
        secret.annotations = keptAnnotations.kept
        secret.isPartial = !keptLabels.isComplete || !keptAnnotations.isComplete
        let (created, modified) = try dates(of: metadata)
        try leaveOut("owner of a Secret", each: metadata["ownerReferences"])
        try leaveOut("finalizer", each: metadata["finalizers"])
        // Members that the cluster sets.
        json.skip(
            "uid", "resourceVersion", "generation", "selfLink", "managedFields", "deletionTimestamp",
            "deletionGracePeriodSeconds", "generateName", of: metadata)
        // A damaged one of this name does not keep another out.
        paths.insert(secret.path.exact)
        func part(_ key: String?) -> RecordPart {
            RecordPart(
                key == nil ? "Secret without data" : "value of a Secret",
                secret.draft(key, created: created, modified: modified), secret: key.map { data.value($0) } ?? nil,
                record: secret.path, part: key ?? "", name: secret.title(key))
        }
        if data.keys.isEmpty { try collector.add(part(nil)) }
        for key in data.keys { try collector.add(part(key)) }
        for words in keptLabels.repeating + keptAnnotations.repeating {
            repeating.count += 1
            if repeating.count <= Self.namedPairs { repeating.first.append("\(words) of '\(secret.path)'") }
        }
    }

    /// When a Secret was made and, if the file says it, last changed.
    private func dates(
        of metadata: ForeignJSON.Value
    ) throws(ForeignFailure) -> (created: Timestamp?, modified: Timestamp?) {
        var modified: Timestamp?
        for change in try json.list(metadata["managedFields"]) {
            guard let time = try text(change["time"]), let date = collector.counted(ForeignDate.iso(time)) else {
                continue
            }
            modified = modified.map { max($0, date) } ?? date
        }
        let created = try text(metadata["creationTimestamp"]).flatMap { collector.counted(ForeignDate.iso($0)) }
        return (created, modified)
    }

    /// A flag, which a YAML file has as text.
    private func flag(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> Bool {
        guard let value, !value.isNull else { return false }
        if let flag = json.flag(value) { return flag }
        switch try text(value)?.exact {
        case "true": return true
        case "false": return false
        default: throw .damaged("a flag is neither true nor false")
        }
    }

    /// Labels or annotations of a Secret.
    private struct Pairs {
        /// The pairs that may be attributes, which are readable while a keychain is locked.
        var kept: [ExtraAttribute] = []
        /// Words for those that have the secret in them.
        var repeating: [String] = []
        /// False if an export of the item lacks one.
        var isComplete = true

        mutating func leaveOut(_ kind: String, _ name: String, isSecret: Bool) {
            repeating.append(isSecret ? "a \(kind), whose name it is," : "the \(kind) '\(name)'")
            isComplete = false
        }
    }

    private func labels(
        _ value: ForeignJSON.Value?, of data: borrowing KubernetesData
    ) throws(ForeignFailure) -> Pairs {
        var labels = Pairs()
        for member in try json.object(value)?.members ?? [] {
            let isName = data.isName(member.name)
            var isSecret = isName
            if let text = try secret(member.value), data.isRepeated(in: text) { isSecret = true }
            if isSecret {
                collector.leaveOut("label with the secret in it")
                labels.leaveOut("label", member.name, isSecret: isName)
            } else {
                labels.kept.append(ExtraAttribute(name: member.name, value: try self.text(member.value) ?? ""))
            }
        }
        return labels
    }

    // Annotations in which programs that apply objects keep a copy of them, with the data.
    private static let copies = [
        "kubectl.kubernetes.io/last-applied-configuration", "kapp.k14s.io/original",
        "objectset.rio.cattle.io/applied", "banzaicloud.com/last-applied",
    ]

    private func annotations(
        _ value: ForeignJSON.Value?, of data: borrowing KubernetesData
    ) throws(ForeignFailure) -> Pairs {
        var annotations = Pairs()
        for member in try json.object(value)?.members ?? [] {
            guard let text = try secret(member.value) else { continue }
            let isName = data.isName(member.name)
            if Self.copies.contains(where: { $0.exact == member.name.exact }) {
                // The program that applies the object writes it again, so its loss needs no remark.
                collector.leaveOut("annotation with the secret in it")
            } else if isName || data.isRepeated(in: text) {
                collector.leaveOut("annotation with the secret in it")
                annotations.leaveOut("annotation", member.name, isSecret: isName)
            } else if text.count > ItemLimits.attributeSize {
                collector.leaveOut("annotation of more than \(ItemLimits.attributeSize >> 10) KiB")
                annotations.isComplete = false
            } else {
                annotations.kept.append(ExtraAttribute(name: member.name, value: try self.text(member.value) ?? ""))
            }
        }
        return annotations
    }
}
