internal import KCByteStreams
internal import KCItemSources

extension XMLDocument {
    /// Parses a file in which elements and text are not mixed.
    ///
    /// - Throws: `ForeignFailure` (`damaged`, `damagedLine`, `limit`), `StreamFailure`.
    static func reading(_ file: ForeignFile) throws -> XMLDocument {
        let document: XMLDocument
        do throws(XMLFailure) {
            document = try file.bytes.withBytes { bytes throws(XMLFailure) in try XMLDocument(bytes) }
        } catch {
            switch error {
            case .malformed(let line): throw ForeignFailure.damagedLine(line, "its XML is malformed")
            case .documentType: throw ForeignFailure.damaged("it declares a document type")
            case .limit(let name, let allowed):
                throw ForeignFailure.limit(name, found: UInt64(allowed) + 1, allowed: UInt64(allowed))
            case .library: throw StreamFailure.outOfMemory(.decoding)
            }
        }
        if document.hasMixedContent { throw ForeignFailure.damaged("it has text beside its elements") }
        return document
    }
}

extension Span<UInt8> {
    /// True if the outermost element of XML has this name.
    func hasRoot(_ name: String) -> Bool {
        // The number of bytes in which the root element begins.
        let headSize = 1_024
        var start = matches([0xef, 0xbb, 0xbf]) ? 3 : 0
        if matches("<?xml".utf8, at: start) {
            let end = indices.prefix(headSize).first { self[$0] == UInt8(ascii: ">") }
            start = end.map { $0 + 1 } ?? count
        }
        while start < count, [0x20, 0x09, 0x0a, 0x0d].contains(self[start]) { start += 1 }
        return matches("<\(name) ".utf8, at: start) || matches("<\(name)>".utf8, at: start)
    }
}
