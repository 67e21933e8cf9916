internal import KCByteStreams
internal import CKCExpat

/// Runs expat over bytes in memory; entities cannot be declared, since parsing ends at a document type declaration.
enum XMLParser {
    // The number of bytes passed to expat at a time; its counts have C's type int.
    private static let pieceSize = 1 << 20

    /// The state that the callbacks of one parser share.
    @safe private final class Run {
        let builder: XMLDocument.Builder
        let parser: OpaquePointer
        var failure: XMLFailure?

        init(_ builder: XMLDocument.Builder, _ parser: OpaquePointer) {
            self.builder = builder
            unsafe self.parser = unsafe parser
        }

        func stop(_ failure: XMLFailure) {
            if self.failure == nil { self.failure = failure }
            unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
        }

        static func of(_ context: UnsafeMutableRawPointer?) -> Run? {
            unsafe context.map { unsafe Unmanaged<Run>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// Parses `bytes` and reports elements and text to `builder`.
    static func parse(_ bytes: borrowing Span<UInt8>, _ builder: XMLDocument.Builder) throws(XMLFailure) {
        guard let parser = unsafe kcb_xml_new() else { throw .library }
        defer { unsafe XML_ParserFree(parser) }
        let run = unsafe Run(builder, parser)
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(run).toOpaque())
        unsafe XML_SetElementHandler(parser, begin, end)
        unsafe XML_SetCharacterDataHandler(parser, text)
        unsafe XML_SetStartDoctypeDeclHandler(parser, documentType)
        // The parser holds only the address of the run.
        try withExtendedLifetime(run) { () throws(XMLFailure) in
            var offset = 0
            repeat {
                let end = min(bytes.count, offset + pieceSize)
                let isLast: Int32 = end == bytes.count ? 1 : 0
                let status = unsafe bytes.extracting(offset..<end).withUnsafeBufferPointer { piece in
                    unsafe piece.withMemoryRebound(to: CChar.self) { text in
                        unsafe XML_Parse(parser, text.baseAddress, Int32(text.count), isLast)
                    }
                }
                if let failure = run.failure { throw failure }
                guard status == XML_STATUS_OK else {
                    if unsafe XML_GetErrorCode(parser) == XML_ERROR_NO_MEMORY { throw .library }
                    throw unsafe .malformed(line: Int(XML_GetCurrentLineNumber(parser)))
                }
                offset = end
            } while offset < bytes.count
        }
    }

    private static let begin: XML_StartElementHandler = { context, name, attributes in
        guard let run = unsafe Run.of(context), run.failure == nil, let name = unsafe name else { return }
        var size = unsafe strlen(name)
        var found: [String: String] = [:]
        var index = 0
        while let key = unsafe attributes?[index], let value = unsafe attributes?[index + 1] {
            size += unsafe strlen(key) + strlen(value)
            guard size <= XMLDocument.tagLimit else { break }
            unsafe found[String(cString: key)] = unsafe String(cString: value)
            index += 2
        }
        guard size <= XMLDocument.tagLimit else {
            return run.stop(.limit("bytes of a tag", allowed: XMLDocument.tagLimit))
        }
        do throws(XMLFailure) {
            unsafe try run.builder.begin(String(cString: name), found)
        } catch {
            run.stop(error)
        }
    }

    private static let end: XML_EndElementHandler = { context, _ in
        guard let run = unsafe Run.of(context), run.failure == nil else { return }
        run.builder.end()
    }

    private static let text: XML_CharacterDataHandler = { context, text, count in
        guard let run = unsafe Run.of(context), run.failure == nil, let text = unsafe text else { return }
        let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(count)).bindMemory(to: UInt8.self)
        unsafe run.builder.append(bytes.span)
    }

    private static let documentType: XML_StartDoctypeDeclHandler = { context, _, _, _, _ in
        unsafe Run.of(context)?.stop(.documentType)
    }
}
