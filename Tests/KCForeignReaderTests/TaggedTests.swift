import Foundation
import KCAgeEncryption
import KCByteStreams
import KCCryptography
import KCItemSources
import KCKeychainModel
import KCSandbox
import KCTestSupport
import Testing

@testable import KCForeignReader

@Suite("A failure on its way between two processes")
struct TaggedTests {
    private func back(_ tagged: Tagged) throws -> Tagged {
        var fields = FieldWriter()
        tagged.write(to: &fields)
        return try fields.bytes.withBytes { bytes in
            var reader = FieldReader()
            let tagged = try Tagged(&reader, in: bytes)
            try reader.end(in: bytes)
            return tagged
        }
    }

    private static let failures: [ForeignFailure] = [
        .wrongPassword, .wrongPasswordOrNoKeyFile(orDamaged: true),
        .wrongPasswordOrKeyFile(orDamaged: false), .wrongPasswordOrDamaged, .noKeyOpens("keys"), .needsKeyFile,
        .damagedKeyFile("rule"), .needsFile("name"), .damaged("rule"), .damagedLine(7, "rule"),
        .unknownVariant("what"), .limit("files", found: 7, allowed: 6), .refused(title: "a", hint: "b"),
        .own(.archive), .own(.deviceKey), .age(hasPassphrase: true), .inUse("program"), .noBrowserKey,
        .noAppSecret(app: nil), .noAppSecret(app: "org.example"), .needsProgram("gpg", problem: "gone"), .empty,
        .folderOfFiles(name: "a", title: "b"), .unknownFormat, .notUTF8(line: 3), .unknownColumns,
        .noSuchColumn("a", columns: ["b", "c"]), .noSuchColumn("a", columns: []), .columnTwice("a"),
        .notOfFormat(title: "a", found: nil), .notOfFormat(title: "a", found: "b"), .ambiguous(names: ["a", "b"]),
    ]

    @Test("arrives as it was", arguments: failures)
    func foreign(failure: ForeignFailure) throws {
        #expect(try back(Tagged(failure as any Error)).error as? ForeignFailure == failure)
    }

    @Test("is tried for each case")
    func cases() throws {
        let source = try Project.text("Sources/Importers/KCItemSources/ForeignFailure.swift")
        let end = try #require(source.range(of: "\n}\n"))
        let cases = source[..<end.lowerBound].matches(of: /(?m)^    case (\w+)/)
        #expect(Set(Self.failures.map { Tagged($0).name }).count == cases.count)
    }

    @Test("arrives as it was, from every layer")
    func others() throws {
        let files: [FileFailure.Problem] = [.notFound, .notRegular, .tooLarge(limit: 9), .system(13, doing: "opening")]
        for problem in files {
            let failure = FileFailure("/p", problem)
            #expect(try back(Tagged(failure as any Error)).error as? FileFailure == failure)
        }
        let streams: [StreamFailure.Kind] = [
            .truncated, .malformed("rule"), .authenticationFailed, .limitExceeded("size", found: nil, allowed: 5),
            .limitExceeded("size", found: 6, allowed: 5), .system(12), .library("x"), .libraryMissing("libz.so.1"),
        ]
        for kind in streams {
            for offset in [nil, 7] as [UInt64?] {
                let failure = StreamFailure(.decompressing, kind, offset: offset)
                #expect(try back(Tagged(failure as any Error)).error as? StreamFailure == failure)
            }
        }
        let age: [AgeFailure] = [
            .notAnAgeFile, .malformedHeader("rule"), .headerTooLarge("a", allowed: 4), .noMatchingIdentity(["X25519"]),
            .wrongPassphrase, .workFactorTooHigh(found: 30, allowed: 20), .malformedIdentityLine(3),
            .unsupportedIdentity(line: 2, kind: "plugin"), .sshIdentity(.malformed), .sshIdentity(.encrypted),
            .sshIdentity(.unsupported("ecdsa-sha2-nistp256")), .sshIdentity(.weak(bits: 1_024)), .noIdentities,
            .identityFileEncoded(isUTF16: true), .identityFileEncoded(isUTF16: false),
            .stream(StreamFailure(.reading, .truncated)),
            .cryptography(.library("x")), .cryptography(.outOfMemory(bytes: 9)),
        ]
        for failure in age {
            let returned = try #require(try back(Tagged(failure as any Error)).error as? AgeFailure)
            #expect(returned == failure)
        }
        let sandbox: [SandboxFailure] = [
            .noLandlock, .noSeccomp, .severalThreads, .writableFile(3), .system(1, doing: "x"),
        ]
        for failure in sandbox {
            #expect(try back(Tagged(failure as any Error)).error as? SandboxFailure == failure)
        }
    }

    @Test("A refused item keeps its reason")
    func items() throws {
        let problems: [ForeignContents.Problem] = [
            .sameKey, .damaged("rule"), .item(.unknownAttribute("none")), .item(.notInClass(.svce, .certificate)),
            .item(.wrongKind(.acct)), .item(.secretTooLarge(9)), .item(.reservedExtra), .item(.extraTooLarge),
        ]
        for problem in problems { #expect(try back(Tagged(problem)).refusal == problem) }
    }

    @Test("A name that is not known, or lacks its values, is no failure")
    func unknown() {
        #expect(Tagged(StreamFailure(.reading, .interrupted) as any Error).error == nil)
        #expect(Tagged("age.of", [String](repeating: "age.of", count: 100_000)).error == nil)
        #expect(Tagged("cryptography.library-missing", ["x; reboot"]).error == nil)
        for name in ["", "foreign", "foreign.none", "foreign.damaged", "file.not-found", "stream.truncated", "x.y"] {
            #expect(Tagged(name).error == nil, "\(name)")
        }
    }
}
