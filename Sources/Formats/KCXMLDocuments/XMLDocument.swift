internal import KCByteStreams

/// Why text is not accepted as XML.
package enum XMLFailure: Error, Hashable, Sendable {
    /// It is not well-formed or not in UTF-8; the value is the line, from 1.
    case malformed(line: Int)
    /// It declares a document type, which could define entities that expand to arbitrary text.
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
package final class XMLDocument: Sendable {
    /// An element; it has text only if it has no children.
    package struct Element: Hashable, Sendable {
        /// The index of the element in document order.
        package let index: Int
        package let name: String
        package let attributes: [String: String]
        /// The indices of its children.
        package fileprivate(set) var children: [Int] = []
        /// The range of its text in the text of the document.
        fileprivate(set) var text: Range<Int>
    }

    /// How deeply elements may be nested.
    package static let depthLimit = 64
    /// The maximum number of elements, far more than real files have; each takes about 200 bytes.
    package static let elementLimit = 5_000_000
    /// The maximum size of the names and attributes of one element in bytes.
    package static let tagLimit = 65_536

    /// All elements in document order; the first is the root.
    package let elements: [Element]
    private let text: SecretBytes

    /// Parses UTF-8.
    package init(_ bytes: borrowing Span<UInt8>) throws(XMLFailure) {
        let builder = Builder()
        try XMLParser.parse(bytes, builder)
        if builder.elements.isEmpty { throw .malformed(line: 1) }
        elements = builder.elements
        hasMixedContent = builder.hasMixedContent
        text = builder.takeText()
    }

    /// True if there is text beside the children of an element, which is not kept; white space does not count.
    package let hasMixedContent: Bool

    /// The outermost element.
    package var root: Element { elements[0] }

    /// The children of `element` with a given name, in document order.
    package func children(_ name: String, of element: Element) -> [Element] {
        element.children.map { elements[$0] }.filter { $0.name.exact == name.exact }
    }

    /// The first child of `element` with a given name.
    package func child(_ name: String, of element: Element) -> Element? {
        element.children.first { elements[$0].name.exact == name.exact }.map { elements[$0] }
    }

    /// Calls `body` with the text of an element; the text of an element with children is empty.
    package func withText<Result: ~Copyable, E: Error>(
        of element: Element, _ body: (borrowing Span<UInt8>) throws(E) -> Result
    ) throws(E) -> Result {
        try text.withBytes { span throws(E) in try body(span.extracting(element.text)) }
    }

    /// The text of an element whose text is not secret.
    package func string(of element: Element) -> String {
        withText(of: element) { span in
            String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
        }
    }

    /// Collects the elements and text that the parser finds.
    final class Builder {
        fileprivate private(set) var elements: [Element] = []
        private var text = SecretBytes(capacity: 4_096)
        private var open: [Int] = []
        fileprivate private(set) var hasMixedContent = false

        func begin(_ name: String, _ attributes: [String: String]) throws(XMLFailure) {
            guard open.count < depthLimit else { throw .limit("depth of elements", allowed: depthLimit) }
            guard elements.count < elementLimit else { throw .limit("elements", allowed: elementLimit) }
            if let parent = open.last {
                if elements[parent].children.isEmpty { checkText(from: elements[parent].text.lowerBound) }
                elements[parent].children.append(elements.count)
            }
            open.append(elements.count)
            elements.append(
                Element(index: elements.count, name: name, attributes: attributes, text: text.count..<text.count))
        }

        func append(_ bytes: borrowing Span<UInt8>) {
            let start = text.count
            text.append(bytes)
            if let last = open.last, !elements[last].children.isEmpty { checkText(from: start) }
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
            let start = elements[last].text.lowerBound
            if elements[last].children.isEmpty { elements[last].text = start..<text.count }
        }

        fileprivate func takeText() -> SecretBytes {
            var taken = SecretBytes(capacity: 0)
            swap(&taken, &text)
            return taken
        }
    }
}
