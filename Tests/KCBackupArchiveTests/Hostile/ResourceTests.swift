import Foundation
import KCAgeEncryption
import KCArchiveForgery
import KCBackupArchive
import KCByteStreams
import KCGzipStreams
import KCKeychainModel
import KCTestSupport
import Testing

/// A gzip stream of a few megabytes that expands to `start` followed by a gigabyte of one letter.
private func gigabyte(after start: [UInt8]) -> [UInt8] {
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
    guard var encoder = try? GzipEncoder(to: MemorySink(), level: 9), (try? encoder.write(piece.span)) != nil,
        let member = try? encoder.finish()
    else { return [] }
    return storedGzip(start) + Array([[UInt8]](repeating: member, count: 1 << 10).joined())
}

/// The text of an age header with `stanzas` and an invalid MAC.
private func ageHeader(_ stanzas: [String]) -> [UInt8] {
    let body = String(repeating: "A", count: 43)
    let text = stanzas.map { "-> \($0)\n\(body)\n" }.joined()
    return Array("age-encryption.org/v1\n\(text)--- \(body)\n".utf8) + [UInt8](repeating: 0, count: 64)
}

private let bombCases = join([
    HostileCase.both("a metadata line of a gigabyte", .limit("length of line 2 of the metadata")) {
        let start = Forgery.text([$0.metadata[0]])
        $0.compressMetadata = { _ in gigabyte(after: start) }
    },
    HostileCase.both("a secrets line of a gigabyte", .limit("length of line 2 of the secrets")) {
        let start = Forgery.text([$0.secrets[0]])
        $0.compressSecrets = { _ in gigabyte(after: start) }
    },
    HostileCase.both("a gigabyte behind the last metadata line", .damaged("follows the last line")) {
        $0.compressMetadata = { gigabyte(after: $0) }
    },
    HostileCase.both("a gigabyte behind the last secrets line", .damaged("follows the last line")) {
        $0.compressSecrets = { gigabyte(after: $0) }
    },
    HostileCase.both("gzip with a file name", .damaged("a member")) {
        $0.compressMetadata = { storedGzip($0, name: "metadata.jsonl") }
    },
    HostileCase.both("gzip with rubbish behind it", .damaged("a member")) {
        $0.compressSecrets = { storedGzip($0) + [UInt8](repeating: 0, count: 16) }
    },
    HostileCase.both("gzip that ends early", .damaged("ends early")) {
        $0.compressSecrets = { storedGzip($0).dropLast(3) }
    },
    HostileCase.both("gzip with a wrong checksum", .damaged("CRC-32")) {
        $0.compressSecrets = {
            var member = storedGzip($0)
            member[member.count - 8] ^= 1
            return member
        }
    },
    HostileCase.both("a stream that is no gzip", .damaged("a member")) { $0.compressMetadata = { $0 } },
    HostileCase.both("an empty stream", .damaged("ends early")) { $0.compressMetadata = { _ in [] } },
    [
        HostileCase("10,000 recipients", .limit("recipients")) {
            $0.arrange = { entries in
                let share = String(repeating: "A", count: 43)
                entries[2].bytes = ageHeader([String](repeating: "X25519 \(share)", count: 10_000))
            }
        },
        HostileCase("a megabyte of one recipient", .limit("header bytes")) {
            $0.arrange = { $0[2].bytes = ageHeader([String(repeating: "X", count: 2 << 20)]) }
        },
        HostileCase("a passphrase beside a recipient", .damaged("a recipient is a passphrase")) {
            let share = String(repeating: "A", count: 43)
            $0.arrange = { $0[2].bytes = ageHeader(["scrypt AAAAAAAAAAAAAAAAAAAAAA 10", "X25519 \(share)"]) }
        },
        HostileCase("a stream that is no age file", .damaged("not an age v1 file")) {
            $0.arrange = { $0[1].bytes = Array("hello".utf8) }
        },
        HostileCase("a stream of age v2", .damaged("not an age v1 file")) {
            $0.arrange = { $0[1].bytes = Array("age-encryption.org/v2\n".utf8) + $0[1].bytes.dropFirst(22) }
        },
        HostileCase("an age file within an age file", .damaged("a member")) { forgery in
            let recipients = forgery.metadataRecipients
            forgery.compressMetadata = { (try? ageFile($0, to: recipients)) ?? [] }
        },
    ],
])

@Suite("Archives that demand too many resources")
struct ResourceTests {
    @Test("Archives that would use unbounded memory or time are refused", arguments: bombCases)
    func bombs(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("A passphrase stanza with too high a work factor is refused before the work is done")
    func workFactor() throws {
        let genuine = try Genuine.all.get()
        for cost in ["21", "30", "64", "99999999999999999999"] {
            var forgery = try Forgery(genuine.withPassphrase)
            forgery.identity = ageHeader(["scrypt AAAAAAAAAAAAAAAAAAAAAA \(cost)"])
            let outcome = try genuine.outcome(of: forgery.bytes(), passphrase: SampleArchive.passphrase)
            let expected = HostileCase.Refusal.limit("work factor")
            #expect(expected.fits(outcome.error), "2^\(cost) ended with \(String(describing: outcome.error))")
        }
    }

    @Test("An identity file that is not encrypted with a passphrase, or is not an age file, is reported as damage")
    func identities() throws {
        let genuine = try Genuine.all.get()
        let contents: [([UInt8], String)] = [
            (try ageFile(Array("AGE-SECRET-KEY-1".utf8), to: [genuine.identity.recipient]), "not for a passphrase"),
            (Array("AGE-SECRET-KEY-1".utf8), "not an age v1 file"),
        ]
        for (bytes, rule) in contents {
            var forgery = try Forgery(genuine.withPassphrase)
            forgery.identity = bytes
            let outcome = try genuine.outcome(of: forgery.bytes(), passphrase: SampleArchive.passphrase)
            #expect(HostileCase.Refusal.damaged(rule).fits(outcome.error), "\(String(describing: outcome.error))")
        }
    }

    @Test("Refusing a gigabyte of data takes little memory")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let genuine = try Genuine.all.get()
            var forgery = try Forgery(genuine.encrypted)
            let start = Forgery.text([forgery.secrets[0]])
            forgery.compressSecrets = { _ in gigabyte(after: start) }
            let bytes = try forgery.bytes()
            let before = try peakMemory()
            _ = try genuine.outcome(of: bytes)
            // The longest allowed line is 22 MiB. A line is in memory twice while its buffer grows.
            if try peakMemory() - before > 100 << 10 { exit(1) }
        }
    }
}

/// The peak memory of this process in KiB (`VmHWM` in proc(5)).
private func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.split { !$0.isNumber }[0]))
}
