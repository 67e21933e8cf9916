package import KCByteStreams

/// The canonical metadata line of an item (docs/format.md, "Metadata lines"), without its line feed.
///
/// The same bytes are the associated data of the item's secret in the keychain file, so changing an attribute without
/// the key breaks the seal.
package enum ItemLine {
    /// Appends the line of `item`.
    package static func encode(_ item: Item, into line: inout some ByteBuffer & ~Copyable) {
        CanonicalJSON.literal("{\"class\":\"", into: &line)
        CanonicalJSON.literal(item.itemClass.rawValue, into: &line)
        CanonicalJSON.literal("\",\"uuid\":\"", into: &line)
        line.append(upTo: ItemUUID.spellingLength) { output in item.uuid.spell(into: &output) }
        CanonicalJSON.literal("\",\"travels\":\"", into: &line)
        CanonicalJSON.literal(Travel(item.accessibility).rawValue, into: &line)
        line.append(UInt8(ascii: "\""))
        if let size = item.secretSize {
            CanonicalJSON.literal(",\"size\":", into: &line)
            CanonicalJSON.integer(Int64(size), into: &line)
        }
        CanonicalJSON.literal(",\"attributes\":{", into: &line)
        var isFirst = true
        for entry in item.attributes.entries {
            if !isFirst { line.append(UInt8(ascii: ",")) }
            isFirst = false
            line.append(entry.code.lineKey.span)
            encode(entry.value, into: &line)
        }
        line.append(UInt8(ascii: "}"))
        encode(item.extra, into: &line)
        line.append(UInt8(ascii: "}"))
    }

    /// Parses a line and checks that it is canonical and a valid item.
    ///
    /// - Throws: `MalformedLine`; an `ItemProblem` is reported as the rule that it breaks.
    package static func decode(_ bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Item {
        var scanner = CanonicalScanner()
        try scanner.literal("{\"class\":\"", in: bytes)
        guard let itemClass = ItemClass.allCases.first(where: { scanner.skip($0.rawValue, in: bytes) }) else {
            throw MalformedLine("the class is unknown", at: scanner.position)
        }
        try scanner.literal("\",\"uuid\":\"", in: bytes)
        let spelling = try scanner.take(ItemUUID.spellingLength, in: bytes)
        guard let uuid = ItemUUID(parsing: bytes.extracting(spelling)) else {
            throw MalformedLine("the UUID is not canonical", at: spelling.lowerBound)
        }
        try scanner.literal("\",\"travels\":\"", in: bytes)
        guard let travel = Travel.allCases.first(where: { scanner.skip($0.rawValue, in: bytes) }) else {
            throw MalformedLine("the verdict class is unknown", at: scanner.position)
        }
        try scanner.literal("\"", in: bytes)
        let size: Int64? = scanner.skip(",\"size\":", in: bytes) ? try scanner.integer(in: bytes) : nil
        guard (size ?? 0) >= 0 else { throw MalformedLine("the size is negative", at: scanner.position) }
        try scanner.literal(",\"attributes\":{", in: bytes)
        let attributes = try attributes(&scanner, in: bytes)
        let extra = try extra(&scanner, in: bytes)
        try scanner.literal("}", in: bytes)
        try scanner.end(in: bytes)
        do {
            let item = try Item(
                itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: size.map { Int($0) }
            )
            guard Travel(item.accessibility) == travel else {
                throw MalformedLine("the verdict class does not fit the accessibility", at: 0)
            }
            return item
        } catch let problem as ItemProblem {
            throw MalformedLine(problem.rule, at: 0)
        } catch let malformed as MalformedLine {
            throw malformed
        } catch {
            throw MalformedLine("the line does not make an item", at: 0)
        }
    }

    private static func encode(_ value: AttributeValue, into line: inout some ByteBuffer & ~Copyable) {
        switch value {
        case .text(let text): CanonicalJSON.string(text, into: &line)
        case .number(let number): CanonicalJSON.integer(number, into: &line)
        case .date(let date):
            line.append(upTo: Timestamp.spellingLength + 2) { output in
                output.append(UInt8(ascii: "\""))
                date.spell(into: &output)
                output.append(UInt8(ascii: "\""))
            }
        case .data(let bytes):
            CanonicalJSON.literal("{\"base64\":\"", into: &line)
            Base64.encode(bytes.span, into: &line)
            CanonicalJSON.literal("\"}", into: &line)
        }
    }

    private static func encode(_ extra: [ExtraAttribute], into line: inout some ByteBuffer & ~Copyable) {
        if extra.isEmpty { return }
        CanonicalJSON.literal(",\"extra\":{", into: &line)
        for (index, attribute) in extra.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            CanonicalJSON.string(attribute.name, into: &line)
            line.append(UInt8(ascii: ":"))
            CanonicalJSON.string(attribute.value, into: &line)
        }
        line.append(UInt8(ascii: "}"))
    }

    private static func attributes(
        _ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> Attributes {
        var attributes = Attributes(capacity: 12)
        while true {
            try scanner.literal(byte: UInt8(ascii: "\""), in: bytes)
            let name = try scanner.take(4, in: bytes)
            let start = name.lowerBound
            guard
                let code = AttributeCode(
                    code: (bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]))
            else { throw MalformedLine("the attribute is unknown", at: start) }
            guard attributes.entries.last.map({ $0.code < code }) ?? true else {
                throw MalformedLine("the attributes are not in order", at: start)
            }
            try scanner.literal(byte: UInt8(ascii: "\""), in: bytes)
            try scanner.literal(byte: UInt8(ascii: ":"), in: bytes)
            do {
                attributes.append(code, try value(of: code, &scanner, in: bytes))
            } catch {
                throw MalformedLine("attribute '\(code.code)': \(error.rule)", at: error.position)
            }
            if scanner.skip(byte: UInt8(ascii: "}"), in: bytes) { return attributes }
            try scanner.literal(byte: UInt8(ascii: ","), in: bytes)
        }
    }

    private static func value(
        of code: AttributeCode, _ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> AttributeValue {
        let start = scanner.position
        switch code.kind {
        case .number: return .number(try scanner.integer(in: bytes))
        case .date:
            let spelling = try scanner.take(Timestamp.spellingLength + 2, in: bytes)
            let inner = spelling.lowerBound + 1..<spelling.upperBound - 1
            guard bytes[spelling.lowerBound] == UInt8(ascii: "\""), bytes[inner.upperBound] == UInt8(ascii: "\""),
                let date = Timestamp(parsing: bytes.extracting(inner))
            else { throw MalformedLine("the date is not canonical", at: start) }
            return .date(date)
        case .string, .textOrData, .dataOrText, .data:
            if scanner.skip(byte: UInt8(ascii: "{"), in: bytes) {
                try scanner.literal("\"base64\":", in: bytes)
                let data = try scanner.base64(in: bytes)
                try scanner.literal("}", in: bytes)
                return .data(data)
            }
            return .text(try scanner.string(in: bytes))
        }
    }

    private static func extra(
        _ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> [ExtraAttribute] {
        guard scanner.skip(",\"extra\":{", in: bytes) else { return [] }
        var extra: [ExtraAttribute] = []
        while true {
            guard extra.count < ItemLimits.extraCount else {
                throw MalformedLine("there are too many free attributes", at: scanner.position)
            }
            let name = try scanner.string(in: bytes)
            try scanner.literal(":", in: bytes)
            extra.append(ExtraAttribute(name: name, value: try scanner.string(in: bytes)))
            if scanner.skip(byte: UInt8(ascii: "}"), in: bytes) { return extra }
            try scanner.literal(byte: UInt8(ascii: ","), in: bytes)
        }
    }
}

extension ItemProblem {
    /// The broken rule, without foreign text.
    package var rule: String {
        switch self {
        case .unknownAttribute: "an attribute is unknown"
        case .notInClass(let code, let itemClass): "a \(itemClass.name) has no attribute '\(code.code)'"
        case .wrongKind(let code): "the attribute '\(code.code)' has the wrong kind of value"
        case .missing(let code): "the attribute '\(code.code)' is missing"
        case .unknownAccessibility: "the accessibility (pdmn) is unknown"
        case .unknownConstraint: "the access control (accc) is unknown"
        case .attributeTooLarge(let code):
            "the attribute '\(code.code)' has more than \(ItemLimits.attributeSize) bytes"
        case .attributesTooLarge: "the attributes have more than \(ItemLimits.attributesSize) bytes together"
        case .secretTooLarge: "the secret has more than \(ItemLimits.secretSize) bytes"
        case .tooManyExtra: "there are more than \(ItemLimits.extraCount) free attributes"
        case .extraTooLarge: "a free attribute has more than \(ItemLimits.attributeSize) bytes"
        case .extraOutOfOrder: "the free attributes repeat a name or are out of order"
        case .thisDeviceOnlySynchronizable:
            "a synchronizable item that is ThisDeviceOnly would not leave this device anyway"
        case .synchronizableAsks: "a synchronizable item cannot ask for a passcode, which other devices do not have"
        }
    }
}
