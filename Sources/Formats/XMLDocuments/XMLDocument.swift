internal import ByteStreams

/// Why text is not taken as XML.
package enum XMLFailure: Error, Hashable, Sendable {
    /// It is not well-formed, or not in UTF-8; with the line, from 1.
    case malformed(line: Int)
    /// It declares a document type, and with that perhaps entities, which may stand for anything.
    case documentType
    /// A limit is exceeded: its name, what is allowed.
    case limit(String, allowed: Int)
    /// No memory.
    case library
}

/// A small XML document in memory, whose text may be secret.
///
/// Names and attributes are `String`, so a format with secrets in attributes cannot be read with this.
///
/// ```swift
/// let document = try XMLDocument(bytes)
/// for entry in document.children("Entry", of: document.root) { … }
/// ```
package final class XMLDocument: Sendable {
    /// An element; its text is that of an element without children.
    package struct Element: Hashable, Sendable {
        /// Where it is in the document, by the places at which elements begin.
        package let index: Int
        package let name: String
        package let attributes: [String: String]
        /// Where its children are in the document.
        package fileprivate(set) var children: [Int] = []
        /// Where its text is among all text.
        fileprivate(set) var text: Range<Int>
    }

    /// How deep elements may lie in each other.
    package static let depthLimit = 64
    /// How many elements there may be: far more than people have, and each takes some 200 bytes.
    package static let elementLimit = 5_000_000
    /// Bytes of names and attributes of one element.
    package static let tagLimit = 65_536

    /// All elements in document order; the first is the root.
    package let elements: [Element]
    private let text: SecretBytes

    /// Parses UTF-8.
    ///
    /// - Throws: `XMLFailure`.
    package init(_ bytes: borrowing Span<UInt8>) throws(XMLFailure) {
        let builder = Builder()
        try XMLParser.parse(bytes, builder)
        if builder.elements.isEmpty { throw .malformed(line: 1) }
        elements = builder.elements
        text = builder.takeText()
    }

    /// The outermost element.
    package var root: Element { elements[0] }

    /// The children of `element` that have a name, in document order.
    package func children(_ name: String, of element: Element) -> [Element] {
        element.children.map { elements[$0] }.filter { $0.name == name }
    }

    /// The first child of `element` that has a name.
    package func child(_ name: String, of element: Element) -> Element? {
        element.children.first { elements[$0].name == name }.map { elements[$0] }
    }

    /// Hands out the text of an element; of one with children there is none.
    package func withText<Result: ~Copyable, E: Error>(
        of element: Element, _ body: (borrowing Span<UInt8>) throws(E) -> Result
    ) throws(E) -> Result {
        try text.withBytes { span throws(E) in try body(span.extracting(element.text)) }
    }

    /// The text of an element, which is not secret.
    package func string(of element: Element) -> String {
        withText(of: element) { span in
            String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
        }
    }

    /// Receives what the parser finds.
    final class Builder {
        fileprivate private(set) var elements: [Element] = []
        private var text = SecretBytes(capacity: 4_096)
        private var open: [Int] = []

        /// - Throws: `XMLFailure.limit`.
        func begin(_ name: String, _ attributes: [String: String]) throws(XMLFailure) {
            guard open.count < depthLimit else { throw .limit("depth of elements", allowed: depthLimit) }
            guard elements.count < elementLimit else { throw .limit("elements", allowed: elementLimit) }
            if let parent = open.last { elements[parent].children.append(elements.count) }
            open.append(elements.count)
            elements.append(
                Element(index: elements.count, name: name, attributes: attributes, text: text.count..<text.count))
        }

        func append(_ bytes: borrowing Span<UInt8>) {
            text.append(bytes)
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
