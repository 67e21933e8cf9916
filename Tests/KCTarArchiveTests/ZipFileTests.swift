import KCByteStreams
import KCTarArchive
import KCTestSupport
import Testing

@Suite("Zip files of other programs", .waitsForPrograms)
struct ZipFileTests {
    private func read(_ bytes: [UInt8]) throws -> [String: [UInt8]] {
        var members: [String: [UInt8]] = [:]
        _ = try ZipFile.read(bytes.span, wants: { _ in true }) { name, content in
            members[name] = content.withBytes { span in span.indices.map { span[$0] } }
        }
        return members
    }

    @Test("Members are read with their names, including non-ASCII ones")
    func members() throws {
        let bytes = ZipWriter.zip([("a.json", Array("{}".utf8)), ("files/é ü.pdf", [0, 1, 2]), ("empty", [])])
        #expect(try read(bytes) == ["a.json": Array("{}".utf8), "files/é ü.pdf": [0, 1, 2], "empty": []])
        #expect(try ZipFile.names(in: bytes.span) == ["a.json", "files/é ü.pdf", "empty"])
    }

    @Test(
        "Duplicate names and names that escape the folder are refused",
        arguments: [["../a"], ["/a"], ["a/../../b"], ["a", "a"]])
    func names(names: [String]) {
        let bytes = ZipWriter.zip(names.map { ($0, [1]) })
        #expect(throws: StreamFailure.self) { try read(bytes) }
    }

    @Test("A truncated file is refused, and an altered one is refused or yields the original contents")
    func damaged() throws {
        let content = Array("some content that is not short".utf8)
        let bytes = ZipWriter.zip([("a", content), ("b", content)])
        for length in 0..<bytes.count {
            #expect(throws: StreamFailure.self) { try read(Array(bytes.prefix(length))) }
        }
        for index in bytes.indices {
            var altered = bytes
            altered[index] ^= UInt8(1 << (index % 8))
            do {
                for member in try read(altered).values { #expect(member == content || member.isEmpty) }
            } catch is StreamFailure {
                // Refused.
            }
        }
    }

    @Test(
        "A decompression bomb is refused at the size limit",
        .enabled(if: ExternalProgram.locate("python3") != nil, "python3 makes the file"))
    func bomb() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/bomb.zip"
        let made = try ExternalProgram.run(
            "python3",
            [
                "-c",
                "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED); z.writestr('a',bytes(30000000)); z.close()",
                path,
            ])
        #expect(made.errorText == "")
        let bytes = try folder.read("bomb.zip")
        let failure = #expect(throws: StreamFailure.self) { try read(bytes) }
        guard case .limitExceeded(_, _, let allowed) = failure?.kind else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        // 200 times the file, or 64 KiB.
        #expect(allowed == max(bytes.count * 200, 65_536))
    }
}
