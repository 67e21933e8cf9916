package import KCByteStreams

/// The canonical metadata line of an item (docs/format.md, "Metadata lines"), without its line feed.
///
/// The same bytes are the associated data of the item's secret in the keychain file, so changing an attribute without
/// the key breaks the seal.
package enum ItemLine {
    /// Appends the line of `item`.
    package static func encode(_ item: Item, into line: inout SecretBytes) {
        let start = classStarts[item.itemClass.position]
        line.append(start.span)
        line.append(upTo: ItemUUID.spellingLength) { output in item.uuid.spell(into: &output) }
        let travel = travels[Travel(item.sealingAccessibility).position]
        line.append(travel.span)
        if let size = item.secretSize {
            line.append(sizeKey.span)
            line.append(decimal: size)
        }
        line.append(attributesKey.span)
        item.attributes.withMembers { line.append($0) }
        line.append(UInt8(ascii: "}"))
        encode(item.extra, into: &line)
        line.append(UInt8(ascii: "}"))
    }

    // The parts that are the same in many lines.
    private static let classStarts = ItemClass.allCases.map { Array("{\"class\":\"\($0.rawValue)\",\"uuid\":\"".utf8) }
    private static let travels = Travel.allCases.map { Array("\",\"travels\":\"\($0.rawValue)\"".utf8) }
    private static let sizeKey = Array(",\"size\":".utf8)
    private static let attributesKey = Array(",\"attributes\":{".utf8)

    /// Parses a line and checks that it is canonical and a valid item.
    ///
    /// - Throws: `MalformedLine`; an `ItemProblem` is reported as the rule that it breaks.
    package static func decode(_ bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Item {
        var scanner = CanonicalScanner()
        guard let itemClass = ItemClass.allCases.first(where: { skip(classStarts[$0.position], &scanner, in: bytes) })
        else {
            try scanner.literal("{\"class\":\"", in: bytes)
            throw MalformedLine("the class is unknown", at: scanner.position)
        }
        let spelling = try scanner.take(ItemUUID.spellingLength, in: bytes)
        guard let uuid = ItemUUID(parsing: bytes.extracting(spelling)) else {
            throw MalformedLine("the UUID is not canonical", at: spelling.lowerBound)
        }
        guard let travel = Travel.allCases.first(where: { skip(travels[$0.position], &scanner, in: bytes) }) else {
            throw MalformedLine("the verdict class is unknown", at: scanner.position)
        }
        let size: Int64? = skip(sizeKey, &scanner, in: bytes) ? try scanner.integer(in: bytes) : nil
        guard (size ?? 0) >= 0 else { throw MalformedLine("the size is negative", at: scanner.position) }
        guard skip(attributesKey, &scanner, in: bytes) else {
            throw MalformedLine("the attributes are missing", at: scanner.position)
        }
        let attributes = try Attributes(&scanner, in: bytes)
        let extra = try extra(&scanner, in: bytes)
        try scanner.literal(byte: UInt8(ascii: "}"), in: bytes)
        try scanner.end(in: bytes)
        let item: Item
        do throws(ItemProblem) {
            item = try Item(
                itemClass: itemClass, uuid: uuid, attributes: attributes, extra: extra, secretSize: size.map { Int($0) }
            )
        } catch {
            throw MalformedLine(error.rule, at: 0)
        }
        guard Travel(item.sealingAccessibility) == travel else {
            throw MalformedLine("the verdict class does not fit the accessibility", at: 0)
        }
        return item
    }

    private static func skip(
        _ expected: [UInt8], _ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>
    ) -> Bool {
        scanner.skip(expected.span, in: bytes)
    }

    private static func encode(_ extra: [ExtraAttribute], into line: inout SecretBytes) {
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

extension Attributes {
    /// Reads the members of an object, whose opening brace was read, and its closing brace.
    fileprivate init(_ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        let start = scanner.position
        var index = AttributeIndex()
        repeat {
            // A quote, the code, a quote and a colon.
            let name = try scanner.take(7, in: bytes)
            let first = name.lowerBound + 1
            guard bytes[name.lowerBound] == UInt8(ascii: "\""), bytes[first + 4] == UInt8(ascii: "\""),
                bytes[first + 5] == UInt8(ascii: ":"),
                let code = AttributeCode(
                    code: (bytes[first], bytes[first + 1], bytes[first + 2], bytes[first + 3]))
            else { throw MalformedLine("the attribute is unknown", at: first) }
            let offset = scanner.position - start
            let form: AttributeForm
            do {
                form = try scanner.attributeForm(of: code, in: bytes)
            } catch {
                throw MalformedLine("attribute '\(code.code)': \(error.rule)", at: error.position)
            }
            guard index.append(code, form, at: offset) else {
                throw MalformedLine("the attributes are not in order", at: first)
            }
        } while scanner.skip(byte: UInt8(ascii: ","), in: bytes)
        let end = scanner.position
        try scanner.literal(byte: UInt8(ascii: "}"), in: bytes)
        self.init(bytes.extracting(start..<end), index)
    }
}

extension CanonicalScanner {
    /// Checks the value of an attribute, and returns its form.
    fileprivate mutating func attributeForm(
        of code: AttributeCode, in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> AttributeForm {
        switch code.kind {
        case .number:
            _ = try integer(in: bytes)
            return .number
        case .date:
            _ = try date(in: bytes)
            return .date
        case .string, .textOrData, .dataOrText, .data:
            if position < bytes.count, bytes[position] == UInt8(ascii: "{") {
                _ = try attributeData(in: bytes)
                return .data
            }
            return try quotedText(in: bytes).isEscaped ? .escapedText : .text
        }
    }

    /// Reads a date in quotes.
    mutating func date(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Timestamp {
        let start = position
        let spelling = try take(Timestamp.spellingLength + 2, in: bytes)
        let inner = spelling.lowerBound + 1..<spelling.upperBound - 1
        guard bytes[spelling.lowerBound] == UInt8(ascii: "\""), bytes[inner.upperBound] == UInt8(ascii: "\""),
            let date = Timestamp(parsing: bytes.extracting(inner))
        else { throw MalformedLine("the date is not canonical", at: start) }
        return date
    }

    /// Reads an object with bytes in base64.
    mutating func attributeData(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> [UInt8] {
        try literal("{\"base64\":", in: bytes)
        let data = try base64(in: bytes)
        try literal(byte: UInt8(ascii: "}"), in: bytes)
        return data
    }
}
