internal import KCByteStreams
internal import KCExportFormats
package import KCItemSources

/// Secrets of Kubernetes in JSON or YAML, as `kubectl get secret -o json` and `-o yaml` write them: one, a list, or
/// several documents.
///
/// Source: the reference of Kubernetes' API, v1, Secret.
package struct KubernetesFormat: ForeignFormat {
    package let kind = ForeignKind.kubernetes

    package init() {}

    private enum Syntax {
        case json
        case yaml
    }

    package func recognises(_ input: ForeignInput) throws -> Bool { input.file.flatMap(Self.syntax) != nil }

    /// Nil for what has no objects of Kubernetes.
    private static func syntax(of file: ForeignFile) -> Syntax? {
        file.bytes.withBytes { bytes in
            if KubernetesHead.isOfObjects(inJSON: bytes) { return .json }
            return KubernetesHead.isOfObjects(inYAML: bytes) ? .yaml : nil
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, let syntax = Self.syntax(of: file) else {
            throw ForeignFailure.notOfFormat(title: title)
        }
        let collector = RecordCollector(format: name, date: file.modified)
        let json: ForeignJSON
        switch syntax {
        case .json: json = try ForeignJSON(file)
        case .yaml:
            json = try ForeignJSON(YAMLAsJSON.convert(file.bytes))
            if file.bytes.withBytes({ Self.mayBeCutOff($0) }) {
                collector.remark(
                    "the file ends in the middle of a line, or with a key without a value: is all of it there?")
            }
        }
        var reader = KubernetesReader(json, collector, mayEndEarly: syntax == .yaml)
        for document in json.root.isArray ? json.root.values : [json.root] {
            // An empty document.
            if syntax == .yaml, document.isNull { continue }
            try reader.add(document)
        }
        if syntax == .yaml { try reader.requireWhole() }
        reader.tellRepeating()
        collector.leaveOut(unknown: json.unread)
        try reader.requireSecrets()
        return try collector.finish(details: "", isPlaintext: true)
    }

    /// True if a YAML file ends as a whole one rarely does; most that are cut off at the end of a line cannot be told.
    private static func mayBeCutOff(_ bytes: borrowing Span<UInt8>) -> Bool {
        let blanks: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]
        guard let first = bytes.indices.first(where: { !blanks.contains(bytes[$0]) }),
            let last = bytes.indices.last(where: { !blanks.contains(bytes[$0]) })
        else { return false }
        // In flow style, the last bracket is the end.
        if bytes[first] == UInt8(ascii: "{"), bytes[last] == UInt8(ascii: "}") { return false }
        let hasLineEnd = [0x0a, 0x0d].contains(bytes[bytes.count - 1])
        return !hasLineEnd || bytes[last] == UInt8(ascii: ":") || endsWithHeader(bytes, last)
    }

    /// True if the bytes up to `last` end with the header of a block scalar, such as `key: |-`, whose lines would follow.
    private static func endsWithHeader(_ bytes: borrowing Span<UInt8>, _ last: Int) -> Bool {
        var sign = last
        // The indentation, and what becomes of the last line end.
        while sign > 0, last - sign < 2, "+-123456789".utf8.contains(bytes[sign]) { sign -= 1 }
        guard "|>".utf8.contains(bytes[sign]) else { return false }
        var end = sign
        while end > 0, " \t".utf8.contains(bytes[end - 1]) { end -= 1 }
        guard end > 0, end < sign else { return false }
        var start = end - 1
        while start > 0, !" \t\r\n".utf8.contains(bytes[start - 1]) { start -= 1 }
        // The word before it is a key, the dash of a list, a tag or an anchor.
        return bytes[end - 1] == UInt8(ascii: ":") || "!&".utf8.contains(bytes[start])
            || bytes[start] == UInt8(ascii: "-") && end - start == 1
    }
}
