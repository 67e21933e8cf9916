internal import CKCExpat
internal import KCByteStreams

/// Reads a document with expat, piece by piece; entities cannot be declared, since reading ends at a document type
/// declaration.
///
/// ```swift
/// let reader = try XMLReader()
/// while try source.read(into: &piece) { try piece.withBytes { try reader.read($0) } }
/// let document = try XMLDocument(reader)
/// ```
@safe final class XMLReader {
    // The number of bytes passed to expat at a time; its counts have C's type int.
    private static let pieceSize = 1 << 20

    private let builder = XMLDocument.Builder()
    private let parser: OpaquePointer
    private var failure: XMLFailure?
    /// The name and the attributes of the present tag.
    private var tag: [UInt8] = []

    /// Begins a document in UTF-8.
    init() throws(XMLFailure) {
        guard let parser = unsafe kcb_xml_new() else { throw .library }
        unsafe self.parser = unsafe parser
        // The parser holds only the address of the reader, which frees it.
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe XML_SetElementHandler(parser, Self.begin, Self.end)
        unsafe XML_SetCharacterDataHandler(parser, Self.text)
        unsafe XML_SetStartDoctypeDeclHandler(parser, Self.documentType)
    }

    deinit {
        unsafe XML_ParserFree(parser)
    }

    /// Reads the next bytes.
    ///
    /// - Throws: `XMLFailure`; the document is then beyond reading.
    func read(_ bytes: borrowing Span<UInt8>) throws(XMLFailure) {
        var offset = 0
        while offset < bytes.count {
            let end = min(bytes.count, offset + Self.pieceSize)
            try parse(bytes.extracting(offset..<end), isLast: false)
            offset = end
        }
    }

    /// Ends the document.
    func finish() throws(XMLFailure) -> XMLDocument.Builder {
        try parse(Span<UInt8>(), isLast: true)
        return builder
    }

    private func parse(_ bytes: borrowing Span<UInt8>, isLast: Bool) throws(XMLFailure) {
        if let failure { throw failure }
        let parser = unsafe parser
        let status = unsafe bytes.withUnsafeBufferPointer { piece in
            unsafe piece.withMemoryRebound(to: CChar.self) { text in
                unsafe XML_Parse(parser, text.baseAddress, Int32(text.count), isLast ? 1 : 0)
            }
        }
        if let failure { throw failure }
        guard status == XML_STATUS_OK else {
            let isOutOfMemory = unsafe XML_GetErrorCode(parser) == XML_ERROR_NO_MEMORY
            let failure: XMLFailure =
                unsafe isOutOfMemory ? .library : .malformed(line: Int(XML_GetCurrentLineNumber(parser)))
            self.failure = failure
            throw failure
        }
    }

    private func stop(_ failure: XMLFailure) {
        if self.failure == nil { self.failure = failure }
        unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> XMLReader? {
        unsafe context.map { unsafe Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let begin: XML_StartElementHandler = { context, name, attributes in
        guard let reader = unsafe of(context), reader.failure == nil, let name = unsafe name else { return }
        reader.tag.removeAll(keepingCapacity: true)
        var text: UnsafePointer<XML_Char>? = unsafe name
        var (index, size) = (0, 0)
        while let part = unsafe text {
            let length = unsafe strlen(part)
            size += length
            guard size <= XMLDocument.tagLimit else {
                return reader.stop(.limit("bytes of a tag", allowed: XMLDocument.tagLimit))
            }
            unsafe reader.tag.append(contentsOf: UnsafeRawBufferPointer(start: part, count: length + 1))
            unsafe text = unsafe attributes?[index]
            index += 1
        }
        do throws(XMLFailure) {
            try reader.builder.begin(reader.tag, unsafe String(cString: name)) {
                var found: [String: String] = [:]
                var index = 0
                while let key = unsafe attributes?[index], let value = unsafe attributes?[index + 1] {
                    unsafe found[String(cString: key)] = unsafe String(cString: value)
                    index += 2
                }
                return found
            }
        } catch {
            reader.stop(error)
        }
    }

    private static let end: XML_EndElementHandler = { context, _ in
        guard let reader = unsafe of(context), reader.failure == nil else { return }
        reader.builder.end()
    }

    private static let text: XML_CharacterDataHandler = { context, text, count in
        guard let reader = unsafe of(context), reader.failure == nil, let text = unsafe text else { return }
        let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(count)).bindMemory(to: UInt8.self)
        do throws(XMLFailure) {
            unsafe try reader.builder.append(bytes.span)
        } catch {
            reader.stop(error)
        }
    }

    private static let documentType: XML_StartDoctypeDeclHandler = { context, _, _, _, _ in
        unsafe of(context)?.stop(.documentType)
    }
}
