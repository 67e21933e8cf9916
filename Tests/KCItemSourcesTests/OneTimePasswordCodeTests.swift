import KCByteStreams
import KCCryptography
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCItemSources

@Suite("Codes of one-time passwords")
struct OneTimePasswordCodeTests {
    /// The seeds of RFC 6238, appendix B, which are longer for longer hashes.
    private static let seeds = [
        "SHA1": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
        "SHA256": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA",
        "SHA512":
            "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA",
    ]

    private func code(_ address: String, at seconds: Int64) throws -> String {
        let time = try #require(Timestamp(microseconds: seconds * 1_000_000 + 999_999))
        let code = try OneTimePasswordCode(of: SecretBytes(copying: address.utf8), at: time)
        return String(decoding: code.text.bytesForTest(), as: UTF8.self) + " \(code.secondsLeft)"
    }

    @Test("The vectors of RFC 6238, appendix B")
    func time() throws {
        let vectors: [(Int64, String, String, String)] = [
            (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
            (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
            (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
        ]
        for (seconds, sha1, sha256, sha512) in vectors {
            for (name, expected) in [("SHA1", sha1), ("SHA256", sha256), ("SHA512", sha512)] {
                let seed = try #require(Self.seeds[name])
                let address = "otpauth://totp/Forum:ada?secret=\(seed)&algorithm=\(name)&digits=8"
                #expect(try code(address, at: seconds) == "\(expected) \(30 - seconds % 30)", "\(name) at \(seconds)")
            }
        }
    }

    @Test("The vectors of RFC 4226, appendix D")
    func counter() throws {
        let codes = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        let parameters = try #require(OneTimePasswordParameters(.counter(0)))
        for (factor, expected) in codes.enumerated() {
            let code = try OneTimePasswordCode.code(
                SecretBytes(copying: "12345678901234567890".utf8), UInt64(factor), parameters)
            #expect(code.bytesForTest() == Array(expected.utf8))
        }
    }

    @Test("Steam's codes are five of its letters and digits, in both forms of its address")
    func steam() throws {
        let seed = "secret=" + (Self.seeds["SHA1"] ?? "")
        // The number of RFC 4226's code for the factor 1 is 1094287082, and 1094287082 % 26 is 4.
        for address in ["otpauth://steam/Steam:ada?\(seed)&digits=6", "otpauth://totp/Steam:ada?\(seed)&encoder=steam"]
        {
            #expect(try code(address, at: 59) == Self.steam(1_094_287_082) + " 1")
        }
    }

    /// Five digits of the number in base 26, the lowest first.
    private static func steam(_ number: Int) -> String {
        let digits = Array("23456789BCDFGHJKMNPQRTVWXY")
        var (rest, text) = (number, "")
        for _ in 0..<5 {
            text.append(digits[rest % 26])
            rest /= 26
        }
        return text
    }

    @Test("A code is valid from the first second of its period to the last, also before 1970")
    func periods() throws {
        let address = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=45"
        #expect(try code(address, at: 0).hasSuffix(" 45"))
        #expect(try code(address, at: 44).hasSuffix(" 1"))
        #expect(try code(address, at: -1).hasSuffix(" 1"))
        #expect(try code(address, at: -46).hasSuffix(" 1"))
        #expect(try code(address, at: 0).prefix(6) == code(address, at: 44).prefix(6))
        #expect(try code(address, at: 44).prefix(6) != code(address, at: 45).prefix(6))
    }

    @Test("What has no code says why")
    func problems() {
        let seed = "secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        let cases: [(String, OneTimePasswordCode.Problem)] = [
            ("JBSWY3DPEHPK3PXP", .notAnAddress), ("otpauth://yaotp/x?\(seed)", .notAnAddress),
            ("otpauth://totp/x", .notAnAddress), ("otpauth://totp/x?\(seed)&secret=MZXQ", .notAnAddress),
            ("otpauth://totp/x?\(seed)&period=0", .notAnAddress), ("otpauth://totp/x?\(seed)&digits=11", .notAnAddress),
            ("otpauth://totp/x?\(seed)&period=99999999999999999999", .notAnAddress),
            ("otpauth://totp/x?\(seed)&encoder=other", .notAnAddress), ("otpauth://totp/x?secret=0189", .notAnAddress),
            ("otpauth://hotp/x?\(seed)&counter=1", .counter), ("otpauth://totp/x?\(seed)&algorithm=MD5", .algorithm),
            ("otpauth://totp/x?secret=ABC", .seed), ("otpauth://totp/x?secret==", .seed),
        ]
        for (address, problem) in cases {
            #expect(throws: problem, "\(address)") { try code(address, at: 0) }
        }
    }

    @Test(
        "oathtool gives the same codes", .waitsForPrograms,
        .enabled(if: ExternalProgram.locate("oathtool") != nil, "oathtool is needed"))
    func oathtool() throws {
        var random = SeededRandom(seed: 7)
        for round in 0..<30 {
            let seed = (0..<Int.random(in: 10...64, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let text = String(decoding: Base32.encode(seed.span).bytesForTest(), as: UTF8.self)
            let name = ["SHA1", "SHA256", "SHA512"][round % 3]
            let (digits, period) = (6 + round % 3, [30, 60, 7, 45][round % 4])
            let seconds = Int64.random(in: 0...4_000_000_000, using: &random)
            let outcome = try ExternalProgram.run(
                "oathtool",
                [
                    "--totp=\(name)", "--base32", "--digits=\(digits)", "--time-step-size=\(period)s",
                    "--now=@\(seconds)",
                    text,
                ])
            #expect(outcome.status == 0, "\(outcome.errorText)")
            let address = "otpauth://totp/x?secret=\(text)&algorithm=\(name)&digits=\(digits)&period=\(period)"
            #expect(
                try code(address, at: seconds).hasPrefix(outcome.text.prefix(digits) + " "), "\(address) at \(seconds)")
        }
    }
}

@Suite("Addresses of one-time passwords")
struct OneTimePasswordAddressTests {
    private func made(
        _ seed: String, issuer: String = "Forum", user: String? = "ada", _ parameters: OneTimePasswordParameters?
    ) throws -> String? {
        try OneTimePasswordAddress.make(
            ofSeed: SecretBytes(copying: seed.utf8), issuer: issuer, user: user, #require(parameters))?.utf8Text
    }

    @Test("Parameters with the usual values are left out, and all others come back")
    func parameters() throws {
        let seed = "GEZDGNBVGY3TQOJQ"
        #expect(
            try made("gezd gnbv-gy3tqojq==", OneTimePasswordParameters(.time(period: 30)))
                == "otpauth://totp/Forum:ada?secret=\(seed)&issuer=Forum")
        let all: [OneTimePasswordParameters?] = [
            OneTimePasswordParameters(.time(period: 60), algorithm: .sha256, digits: 8),
            OneTimePasswordParameters(.counter(.max), algorithm: .sha512),
            OneTimePasswordParameters(.steam(period: 30)),
            OneTimePasswordParameters(.time(period: 86_400), algorithm: .md5, digits: 10),
        ]
        for parameters in all {
            let address = try #require(try made(seed, issuer: "A & B: ü", user: "ada@example.com", parameters))
            let found = OneTimePasswordParts(SecretBytes(copying: address.utf8))
            let parts = try #require(found, "\(address)")
            #expect(parts.parameters == parameters)
            #expect(parts.issuer == "A & B: ü")
        }
        #expect(OneTimePasswordParameters(.time(period: 0)) == nil)
        #expect(OneTimePasswordParameters(.steam(period: 86_401)) == nil)
        #expect(OneTimePasswordParameters(.counter(0), digits: 0) == nil)
        #expect(try made("JBSW0", OneTimePasswordParameters(.time(period: 30))) == nil)
        #expect(try made("", OneTimePasswordParameters(.time(period: 30))) == nil)
        #expect(
            try made(seed, issuer: "", OneTimePasswordParameters(.time(period: 30)))
                == "otpauth://totp/ada?secret=\(seed)")
    }

    @Test("Forms of addresses that other programs write are understood")
    func forms() throws {
        let cases: [(String, issuer: String?, user: String?, seed: String)] = [
            ("otpauth://totp/Air%20Canada:ada?secret=MZXQ&issuer=Air+Canada", "Air Canada", "ada", "MZXQ"),
            ("otpauth://TOTP/Forum%3Aada?secret=MZXQ%3D%3d%3D%3D&ISSUER=Forum", "Forum", "ada", "MZXQ"),
            ("otpauth://totp/ada@example.com?secret=mzxq====", nil, "ada@example.com", "mzxq===="),
            ("otpauth://totp/Forum:%20ada+x?secret=MZXQ&image=https%3A%2F%2Fa.example", "Forum", "ada+x", "MZXQ"),
            ("otpauth://totp/?secret=MZXQ", nil, nil, "MZXQ"),
        ]
        for (address, issuer, user, seed) in cases {
            let bytes = Array(address.utf8)
            let found = OneTimePasswordParts(bytes.span)
            let parts = try #require(found, "\(address)")
            #expect(parts.issuer == issuer && parts.userName == user, "\(address): \(parts)")
            #expect(String(decoding: bytes[parts.seed], as: UTF8.self) == seed)
        }
    }
}
