internal import KCByteStreams
package import KCItemSources

/// Secrets of Kubernetes in JSON or YAML, as `kubectl get secret -o json` and `-o yaml` write them: one, a list, or
/// several documents.
///
/// Source: the reference of Kubernetes' API, v1, Secret.
package struct KubernetesFormat: ForeignFormat {
    package let name = "kubernetes"
    package let title = "file of Kubernetes objects"

    package init() {}

    /// The number of bytes of a YAML file that are examined.
    private static let headSize = 8_192
    /// Members of which an object or a list has one beside `apiVersion` near its beginning.
    private static let members = ["kind", "metadata", "items", "data", "stringData", "type"]

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        let names =
            Self.isJSON(file)
            ? file.bytes.withBytes { JSONHead.names(["apiVersion"] + Self.members, in: $0) } : Self.yamlNames(file)
        return names.contains("apiVersion".exact) && names.count > 1
    }

    private static func isJSON(_ file: ForeignFile) -> Bool {
        file.bytes.withBytes { span in
            let first = span.indices.first { ![0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].contains(span[$0]) }
            return first.map { span[$0] == UInt8(ascii: "{") } ?? false
        }
    }

    /// Those of the members that stand at the beginning of a line.
    private static func yamlNames(_ file: ForeignFile) -> Set<ExactText> {
        var found: Set<ExactText> = []
        file.bytes.withBytes { span in
            span.extracting(0..<min(span.count, headSize)).forEachLine { line, _ in
                for name in ["apiVersion"] + members
                where ["\(name):", "\"\(name)\":"].contains(where: { line.starts(with: $0) }) {
                    found.insert(name.exact)
                }
            }
        }
        return found
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let json = Self.isJSON(file) ? try ForeignJSON(file) : try ForeignJSON(YAMLAsJSON.convert(file.bytes))
        let collector = RecordCollector(format: name, date: file.modified)
        var reader = KubernetesReader(json, collector)
        for document in json.root.isArray ? json.root.values : [json.root] { try reader.add(document) }
        collector.leaveOut(unknown: json.unread)
        try reader.requireSecrets()
        return try collector.finish(details: "", isPlaintext: true)
    }
}
