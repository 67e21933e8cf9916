import KCByteStreams
import Testing

@testable import KCRemotes

@Suite("A folder with many folders")
struct FileTreeTests {
    private let folder: RemoteLocation

    init() throws { folder = try #require(RemoteLocation("nas:fleet/archives")) }

    /// The files of a listing that arrives byte by byte.
    private func list(_ text: String, status: Int32 = 0) throws -> [String] {
        var found: [String] = []
        let rclone = Rclone(environment: [:]) { _, receive in
            for byte in text.utf8 { try receive([byte].span) }
            return ProgramEnding(status: status, messages: "x")
        }
        try rclone.visitTree(folder) { found.append("\($0.size) \(String(decoding: $0.path, as: UTF8.self))") }
        return found
    }

    @Test("A name with commas, quotation marks and line feeds is one name")
    func names() throws {
        let text = "3,a/b.kcb\n4,\"a/b,\"\"c\"\".kcb\"\n5,\"a/x\n6,y.kcb\"\n"
        #expect(try list(text) == ["3 a/b.kcb", "4 a/b,\"c\".kcb", "5 a/x\n6,y.kcb"])
        #expect(try list("", status: 3) == [])
    }

    @Test(
        "A listing that is cut off, or is none, is not a shorter one",
        arguments: ["3,a", "3,\"a\n", "3\n", "3,a,b\n", "x,a\n", "3,\"a\"b\n", "3,a\"b\n", "-1,a\n", "\n"])
    func malformed(text: String) {
        #expect(throws: RemoteFailure.unclear(folder)) { try list(text) }
        #expect(throws: RemoteFailure.self) { try list("3,a\n", status: 1) }
    }

    @Test("A listing with times is parsed strictly, and a day without a folder is empty")
    func dated() throws {
        func list(_ text: String, status: Int32 = 0) throws -> [Rclone.TreeEntry] {
            var found: [Rclone.TreeEntry] = []
            try Rclone(environment: [:]) { _, receive in
                try receive(Array(text.utf8).span)
                return ProgramEnding(status: status, messages: "x")
            }.visitTree(folder, isDated: true) { found.append($0) }
            return found
        }
        let line = "2026-11-24 03:15:02,812,\"AB/a b,c.json\"\n"
        let entry = Rclone.TreeEntry(
            path: Array("AB/a b,c.json".utf8), size: 812, modified: "2026-11-24 03:15:02")
        #expect(try list(line) == [entry])
        #expect(try list("", status: 3) == [])
        for text in ["\n", "x\n", "2026-11-24 03:15:02,812,\n", "2026-11-24,1,a\n", line + "2026"] {
            #expect(throws: RemoteFailure.unclear(folder)) { try list(text) }
        }
        #expect(throws: RemoteFailure.self) { try list(line, status: 1) }
    }
}
