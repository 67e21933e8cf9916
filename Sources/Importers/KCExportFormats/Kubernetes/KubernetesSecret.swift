internal import KCByteStreams
internal import KCItemSources
package import KCKeychainModel

/// A Secret of Kubernetes without its data: what each item that is one of its values has as attributes.
///
/// The items of a Secret are generic passwords with the service `kubernetes/NAMESPACE/NAME`, and the keys as accounts.
package struct KubernetesSecret: Hashable {
    /// Nil if the file does not say it.
    package let namespace: String?
    package let name: String
    package var type = defaultType
    package var isImmutable = false
    /// True if an import left out labels or annotations of it.
    package var isPartial = false
    package var labels: [ExtraAttribute] = []
    package var annotations: [ExtraAttribute] = []

    /// The type of a Secret that states none.
    static let defaultType = "Opaque"
    /// The maximum size of all values together in bytes (`MaxSecretSize` of Kubernetes' API).
    static let dataLimit = 1 << 20
    private static let start = "kubernetes/"
    private static let (typeName, immutableName) = ("kubernetes.type", "kubernetes.immutable")
    private static let partialName = "kubernetes.partial"
    private static let (labelStart, annotationStart) = ("kubernetes.label.", "kubernetes.annotation.")

    /// The namespace, if there is one, and the name.
    package var path: String { namespace.map { "\($0)/\(name)" } ?? name }

    /// - Returns: nil if a name is not one of Kubernetes.
    package init?(namespace: String?, name: String) {
        guard KubernetesName.isObject(name), namespace.map(KubernetesName.isNamespace) ?? true else { return nil }
        self.namespace = namespace
        self.name = name
    }

    /// The Secret of which an item is a value; nil for any other item.
    init?(_ item: Item) {
        guard item.itemClass == .genericPassword,
            let rest = item.attributes.text(.svce)?.exact.removingPrefix(Self.start)
        else { return nil }
        let names = rest.exact.split(separator: "/", omittingEmptySubsequences: false)
        guard names.count <= 2, let name = names.last else { return nil }
        self.init(namespace: names.count == 2 ? names[0] : nil, name: name)
        for attribute in item.extra {
            if attribute.name.exact == Self.typeName.exact {
                type = attribute.value
            } else if attribute.name.exact == Self.immutableName.exact {
                isImmutable = attribute.value.exact == "true"
            } else if attribute.name.exact == Self.partialName.exact {
                isPartial = attribute.value.exact == "true"
            } else if let label = attribute.name.exact.removingPrefix(Self.labelStart) {
                labels.append(ExtraAttribute(name: label, value: attribute.value))
            } else if let annotation = attribute.name.exact.removingPrefix(Self.annotationStart) {
                annotations.append(ExtraAttribute(name: annotation, value: attribute.value))
            }
        }
        labels.sort { $0.name.exact < $1.name.exact }
        annotations.sort { $0.name.exact < $1.name.exact }
    }

    /// The item of a value.
    ///
    /// - Parameter key: the key; nil for a Secret without data.
    package func draft(_ key: String?, created: Timestamp?, modified: Timestamp?) -> ItemDraft {
        var draft = ItemDraft(itemClass: .genericPassword)
        draft.attributes[.svce] = .text(Self.start + path)
        draft.attributes[.labl] = .text(title(key))
        draft.attributes[.desc] = .text("Kubernetes Secret")
        if let key { draft.attributes[.acct] = .text(key) }
        if let created { draft.attributes[.cdat] = .date(created) }
        if let modified { draft.attributes[.mdat] = .date(modified) }
        draft.extra.append(ExtraAttribute(name: Self.typeName, value: type))
        if isImmutable { draft.extra.append(ExtraAttribute(name: Self.immutableName, value: "true")) }
        if isPartial { draft.extra.append(ExtraAttribute(name: Self.partialName, value: "true")) }
        draft.extra += labels.map { ExtraAttribute(name: Self.labelStart + $0.name, value: $0.value) }
        draft.extra += annotations.map { ExtraAttribute(name: Self.annotationStart + $0.name, value: $0.value) }
        draft.extra.append(ExtraAttribute(name: "source.format", value: ForeignKind.kubernetes.name))
        draft.extra.append(ExtraAttribute(name: "source.id", value: path))
        if let key { draft.extra.append(ExtraAttribute(name: "source.part", value: RecordPlace.field(key).part)) }
        if let namespace { draft.extra.append(ExtraAttribute(name: "source.folder", value: namespace)) }
        return draft
    }

    /// The name of a value, for people.
    package func title(_ key: String?) -> String { key.map { "\(path): \($0)" } ?? path }

    /// A key of which each Secret of this type must have one; none if the API asks for nothing.
    package var requiredKeys: [[String]] {
        switch type.exact {
        case "kubernetes.io/tls": [["tls.crt"], ["tls.key"]]
        case "kubernetes.io/dockerconfigjson": [[".dockerconfigjson"]]
        case "kubernetes.io/dockercfg": [[".dockercfg"]]
        case "kubernetes.io/ssh-auth": [["ssh-privatekey"]]
        case "kubernetes.io/basic-auth": [["username", "password"]]
        default: []
        }
    }
}
