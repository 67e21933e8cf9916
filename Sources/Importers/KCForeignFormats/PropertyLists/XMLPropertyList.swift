internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Reads a property list in XML, ignoring the document type that Apple writes before it.
enum XMLPropertyList {
    static func read(_ bytes: borrowing Span<UInt8>, into list: PropertyList) throws(ForeignFailure) -> Int {
        let document: XMLDocument
        do throws(XMLFailure) {
            let content = withoutDocumentType(bytes)
            document = try content.withBytes { content throws(XMLFailure) in try XMLDocument(content) }
        } catch {
            throw .damaged("a property list is neither binary nor XML")
        }
        let values = document.children(of: document.root)
        guard document.root.name == "plist", values.count == 1 else { throw .damaged("a property list is empty") }
        return try value(values[0], document, list, 1)
    }

    /// The bytes without Apple's own document type, which has no entities; any other one is kept, and then refused.
    private static func withoutDocumentType(_ bytes: borrowing Span<UInt8>) -> SecretBytes {
        let start = Array("<!DOCTYPE plist PUBLIC".utf8)
        guard let first = bytes.indices.prefix(1_024).first(where: { bytes.matches(start, at: $0) }),
            let end = (first..<bytes.count).prefix(512).first(where: { bytes[$0] == UInt8(ascii: ">") }),
            !(first..<end).contains(where: { bytes[$0] == UInt8(ascii: "[") })
        else { return SecretBytes(bytes) }
        var rest = SecretBytes(bytes.extracting(0..<first))
        rest.append(bytes.extracting(end + 1..<bytes.count))
        return rest
    }

    private static func value(
        _ element: XMLDocument.Element, _ document: XMLDocument, _ list: PropertyList, _ depth: Int
    ) throws(ForeignFailure) -> Int {
        guard depth <= PropertyList.depthLimit else {
            throw .limit("levels", found: UInt64(depth), allowed: UInt64(PropertyList.depthLimit))
        }
        switch element.name {
        case "dict": return try dictionary(element, document, list, depth)
        case "array":
            var values: [Int] = []
            for child in document.children(of: element) {
                values.append(try value(child, document, list, depth + 1))
            }
            return try list.add(.array(values))
        case "string": return try list.add(.text(document.withText(of: element) { list.keep($0) }))
        case "data":
            let text = document.withText(of: element) { SecretBytes(withoutSpace: $0) }
            var data = SecretBytes(capacity: text.count)
            guard text.withBytes({ Base64.decode($0, into: &data) }) else { throw .damaged("data is not base64") }
            return try list.add(.data(data.withBytes { list.keep($0) }))
        case "integer":
            guard let number = Int64(document.string(of: element)) else { throw .damaged("a number is malformed") }
            return try list.add(.number(number))
        case "real":
            guard let number = Double(document.string(of: element)) else { throw .damaged("a number is malformed") }
            return try list.add(.real(number))
        case "date":
            guard let date = ForeignDate.iso(document.string(of: element)) else {
                throw .damaged("a date is malformed")
            }
            return try list.add(.date(date))
        case "true": return try list.add(.flag(true))
        case "false": return try list.add(.flag(false))
        default: throw .damaged("a property list has a value of an unknown kind")
        }
    }

    private static func dictionary(
        _ element: XMLDocument.Element, _ document: XMLDocument, _ list: PropertyList, _ depth: Int
    ) throws(ForeignFailure) -> Int {
        let children = document.children(of: element)
        guard children.count.isMultiple(of: 2) else { throw .damaged("a name has no value") }
        var members: [(name: String, value: Int)] = []
        var seen: Set<[UInt8]> = []
        for index in stride(from: 0, to: children.count, by: 2) {
            guard children[index].name == "key" else { throw .damaged("a value has no name") }
            let name = document.string(of: children[index])
            guard seen.insert(Array(name.utf8)).inserted else { throw .damaged("a name occurs twice") }
            members.append((name, try value(children[index + 1], document, list, depth + 1)))
        }
        return try list.add(.dictionary(members))
    }
}
