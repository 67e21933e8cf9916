import Testing

@testable import KCCryptography

@Suite struct DistinguishedNameTests {
    private static let country: [UInt8] = [0x55, 0x04, 0x06]

    private func name(_ attributes: [([UInt8], UInt8, [UInt8])]) throws -> DistinguishedName {
        let names = attributes.map { type, tag, value in
            DER.element(
                DERTag.set,
                DER.element(
                    DERTag.sequence, DER.element(DERTag.objectIdentifier, type) + DER.element(tag, value)))
        }
        return try DistinguishedName(der: DER.element(DERTag.sequence, names.flatMap(\.self)))
    }

    private func name(_ attributes: [([UInt8], UInt8, String)]) throws -> DistinguishedName {
        try name(attributes.map { ($0, $1, Array($2.utf8)) })
    }

    @Test(
        "A PrintableString is normalized to upper case and single spaces",
        arguments: [
            ("Acme", "ACME"), ("Marianne Swanson", "MARIANNE SWANSON"), ("  a  b\t c ", "A B C"), ("", ""), ("   ", ""),
            ("ÄÖ ü", "ÄÖ ü"), (String(repeating: " ", count: 200) + "x", "X"),
            (String(repeating: "x  ", count: 100), String(repeating: "X ", count: 99) + "X"),
        ])
    func normalized(text: String, expected: String) throws {
        let before = try name([
            (DistinguishedName.organization, DERTag.printableString, text),
            (DistinguishedName.commonName, DERTag.utf8String, "kept  As it Is "),
        ])
        let after = try name([
            (DistinguishedName.organization, DERTag.printableString, expected),
            (DistinguishedName.commonName, DERTag.utf8String, "kept  As it Is "),
        ])
        let header = DER.header(DERTag.sequence, count: after.normalized.count)
        #expect(header + before.normalized == after.der)
        #expect(after.normalized == before.normalized)
    }

    @Test(
        "A summary consists of the most specific values, last one first",
        arguments: [
            (["CN=a", "O=b", "OU=c"], "a"), (["O=b", "OU=c"], "c"), (["C=CH", "O=b"], "b"), (["C=CH"], "CH"),
            (["C=CH", "E=a@b.c"], "a@b.c, CH"), (["CN=a", "CN=b", "O=c"], "b, a"), (["CN=a", "D=d"], "a (d)"),
            (["CN=a", "D=d", "D=e"], "a (e, d)"), (["O=b", "D=d"], "b"), (["D=d"], "d"), (["OU=", "O=b"], "b"),
        ])
    func summary(parts: [String], expected: String) throws {
        let types = [
            "CN": DistinguishedName.commonName, "O": DistinguishedName.organization,
            "OU": DistinguishedName.organizationalUnit, "D": DistinguishedName.descriptionType,
            "E": DistinguishedName.emailAddress, "C": Self.country,
        ]
        let attributes = try parts.map { part in
            let equals = try #require(part.firstIndex(of: "="))
            return (
                try #require(types[String(part[..<equals])]), DERTag.utf8String,
                String(part[part.index(after: equals)...])
            )
        }
        #expect(try name(attributes).summary == expected)
    }

    @Test("Every string type is read, and invalid strings are ignored")
    func texts() throws {
        let cases: [(UInt8, [UInt8], String?)] = [
            (DERTag.utf8String, Array("Bücher".utf8), "Bücher"), (DERTag.utf8String, [0xff], nil),
            (DERTag.printableString, Array("plain".utf8), "plain"), (DERTag.printableString, [0xe4], nil),
            (DERTag.ia5String, Array("a@b".utf8) + [0], "a@b"), (DERTag.teletexString, [0x42, 0xfc], "Bü"),
            (DERTag.bmpString, [0x00, 0x42, 0x00, 0xfc], "Bü"), (DERTag.bmpString, [0xd8, 0x3d, 0xde, 0x00], "😀"),
            (DERTag.bmpString, [0xd8, 0x3d], nil), (DERTag.bmpString, [0x00, 0x42, 0x00], nil),
            (DERTag.universalString, [0, 1, 0xf6, 0], "😀"), (DERTag.universalString, [0, 0x11, 0, 0], nil),
            (DERTag.universalString, [0xff, 0xff, 0xff, 0xff], nil), (DERTag.octetString, [0x41], nil),
            (DERTag.utf8String, [], nil), (DERTag.numericString, Array("007".utf8), "007"),
        ]
        for (tag, value, text) in cases {
            #expect(try name([(DistinguishedName.commonName, tag, value)]).summary == text, "\(tag) \(value)")
        }
    }

    @Test("A malformed name is refused")
    func malformed() throws {
        let good = try name([(DistinguishedName.commonName, DERTag.utf8String, "a")]).der
        for length in good.indices {
            #expect(throws: CertificateFailure.self) { try DistinguishedName(der: Array(good[..<length])) }
        }
        let bad: [[UInt8]] = [
            good + [0], DER.element(DERTag.set, []), DER.element(DERTag.sequence, [DERTag.set, 0]),
            DER.element(DERTag.sequence, DER.element(DERTag.sequence, [])),
            DER.element(DERTag.sequence, DER.element(DERTag.set, DER.element(DERTag.set, []))),
            [DERTag.sequence, 0x81, 0], [DERTag.sequence, 0x80, 0, 0], [DERTag.sequence, 0x84, 0xff, 0xff, 0xff, 0xff],
        ]
        for der in bad { #expect(throws: CertificateFailure.self) { try DistinguishedName(der: der) } }
    }
}
