/// A distinguished name (X.501 `Name`): the subject or issuer of a certificate.
struct DistinguishedName: Hashable, Sendable {
    /// An attribute type and its value.
    struct Attribute: Hashable, Sendable {
        /// Content octets of the object identifier.
        let type: [UInt8]
        /// The identifier octet of the value.
        let tag: UInt8
        /// Content octets of the value.
        let value: [UInt8]
    }

    /// The complete SEQUENCE, as encoded in the certificate.
    let der: [UInt8]
    /// The attributes of each relative name, in order.
    let relativeNames: [[Attribute]]

    /// Parses the DER of a name.
    init(der: [UInt8]) throws(CertificateFailure) {
        let bytes = der.span
        var outer = DERReader(0..<bytes.count)
        let sequence = try outer.expect(DERTag.sequence, in: bytes)
        try outer.expectEnd()
        var names: [[Attribute]] = []
        var sets = DERReader(sequence.content)
        while let set = try sets.next(in: bytes) {
            guard set.tag == DERTag.set, !set.content.isEmpty else { throw .malformed("a name is not of sets") }
            var attributes: [Attribute] = []
            var pairs = DERReader(set.content)
            while let pair = try pairs.next(in: bytes) {
                guard pair.tag == DERTag.sequence else { throw .malformed("a name is not of pairs") }
                var reader = DERReader(pair.content)
                let type = try reader.expect(DERTag.objectIdentifier, in: bytes)
                guard !type.content.isEmpty, let value = try reader.next(in: bytes) else {
                    throw .malformed("a name is not of pairs")
                }
                try reader.expectEnd()
                attributes.append(
                    Attribute(type: Array(der[type.content]), tag: value.tag, value: Array(der[value.content])))
            }
            names.append(attributes)
        }
        self.der = der
        relativeNames = names
    }

    /// All attributes, in order.
    var attributes: [Attribute] { relativeNames.flatMap(\.self) }

    /// The content of the SEQUENCE as Apple's keychain compares it (`issr`, `subj`): each PrintableString in upper
    /// case, trimmed, with runs of blanks collapsed to one space; everything else unchanged.
    ///
    /// Source: RFC 3280, 4.1.2.4 (c) and (d), and `createNormalizedX501Name` in Apple's SecCertificate.c.
    var normalized: [UInt8] {
        relativeNames.flatMap { names in
            DER.element(
                DERTag.set,
                names.flatMap { name in
                    let value = name.tag == DERTag.printableString ? Self.normalized(name.value) : name.value
                    return DER.element(
                        DERTag.sequence,
                        DER.element(DERTag.objectIdentifier, name.type) + DER.element(name.tag, value))
                })
        }
    }

    private static func normalized(_ text: [UInt8]) -> [UInt8] {
        text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            .joined(separator: [UInt8(ascii: " ")])
            .map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 }
    }
}

extension DistinguishedName {
    static let commonName: [UInt8] = [0x55, 0x04, 0x03]
    static let organization: [UInt8] = [0x55, 0x04, 0x0a]
    static let organizationalUnit: [UInt8] = [0x55, 0x04, 0x0b]
    static let descriptionType: [UInt8] = [0x55, 0x04, 0x0d]
    /// emailAddress (PKCS #9).
    static let emailAddress: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x01]

    /// The texts of all attributes of one type, in order.
    func texts(of type: [UInt8]) -> [String] {
        attributes.filter { $0.type == type }.compactMap(\.text)
    }

    /// Apple's summary of a name; nil if nothing in it is text.
    ///
    /// The common names, else the organizational units, else the organizations, else every text; last one first,
    /// separated by commas. A description follows common names in parentheses. Source:
    /// `SecCertificateCopySubjectSummary`.
    var summary: String? {
        func joined(_ texts: [String]) -> String? { texts.isEmpty ? nil : texts.reversed().joined(separator: ", ") }
        let description = joined(texts(of: Self.descriptionType))
        if let names = joined(texts(of: Self.commonName)) { return description.map { "\(names) (\($0))" } ?? names }
        return joined(texts(of: Self.organizationalUnit)) ?? joined(texts(of: Self.organization))
            ?? joined(attributes.compactMap(\.text))
    }
}

extension DistinguishedName.Attribute {
    /// The value as text; nil if it is empty or not text.
    ///
    /// A trailing zero byte, which some issuers include, is dropped.
    var text: String? { Self.text(tag: tag, value[...]) }

    static func text(tag: UInt8, _ value: ArraySlice<UInt8>) -> String? {
        let value =
            value.last == 0 && tag != DERTag.bmpString && tag != DERTag.universalString ? value.dropLast() : value
        guard !value.isEmpty else { return nil }
        switch tag {
        case DERTag.printableString, DERTag.ia5String, DERTag.numericString:
            return value.allSatisfy { $0 < 0x80 } ? String(decoding: value, as: UTF8.self) : nil
        case DERTag.utf8String, DERTag.generalString: return String(validating: value, as: UTF8.self)
        case DERTag.teletexString, DERTag.videotexString, DERTag.visibleString:
            var text = ""
            for byte in value { text.unicodeScalars.append(Unicode.Scalar(byte)) }
            return text
        case DERTag.bmpString: return units(of: value, size: 2).flatMap { String(validating: $0, as: UTF16.self) }
        case DERTag.universalString: return units(of: value, size: 4).flatMap { String(validating: $0, as: UTF32.self) }
        default: return nil
        }
    }

    /// Big-endian units of `size` bytes; nil if the last one is incomplete or one does not fit.
    private static func units<Unit: FixedWidthInteger>(of bytes: ArraySlice<UInt8>, size: Int) -> [Unit]? {
        guard bytes.count % size == 0 else { return nil }
        var units: [Unit] = []
        var unit: UInt32 = 0
        for (index, byte) in bytes.enumerated() {
            unit = unit << 8 | UInt32(byte)
            if index % size == size - 1 {
                units.append(Unit(truncatingIfNeeded: unit))
                unit = 0
            }
        }
        return units
    }
}
