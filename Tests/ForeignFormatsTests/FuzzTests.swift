import ByteStreams
import Cryptography
import Foundation
import ItemSources
import TestSupport
import Testing

@testable import ForeignFormats

/// Changes files at random, and reads what becomes of them by every format.
///
/// `make test` takes a few rounds, the same ones each time; `make fuzz` takes more, from `FUZZ_SEED` on.
@Suite("Files of other programs, changed at random")
struct FuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
    private static let rounds = environment["FUZZ_ROUNDS"].flatMap { Int($0) } ?? 40

    /// A file to start from.
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var password: String?
        /// How many times fewer rounds it gets, since each derives a key.
        var cost = 1

        var testDescription: String { name }

        init(_ name: String, fixture: String, password: String, cost: Int = 1) {
            self.name = name
            bytes = (try? ForeignReading.fixture(fixture)) ?? []
            self.password = password
            self.cost = cost
        }

        init(_ name: String, _ text: String) {
            self.name = name
            bytes = Array(text.utf8)
        }
    }

    static let samples = [
        Sample("keyring, version 0", fixture: "oo7/legacy.keyring", password: "test"),
        Sample("keyring, version 1", fixture: "oo7/default.keyring", password: "test", cost: 8),
        Sample("wallet", fixture: "oo7/blowfish_cbc_pbkdf2_sha512_manual.kwl", password: "password", cost: 8),
        Sample(
            "macOS keychain", fixture: "keychainbreaker/test.keychain-db", password: "keychainbreaker-test", cost: 2),
        Sample("KDBX 3.1", fixture: "KeePass/keepassxc-3.1.kdbx", password: "pw one", cost: 20),
        Sample(
            "keyring in plain text",
            """
            [keyring]
            display-name=plain
            ctime=1700000000
            mtime=1700000000
            lock-on-idle=false
            lock-after=false

            [1]
            item-type=0
            display-name=one
            secret=two
            lines
            mtime=1700000001
            ctime=1700000000

            [1:attribute0]
            name=user
            type=string
            value=ada

            """),
        Sample("netrc", "machine example.com login ada password \"p q\"\ndefault login a password b\nmacdef m\nx\n\n"),
        Sample("git credentials", "https://ada:p%40ss@example.com%3a8443/r.git\nhttp://b:c@d\n"),
        Sample("table", "name,url,username,password,note\n\"a, b\",https://example.com/x,ada,\"p\"\"w\",n\n"),
        Sample(
            "Bitwarden",
            #"{"encrypted":false,"folders":[{"id":"f","name":"F"}],"items":[{"id":"1","folderId":"f","type":1,"#
                + #""name":"n","notes":"x","favorite":true,"fields":[{"name":"a","value":"b","type":1}],"login":"#
                + #"{"uris":[{"uri":"https://example.com"}],"username":"u","password":"p","totp":"JBSWY3DP"}}]}"#),
        Sample(
            "CXF",
            #"{"version":{"major":1,"minor":0},"exporterRpId":"a","exporterDisplayName":"A","timestamp":1,"accounts":"#
                + #"[{"id":"YQ","username":"u","email":"e","collections":[],"items":[{"id":"Yg","title":"t","#
                + #""credentials":[{"type":"basic-auth","username":{"fieldType":"string","value":"u"},"password":"#
                + #"{"fieldType":"concealed-string","value":"p"}},{"type":"note","content":{"fieldType":"string","#
                + #""value":"n"}}]}]}]}"#),
        Sample(
            "items", #"{"class":"genp","attributes":{"svce":"a","acct":"b"},"extra":{"c":"d"},"secret":"e"}"# + "\n"),
    ]

    @Test("whatever a file becomes, it is read or refused, by each format", arguments: samples)
    func changed(sample: Sample) throws {
        try #require(!sample.bytes.isEmpty)
        let original = try KnownFormats.recognise(ForeignReading.input(sample.bytes))
        var random = SeededRandom(seed: Self.seed)
        for round in 0..<max(1, Self.rounds / sample.cost) {
            let bytes = Self.changed(sample.bytes, &random)
            var formats = [original]
            do {
                formats.append(try KnownFormats.recognise(ForeignReading.input(bytes)))
            } catch is ForeignFailure {}
            for format in formats {
                do {
                    _ = try ForeignReading.read(bytes, as: format, password: sample.password).listing
                } catch is ForeignFailure {
                } catch is ItemLines.Failure {
                } catch is CryptographyFailure {
                } catch is GivenSecrets.Unexpected {
                } catch {
                    Issue.record("round \(round) of seed \(Self.seed), as \(format.name): \(error)")
                }
            }
        }
    }

    /// One to five changes: a byte, a bit, a number at a limit, a piece removed, doubled, or put elsewhere.
    private static func changed(_ original: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = original
        for _ in 0...Int.random(in: 0..<5, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, index + Int.random(in: 1...16, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2:
                let number =
                    [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff].randomElement(using: &random) ?? 0
                for place in index..<min(bytes.count, index + 4) {
                    bytes[place] = UInt8(truncatingIfNeeded: number >> (8 * (place - index)))
                }
            case 3: bytes.removeSubrange(index..<end)
            case 4: bytes.insert(contentsOf: bytes[index..<end], at: index)
            case 5: bytes.removeSubrange(index...)
            default:
                let piece = Array(bytes[index..<end])
                bytes.removeSubrange(index..<end)
                bytes.insert(contentsOf: piece, at: Int.random(in: 0...bytes.count, using: &random))
            }
        }
        return bytes
    }
}
