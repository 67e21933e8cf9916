internal import KCByteStreams

/// Why text is not accepted as XML.
enum XMLFailure: Error, Hashable, Sendable {
    /// The text is not well-formed or not in UTF-8; the value is the line, from 1.
    case malformed(line: Int)
    /// The text declares a document type, which could define entities that expand to arbitrary text.
    case documentType
    /// A limit is exceeded: its name and the largest value allowed.
    case limit(String, allowed: Int)
    /// There is not enough memory.
    case library
}

/// A small XML document in memory, whose text may be secret.
///
/// Names and attributes are `String`, so this type is unsuitable for a format with secrets in attributes.
///
/// ```swift
/// let document = try XMLDocument(bytes)
/// for entry in document.children("Entry", of: document.root) { … }
/// ```
final class XMLDocument: Sendable {
    /// A name with its attributes, which many elements have in common.
    fileprivate final class Tag: Sendable {
        let name: String
        /// Equal for equal names.
        let number: UInt32
        let attributes: [String: String]

        init(_ name: String, _ number: UInt32, _ attributes: [String: String]) {
            self.name = name
            self.number = number
            self.attributes = attributes
        }
    }

    /// The data that the document keeps of an element: 16 bytes, since large documents have millions.
    fileprivate struct Node: Sendable {
        let tag: UInt32
        /// The index of the first element that is neither this one nor in it.
        var end: UInt32
        /// The range of its text in the text of the document; empty if it has children.
        var textStart: UInt32
        var textEnd: UInt32
    }

    /// An element; it has text only if it has no children.
    struct Element: Sendable {
        /// The index of the element in document order.
        let index: Int
        fileprivate let tag: Tag

        var name: String { tag.name }
        var attributes: [String: String] { tag.attributes }
    }

    /// All elements in document order.
    struct Elements: RandomAccessCollection, Sendable {
        fileprivate let nodes: [Node]
        fileprivate let tags: [Tag]

        var startIndex: Int { 0 }
        var endIndex: Int { nodes.count }
        subscript(index: Int) -> Element { Element(index: index, tag: tags[Int(nodes[index].tag)]) }
    }

    /// How deeply elements may be nested.
    static let depthLimit = 64
    /// The maximum number of elements, far more than real files have.
    static let elementLimit = 5_000_000
    /// The maximum size of the names and attributes of one element in bytes.
    static let tagLimit = 65_536
    /// The maximum size of the text of all elements in bytes.
    static let textLimit = Int(UInt32.max)

    /// All elements in document order; the first is the root.
    let elements: Elements
    private let text: SecretBytes
    private let numbers: [ExactText: UInt32]

    /// Parses UTF-8.
    convenience init(_ bytes: borrowing Span<UInt8>) throws(XMLFailure) {
        let reader = try XMLReader()
        try reader.read(bytes)
        try self.init(reader)
    }

    /// Ends the reading of a document.
    init(_ reader: XMLReader) throws(XMLFailure) {
        let builder = try reader.finish()
        if builder.nodes.isEmpty { throw .malformed(line: 1) }
        elements = Elements(nodes: builder.nodes, tags: builder.tags)
        numbers = builder.numbers
        hasMixedContent = builder.hasMixedContent
        text = builder.takeText()
    }

    /// True if there is text beside the children of an element, which is not kept; white space does not count.
    let hasMixedContent: Bool

    /// The outermost element.
    var root: Element { elements[0] }

    /// True if there are elements in `element`.
    func hasChildren(_ element: Element) -> Bool { elements.nodes[element.index].end > element.index + 1 }

    /// The children of `element`, in document order.
    func children(of element: Element) -> [Element] {
        var children: [Element] = []
        forEachChild(of: element) { children.append(elements[$0]) }
        return children
    }

    /// The children of `element` with a given name, in document order.
    func children(_ name: String, of element: Element) -> [Element] {
        guard let number = numbers[name.exact] else { return [] }
        var children: [Element] = []
        forEachChild(of: element) { index in
            let child = elements[index]
            if child.tag.number == number { children.append(child) }
        }
        return children
    }

    /// The first child of `element` with a given name.
    func child(_ name: String, of element: Element) -> Element? {
        guard let number = numbers[name.exact] else { return nil }
        let end = Int(elements.nodes[element.index].end)
        var index = element.index + 1
        while index < end {
            if elements.tags[Int(elements.nodes[index].tag)].number == number { return elements[index] }
            index = Int(elements.nodes[index].end)
        }
        return nil
    }

    private func forEachChild(of element: Element, _ body: (Int) -> Void) {
        let end = Int(elements.nodes[element.index].end)
        var index = element.index + 1
        while index < end {
            body(index)
            index = Int(elements.nodes[index].end)
        }
    }

    /// Calls `body` with the text of an element; the text of an element with children is empty.
    func withText<Result: ~Copyable, E: Error>(
        of element: Element, _ body: (borrowing Span<UInt8>) throws(E) -> Result
    ) throws(E) -> Result {
        let node = elements.nodes[element.index]
        return try text.withBytes { span throws(E) in
            try body(span.extracting(Int(node.textStart)..<Int(node.textEnd)))
        }
    }

    /// The text of an element whose text is not secret.
    func string(of element: Element) -> String {
        withText(of: element) { span in
            String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
        }
    }

    /// Collects the elements and text that the parser finds.
    final class Builder {
        // The maximum size in bytes of a tag that is kept once for all elements that have it.
        private let internLimit = 256
        fileprivate private(set) var nodes: [Node] = []
        fileprivate private(set) var tags: [Tag] = []
        fileprivate private(set) var numbers: [ExactText: UInt32] = [:]
        /// The tags by the bytes of their names and attributes.
        private var places: [HashedBytes: UInt32] = [:]
        private var text = SecretBytes(capacity: 4_096)
        private var open: [Int] = []
        fileprivate private(set) var hasMixedContent = false

        /// Begins an element.
        ///
        /// - Parameters:
        ///   - bytes: the name and the attributes, each of them ended by a zero byte.
        ///   - attributes: returns the attributes; called for the first of equal tags.
        func begin(
            _ bytes: [UInt8], _ name: @autoclosure () -> String, _ attributes: () -> [String: String]
        ) throws(XMLFailure) {
            guard open.count < depthLimit else { throw .limit("depth of elements", allowed: depthLimit) }
            guard nodes.count < elementLimit else { throw .limit("elements", allowed: elementLimit) }
            if let parent = open.last, nodes.count == parent + 1 {
                checkText(from: Int(nodes[parent].textStart))
            }
            let tag: UInt32
            if let known = places[HashedBytes(bytes)] {
                tag = known
            } else {
                let name = name()
                let number = numbers[name.exact] ?? UInt32(numbers.count)
                numbers[name.exact] = number
                tag = UInt32(tags.count)
                tags.append(Tag(name, number, attributes()))
                // Few tags are long, and a hostile file could have many of them.
                if bytes.count <= internLimit { places[HashedBytes(bytes)] = tag }
            }
            open.append(nodes.count)
            let start = UInt32(text.count)
            nodes.append(Node(tag: tag, end: 0, textStart: start, textEnd: start))
        }

        func append(_ bytes: borrowing Span<UInt8>) throws(XMLFailure) {
            let start = text.count
            guard bytes.count <= textLimit - start else { throw .limit("bytes of text", allowed: textLimit) }
            text.append(bytes)
            if let last = open.last, nodes.count > last + 1 { checkText(from: start) }
        }

        /// Notes text that stands beside elements.
        private func checkText(from start: Int) {
            if hasMixedContent { return }
            hasMixedContent = text.withBytes { bytes in
                !(start..<bytes.count).allSatisfy { [0x20, 0x09, 0x0a, 0x0d].contains(bytes[$0]) }
            }
        }

        func end() {
            guard let last = open.popLast() else { return }
            if nodes.count == last + 1 { nodes[last].textEnd = UInt32(text.count) }
            nodes[last].end = UInt32(nodes.count)
        }

        fileprivate func takeText() -> SecretBytes {
            var taken = SecretBytes(capacity: 0)
            swap(&taken, &text)
            return taken
        }
    }
}
