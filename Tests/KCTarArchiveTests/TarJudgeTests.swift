import KCByteStreams
import KCTarArchive
import KCTestSupport
import Testing

@Suite("Archives in the eyes of another reader", .waitsForPrograms)
struct TarJudgeTests {
    /// An archive with one member, so that the time of the member may change.
    private func archive() throws -> [UInt8] {
        var writer = try TarWriter(to: MemorySink(), modified: 1_700_000_000)
        try writer.append("first.txt", [UInt8](repeating: 0x41, count: 37))
        return try writer.finish()
    }

    /// A script that prints what Python's `tarfile` finds in each file, one line a member.
    private static let script = """
        import sys, tarfile
        for path in sys.argv[1:]:
            with tarfile.open(path, "r:") as archive:
                for m in archive:
                    print(path.rsplit("/", 1)[1], m.name, m.offset_data, m.size, m.mtime, oct(m.mode), m.type == b"0")
        """

    @Test(
        "With any byte of a header changed, an archive is refused, or has the same members for Python",
        .enabled(if: ExternalProgram.locate("python3") != nil))
    func changedHeaders() throws {
        let folder = try TemporaryFolder()
        let original = try archive()
        var expected: [String] = []
        for offset in stride(from: 0, to: 512, by: Environment.has("FLIPS", "all") ? 1 : 3) {
            for value in [0, 0x20, 0x30, 0x31, 0x37, 0x61, 0x7f, 0x80, 0xff] as [UInt8] {
                let bytes = TarSample.changed(original, at: offset, [value])
                guard let members = try? TarDirectory.read(TarSample.file(bytes)).members else { continue }
                let name = "\(offset)-\(value).tar"
                try folder.write(name, bytes)
                expected += members.map { "\(name) \($0.name) \($0.offset) \($0.length) \($0.modified) 0o600 True" }
            }
        }
        #expect(expected.count > 15)
        let names = expected.map { folder.path(String($0.prefix { $0 != " " })) }
        let judged = try ExternalProgram.run("python3", ["-c", Self.script] + names)
        #expect(judged.errorText == "")
        #expect(judged.text.split(separator: "\n").map(String.init) == expected)
    }
}
