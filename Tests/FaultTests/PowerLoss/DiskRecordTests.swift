import Foundation
import KCTestSupport
import Testing

/// The meaning of the record and of the rebuilt disks of ``PowerLossTests``.
@Suite("Records of what a run does to a disk")
struct DiskRecordTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("old", Array("old text".utf8))
    }

    private static func hexadecimal(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.count == 1 ? "0" : "") + digits
        }
        .joined()
    }

    /// Reads a trace in which `«…»` stands for the hexadecimal form of a text.
    private func record(_ trace: String) throws -> DiskRecord {
        let text = trace.replacing(/«([^»]*)»/) { Self.hexadecimal(String($0.output.1)) }
        return try DiskRecord(folder: folder.path, Array(text.utf8), below: "/h")
    }

    private static let creation = #"""
        7  openat(AT_FDCWD<«/h»>, "«.»", O_RDWR|O_CLOEXEC|O_TMPFILE, 0600) = 5<«/h/#1»>(deleted)
        7  write(5<«/h/#1»>(deleted), "«new text»", 8) = 8
        7  fsync(5<«/h/#1»>(deleted)) = 0
        7  linkat(AT_FDCWD<«/h»>, "«/proc/self/fd/5»", 3<«/h»>, "«new»", AT_SYMLINK_FOLLOW) = 0
        7  fsync(3<«/h»>) = 0
        7  +++ exited with 0 +++

        """#

    @Test("A new file is there for certain once its folder is synced, and only then")
    func newFile() throws {
        let record = try record(Self.creation)
        let syncs = record.syncs()
        let end = record.events.count
        #expect(record.image(after: end, syncs) { _ in .lost }.files["new"]?.bytes == Array("new text".utf8))
        #expect(record.image(after: end - 1, syncs) { _ in .lost }.files.isEmpty)
        #expect(record.image(after: end - 1, syncs) { _ in .kept }.files["new"]?.bytes == Array("new text".utf8))
    }

    @Test("A sync in place of which strace returned 0 makes nothing durable")
    func injected() throws {
        let trace = Self.creation.replacing(/(fsync.*) = 0/) { "\($0.output.1) = 0 (INJECTED)" }
        let record = try record(trace)
        #expect(record.image(after: record.events.count, record.syncs()) { _ in .lost }.files.isEmpty)
        let named = record.image(after: record.events.count, record.syncs()) { $0 == 0 ? .lost : .kept }
        #expect(named.files["new"]?.bytes == [])
    }

    @Test("Calls of threads that overlap are read, and a rename keeps what it moves")
    func overlapping() throws {
        let record = try record(
            #"""
            7  pwrite64(4<«/h/old»>, "«OLD»", 3, 0 <unfinished ...>
            8  renameat(3<«/h»>, "«old»", 3<«/h»>, "«moved»" <unfinished ...>
            7  <... pwrite64 resumed>) = 3
            8  <... renameat resumed>) = 0
            7  unlink("«/h/absent»") = -1 ENOENT (No such file or directory)

            """#)
        let image = record.image(after: record.events.count, record.syncs()) { _ in .kept }
        #expect(image.removed == ["old"])
        #expect(image.files["moved"]?.bytes == Array("OLD text".utf8))
        let unwritten = record.image(after: record.events.count, record.syncs()) { $0 == 0 ? .lost : .kept }
        #expect(unwritten.files["moved"]?.bytes == Array("old text".utf8))
    }

    @Test("A write may be torn at a sector, leave its length alone, or keep any of its sectors")
    func torn() throws {
        var disk = DiskFile(contents: .file([]), mode: 0o600)
        let bytes = Array(repeating: UInt8(1), count: 1500)
        let start = try record(#"7  pwrite64(4<«/h/old»>, "\#("«a»")", 1, 0) = 1"# + "\n")
        #expect(start.events.count == 1)
        disk.write(bytes, at: 0, .part(512..<1500))
        guard case .file(let torn) = disk.contents else { return }
        #expect(torn == Array(repeating: 0, count: 512) + Array(repeating: 1, count: 988))
        disk = DiskFile(contents: .file([]), mode: 0o600)
        disk.write(bytes, at: 100, .sectors(0b101))
        guard case .file(let some) = disk.contents else { return }
        #expect(some.count == 1536)
        #expect(some[..<100].allSatisfy { $0 == 0 } && some[100..<512].allSatisfy { $0 == 1 })
        #expect(some[512..<1024].allSatisfy { $0 == 0 } && some[1024...].allSatisfy { $0 == 1 })
        disk = DiskFile(contents: .file([]), mode: 0o600)
        disk.write(bytes, at: 0, .length)
        guard case .file(let empty) = disk.contents else { return }
        #expect(empty == Array(repeating: 0, count: 1500))
    }

    @Test("A call whose effect is not known is refused")
    func unknownCalls() {
        #expect(throws: TracedCall.Unreadable.self) {
            try record(#"7  writev(4<«/h/old»>, [{iov_base="«a»", iov_len=1}], 1) = 1"# + "\n")
        }
        #expect(throws: TracedCall.Unreadable.self) { try record("7  nothing\n") }
    }

    @Test("Names that are exchanged change together")
    func exchanged() throws {
        let record = try record(
            Self.creation + #"8  renameat2(3<«/h»>, "«old»", 3<«/h»>, "«new»", RENAME_EXCHANGE) = 0"# + "\n")
        let disk = try TemporaryFolder()
        try record.image(after: record.events.count, record.syncs()) { _ in .kept }.write(into: disk)
        #expect(try disk.read("tree/old") == Array("new text".utf8))
        #expect(try disk.read("tree/new") == Array("old text".utf8))
    }

    @Test("A rebuilt disk has what changed, with its mode and time, and one file where there are two names")
    func written() throws {
        let record = try record(
            #"""
            7  linkat(AT_FDCWD<«/h»>, "«old»", 3<«/h»>, "«other»", 0) = 0
            7  mkdirat(3<«/h»>, "«sub»", 0700) = 0
            7  renameat(3<«/h»>, "«old»", 3<«/h»>, "«sub/old»") = 0
            7  utimensat(4<«/h/other»>, NULL, [{tv_sec=1, tv_nsec=2} /* 1970 */, {tv_sec=3, tv_nsec=4} /* 1970 */], 0) = 0
            7  fchmod(4<«/h/other»>, 0400) = 0

            """#)
        let disk = try TemporaryFolder()
        try record.image(after: record.events.count, record.syncs()) { _ in .kept }.write(into: disk)
        #expect(try disk.list() == ["removed", "tree", "tree/other", "tree/sub", "tree/sub/old"])
        #expect(try disk.read("removed") == Array("old\0".utf8))
        let outcomes = try ["tree/other", "tree/sub/old"].map { name in
            let attributes = try FileManager.default.attributesOfItem(atPath: disk.path(name))
            #expect((attributes[.posixPermissions] as? Int) == 0o400)
            #expect((attributes[.modificationDate] as? Date)?.timeIntervalSince1970.rounded() == 3)
            return attributes[.systemFileNumber] as? Int
        }
        #expect(outcomes[0] == outcomes[1])
    }
}
