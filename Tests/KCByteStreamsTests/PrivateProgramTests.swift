import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@Suite("Programs that nobody else can replace")
struct PrivateProgramTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["bin", "links"] { try Path.makeFolder(folder.path(name)) }
        try folder.write("bin/program", [], mode: 0o755)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("links/program"), withDestinationPath: folder.path("bin/program"))
    }

    private func setMode(_ name: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
    }

    private func expect(_ path: String, _ failed: String, _ problem: FileFailure.Problem) {
        #expect(throws: FileFailure(folder.path(failed), problem)) { try PrivateProgram.require(folder.path(path)) }
    }

    @Test("The program, its folder and that of a link to it are checked", arguments: ["bin", "links"])
    func ways(place: String) throws {
        let path = place + "/program"
        try PrivateProgram.require(folder.path(path))
        for name in Set(["bin", place]) {
            try setMode(name, 0o775)
            expect(path, name, .sharedFolder(mode: 0o775))
            try setMode(name, 0o755)
        }
        try setMode("bin/program", 0o757)
        expect(path, path, .exposed(mode: 0o757))
        try Path.remove(folder.path("bin/program"))
        expect(path, path, .notFound)
    }

    @Test("A folder is no program")
    func irregular() {
        expect("bin", "bin", .notRegular)
    }
}
