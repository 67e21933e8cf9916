internal import KCByteStreams
internal import KCItemSources

/// Recognizes files of Kubernetes objects by members that stand near their beginning.
enum KubernetesHead {
    /// The number of bytes of a YAML file that are examined.
    private static let size = 8_192
    /// Members of which an object or a list has one beside `apiVersion`.
    private static let members = ["kind", "metadata", "items", "data", "stringData", "type"]
    private static let version = "apiVersion"

    private static func isEnough(_ names: Set<ExactText>) -> Bool { names.contains(version.exact) && names.count > 1 }

    static func isOfObjects(inJSON bytes: borrowing Span<UInt8>) -> Bool {
        isEnough(JSONHead.names([version] + members, in: bytes))
    }

    /// Looks at the beginnings of lines, and reads YAML only where that may help: most files are of other formats.
    static func isOfObjects(inYAML bytes: borrowing Span<UInt8>) -> Bool {
        let head = bytes.extracting(0..<min(bytes.count, size))
        if isEnough(namesInLines(of: head)) { return true }
        let wanted = Array(version.utf8)
        guard head.indices.contains(where: { head[$0] == wanted[0] && head.matches(wanted, at: $0) }) else {
            return false
        }
        return isEnough(names(inYAML: head))
    }

    /// The known members that stand at the beginning of a line.
    private static func namesInLines(of head: borrowing Span<UInt8>) -> Set<ExactText> {
        var found: Set<ExactText> = []
        let hasMark = head.count >= 3 && head[0] == 0xef && head[1] == 0xbb && head[2] == 0xbf
        head.extracting((hasMark ? 3 : 0)..<head.count).forEachLine { line, _ in
            for name in [version] + members
            where ["\(name):", "\"\(name)\":"].contains(where: { line.starts(with: $0) }) {
                found.insert(name.exact)
            }
        }
        return found
    }

    /// The known members that the outermost mappings have, in any style, as far as the text goes.
    private static func names(inYAML head: borrowing Span<UInt8>) -> Set<ExactText> {
        var found: Set<ExactText> = []
        var depth = 0
        // False for the value of a member.
        var isKey = false
        do throws(YAMLFailure) {
            let reader = try YAMLReader(SecretBytes(head))
            while !isEnough(found), let event = try reader.next() {
                switch event {
                case .documentStart: depth = 0
                case .documentEnd: continue
                case .mappingStart where depth == 0:
                    (depth, isKey) = (1, true)
                    continue
                // The members of a list are no keys.
                case .sequenceStart where depth == 0: depth = 2
                case .mappingStart, .sequenceStart: depth += 1
                case .mappingEnd, .sequenceEnd: depth -= 1
                case .scalar where depth == 1 && isKey:
                    let name = reader.text.withBytes { text in
                        ([version] + members).first { text.count == $0.utf8.count && text.starts(with: $0) }
                    }
                    if let name { found.insert(name.exact) }
                case .scalar, .alias: break
                }
                if depth == 1 { isKey.toggle() }
            }
        } catch {
            // The head ends anywhere, and what is not YAML is of another format. Without the library, the lines must do.
        }
        return found
    }
}
