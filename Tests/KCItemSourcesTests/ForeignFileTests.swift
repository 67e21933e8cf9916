import Foundation
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCItemSources

@Suite("Files of other programs")
struct ForeignFileTests {
    @Test("A file that is written to while it is read is refused")
    func changed() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.csv", Array("name,password\n".utf8), mode: 0o600)
        let file = try OpenFile.reading(folder.path("a.csv"))
        let status = try file.status()
        try ForeignFile.requireUnchanged(file, since: status)
        let writer = try #require(FileHandle(forWritingAtPath: folder.path("a.csv")))
        try writer.seekToEnd()
        try writer.write(contentsOf: Array("a,b\n".utf8))
        try writer.close()
        #expect(throws: StreamFailure.self) { try ForeignFile.requireUnchanged(file, since: status) }
    }
}
