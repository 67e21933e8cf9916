import Foundation
import KCAgeEncryption
import KCByteStreams
import KCKeychainKeys
import KCTestSupport
import Testing

@testable import KCFileProtection

@Suite("Protecting and unprotecting files", .waitsForPrograms) struct FileToProtectTests {
    private let folder: TemporaryFolder
    private let identity: X25519Identity
    private var recipients: [any Recipient] {
        [MarkedRecipient(ProtectionIdentity(device: identity.recipient.publicKey))]
    }

    init() throws {
        folder = try TemporaryFolder()
        identity = try X25519Identity.generate()
    }

    private func protect(_ name: String) throws {
        let file = try FileToProtect(folder.path(name))
        try file.protect(for: recipients)
        try file.finishProtecting()
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func facts(_ name: String) throws -> [String] {
        var status = stat()
        try #require(unsafe stat(folder.path(name), &status) == 0)
        return ["\(status.st_mode)", "\(status.st_uid)", "\(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)"]
    }

    @Test("A file comes back with its contents, mode and time", arguments: [0, 1, 70_000])
    func roundTrip(size: Int) throws {
        var random = SeededRandom(seed: UInt64(size))
        let contents = random.bytes(size)
        try folder.write("a b.txt", contents, mode: 0o640)
        let before = try facts("a b.txt")
        try protect("a b.txt")
        #expect(try names() == ["a b.txt.age"])
        #expect(try facts("a b.txt.age") == before)
        #expect(try folder.read("a b.txt.age") != contents)
        try FileToProtect(folder.path("a b.txt.age")).unprotect(with: [identity])
        #expect(try names() == ["a b.txt"])
        #expect(try folder.read("a b.txt") == contents)
        #expect(try facts("a b.txt") == before)
    }

    @Test("What the new file cannot be given is said of the file that has it")
    func attributesNotPermitted() throws {
        for name in ["from", "to"] { try folder.write(name, Array("a".utf8)) }
        let metadata = try FileMetadata(of: OpenFile.reading(folder.path("from")))
        let target = try OpenFile.reading(folder.path("to"))
        try FileMark.immutable.on(folder.path("to")) {
            #expect(
                throws: FileFailure(folder.path("from"), .system(EPERM, doing: "setting the permissions of"))
            ) { try metadata.apply(to: target) }
        }
    }

    @Test("Links, folders and pipes are refused, and stay as they are")
    func refused() throws {
        try folder.write("one", Array("a".utf8))
        try FileManager.default.linkItem(atPath: folder.path("one"), toPath: folder.path("two"))
        #expect(throws: ProtectionProblem.severalNames(folder.path("one"), isEncrypted: false)) { try protect("one") }
        try folder.write("three", Array("c".utf8))
        try protect("three")
        try FileManager.default.linkItem(atPath: folder.path("three.age"), toPath: folder.path("four.age"))
        #expect(throws: ProtectionProblem.severalNames(folder.path("three.age"), isEncrypted: true)) {
            try FileToProtect(folder.path("three.age"))
        }
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "one")
        #expect(throws: FileFailure(folder.path("link"), .notRegular)) { try protect("link") }
        #expect(throws: FileFailure.self) { try FileToProtect(folder.path) }
        #expect(throws: FileFailure.self) { try FileToProtect(folder.path("one/")) }
        try #require(unsafe mkfifo(folder.path("pipe"), 0o600) == 0)
        #expect(throws: FileFailure(folder.path("pipe"), .notRegular)) { try protect("pipe") }
        #expect(try folder.read("two") == Array("a".utf8))
    }

    @Test("A file that is open for writing is left alone")
    func inUse() throws {
        try folder.write("log", Array("a".utf8))
        let writer = try #require(FileHandle(forWritingAtPath: folder.path("log")))
        #expect(throws: ProtectionProblem.inUse(folder.path("log"))) { try protect("log") }
        try writer.close()
        try protect("log")
    }

    /// Has a program begin to write to a file while that is encrypted.
    private struct Interrupting: Recipient {
        let path: String
        let recipient: X25519Recipient

        func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
            // Without waiting, so that it fails, though whoever would wait is seen alike.
            let words = ["if=/dev/null", "of=\(path)", "oflag=nonblock", "conv=notrunc", "count=0"]
            do {
                if try ExternalProgram.run("dd", words).status == 0 { Issue.record("the file could be opened") }
            } catch {
                Issue.record("\(error)")
            }
            return try recipient.wrap(fileKey: fileKey)
        }
    }

    @Test("A file that a program begins to write to while it is encrypted is left alone")
    func inUseMeanwhile() throws {
        let path = try folder.write("log", Array("a".utf8))
        let file = try FileToProtect(path)
        #expect(throws: ProtectionProblem.inUse(path)) {
            try file.protect(for: [Interrupting(path: path, recipient: identity.recipient)])
        }
        #expect(try folder.read("log") == Array("a".utf8))
    }

    @Test("A run that another one has overtaken says that the file was changed, and leaves it as that run did")
    func overtaken() throws {
        let path = try folder.write("a", Array("a".utf8))
        let late = try FileToProtect(path)
        let later = try FileToProtect(path)
        try later.protect(for: recipients)
        let third = try FileToProtect(path)
        try third.finishProtecting()
        let protected = try folder.read("a.age")
        #expect(throws: ProtectionProblem.changed(path)) { try late.protect(for: recipients) }
        #expect(throws: ProtectionProblem.changed(path)) { try later.finishProtecting() }
        #expect(try names() == ["a.age"] && folder.read("a.age") == protected)
    }

    @Test("A name that is taken is not written over")
    func taken() throws {
        try folder.write("a", Array("a".utf8))
        try folder.write("a.age", Array("b".utf8))
        #expect(throws: ProtectionProblem.nameTaken(folder.path("a.age"))) { try protect("a") }
        #expect(try folder.read("a") == Array("a".utf8))
        try FileManager.default.removeItem(atPath: folder.path("a.age"))
        try protect("a")
        try folder.write("a", Array("other".utf8))
        #expect(throws: ProtectionProblem.nameTaken(folder.path("a"))) {
            try FileToProtect(folder.path("a.age")).unprotect(with: [identity])
        }
        #expect(try names() == ["a", "a.age"])
        // A file that a killed run left has the same contents.
        try folder.write("a", Array("a".utf8))
        try FileToProtect(folder.path("a.age")).unprotect(with: [identity])
        #expect(try names() == ["a"])
    }

    @Test("A file that was replaced in the meantime is left as it is")
    func replaced() throws {
        try folder.write("a", Array("a".utf8))
        let file = try FileToProtect(folder.path("a"))
        try folder.write("b", Array("b".utf8))
        try FileManager.default.removeItem(atPath: folder.path("a"))
        try FileManager.default.moveItem(atPath: folder.path("b"), toPath: folder.path("a"))
        #expect(throws: ProtectionProblem.changed(folder.path("a"))) { try file.protect(for: recipients) }
        #expect(try names() == ["a"] && folder.read("a") == Array("b".utf8))
    }

    @Test("A file that was replaced after it was decrypted stays, and the clear file is named")
    func replacedBesideClear() throws {
        try folder.write("a", Array("a".utf8))
        try protect("a")
        let file = try FileToProtect(folder.path("a.age"))
        try FileManager.default.removeItem(atPath: folder.path("a.age"))
        try folder.write("a.age", Array("b".utf8))
        #expect(throws: ProtectionProblem.changedBesideClear(folder.path("a.age"), clear: folder.path("a"))) {
            try file.removeBesideClear()
        }
        #expect(try folder.read("a.age") == Array("b".utf8))
    }

    @Test("Where the encrypted file cannot be removed, the clear file is named")
    func notRemoved() throws {
        try folder.write("a", Array("a".utf8))
        try protect("a")
        let path = folder.path("a.age")
        try FileMark.immutable.on(path) {
            let file = try FileToProtect(path)
            let failure = FileFailure(path, .system(EPERM, doing: "removing"))
            #expect(throws: ProtectionProblem.notRemoved(failure, clear: folder.path("a"))) {
                try file.unprotect(with: [identity])
            }
            #expect(try names() == ["a", "a.age"] && folder.read("a") == Array("a".utf8))
        }
    }

    @Test("A damaged file, and one for another key, are not decrypted, and stay")
    func closed() throws {
        try folder.write("a", Array("a".utf8))
        try protect("a")
        let other = try X25519Identity.generate()
        #expect(throws: AgeFailure.self) { try FileToProtect(folder.path("a.age")).unprotect(with: [other]) }
        var bytes = try folder.read("a.age")
        bytes[bytes.count - 1] ^= 1
        try folder.write("a.age", bytes)
        #expect(throws: StreamFailure.self) { try FileToProtect(folder.path("a.age")).unprotect(with: [identity]) }
        #expect(try names() == ["a.age"])
    }

    @Test("A mark tells its holder, and nobody else")
    func marks() throws {
        let holder = FileKeyHolder.device(identity.recipient.publicKey)
        let others = FileKeyClass.allCases.map { FileKeyHolder.keychain([UInt8](repeating: 1, count: 16), $0) }
        let mark = try ProtectionMark.make(for: holder)
        #expect(try ProtectionMark.holder(of: [mark], among: others + [holder]) == holder)
        #expect(try ProtectionMark.holder(of: [mark], among: others) == nil)
        #expect(try ProtectionMark.make(for: holder) != mark)
        for arguments in [[], ["AAAA"], ["AAAA", "AAAA"], [mark.arguments[0], "!"]] {
            let odd = Stanza(type: mark.type, arguments: arguments, body: [])
            #expect(try ProtectionMark.holder(of: [odd], among: [holder]) == nil)
        }
    }
}
