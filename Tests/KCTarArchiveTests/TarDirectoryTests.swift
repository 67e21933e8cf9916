import Foundation
import KCByteStreams
import KCTarArchive
import KCTestSupport
import Testing

@Suite("Reading tar archives", .waitsForPrograms)
struct TarDirectoryTests {
    private func expectMalformed(_ bytes: [UInt8], _ rule: String, at offset: UInt64) throws {
        #expect(try TarSample.failure(of: bytes) == StreamFailure(.readingContainer, .malformed(rule), offset: offset))
    }

    /// `FLIPS=all`, as in `make proof`, truncates at each byte.
    @Test("An archive truncated at any byte is refused")
    func refusesTruncation() throws {
        let archive = try TarSample.small()
        for count in stride(from: 0, to: archive.count, by: Environment.has("FLIPS", "all") ? 1 : 3) {
            let failure = try TarSample.failure(of: Array(archive.prefix(count)))
            let expected = StreamFailure(.readingContainer, .truncated, offset: UInt64(count))
            if failure != expected { Issue.record("\(count) bytes") }
        }
    }

    /// `FLIPS=all`, as in `make proof`, flips all eight bits of each byte, instead of one in every second byte.
    @Test(
        "A flipped bit outside the data of a member is refused; data is verified by the layers above",
        arguments: 0..<8)
    func refusesFlips(bit: Int) throws {
        let archive = try TarSample.small()
        let data = 512..<512 + TarSample.dataLength
        let step = Environment.has("FLIPS", "all") ? 1 : 16
        for index in stride(from: bit % step, to: archive.count, by: step) {
            var flipped = archive
            flipped[index] ^= 1 << bit
            let failure = try TarSample.failure(of: flipped)
            if (failure == nil) != data.contains(index) { Issue.record("byte \(index), bit \(bit)") }
        }
    }

    @Test("Anything after the end is refused", arguments: [[0], [1], [UInt8](repeating: 0, count: 512)])
    func refusesTrailingBytes(trailing: [UInt8]) throws {
        let archive = try TarSample.small()
        let end = UInt64(archive.count)
        try expectMalformed(archive + trailing, "nothing follows the end of the archive", at: end)
    }

    @Test("Concatenated archives are refused, with or without end blocks between them")
    func refusesConcatenation() throws {
        let archive = try TarSample.small()
        let end = UInt64(archive.count)
        try expectMalformed(archive + archive, "nothing follows the end of the archive", at: end)
        try expectMalformed(archive.dropLast(512) + archive, "two zero blocks end the archive", at: end - 512)
        try expectMalformed(archive.dropLast(1024) + archive, "a name occurs once", at: end - 1024)
    }

    @Test("An archive without members is refused")
    func refusesEmptyArchive() throws {
        let zeros = [UInt8](repeating: 0, count: 1024)
        try expectMalformed(zeros, "there is at least one member", at: 0)
    }

    @Test(
        "A field with an invalid value is refused with the rule it breaks, even if the checksum is correct",
        arguments: [
            (0, "/etc/x\0\0\0", "a name is letters, digits, dots, hyphens, underscores"),
            (0, "../x\0\0\0\0\0", "a name is letters, digits, dots, hyphens, underscores"),
            (0, "\0", "a name is letters, digits, dots, hyphens, underscores"),
            (50, "x", "a name is padded with zeros"),
            (100, "000644 \0", "the mode is 0600"),
            // GNU tar's encodings of the same numbers.
            (100, "0000600\0", "the mode is spelled as 6 octal digits, then a space and a zero byte"),
            (108, "0000000\0", "the owner is spelled as 6 octal digits, then a space and a zero byte"),
            (136, "14524770400\0", "the time is spelled as 11 octal digits, then a space"),
            (329, "\0\0\0\0\0\0\0\0", "the device number is spelled as 6 octal digits, then a space and a zero byte"),
            (108, "001750 \0", "the owner is 0"), (116, "001750 \0", "the group is 0"),
            (124, "00000000045\0", "the size is spelled as 11 octal digits, then a space"),
            (124, "         45 ", "the size is spelled as 11 octal digits, then a space"),
            (124, "00000000048 ", "the size is spelled as 11 octal digits, then a space"),
            (124, "-0000000045 ", "the size is spelled as 11 octal digits, then a space"),
            (136, "14524770400\0", "the time is spelled as 11 octal digits, then a space"),
            (156, "\0", "a member is a regular file"), (156, "1", "a member is a regular file"),
            (156, "2", "a member is a regular file"), (156, "3", "a member is a regular file"),
            (156, "5", "a member is a regular file"), (156, "6", "a member is a regular file"),
            (156, "7", "a member is a regular file"), (156, "L", "a member is a regular file"),
            (156, "S", "a member is a regular file"), (156, "x", "a member is a regular file"),
            (156, "g", "a member is a regular file"), (156, "V", "a member is a regular file"),
            (157, "target", "a member is no link"), (257, "ustar  \0", "the magic is that of ustar"),
            (263, "01", "the version is that of ustar"), (265, "root", "the owner has no name"),
            (297, "root", "the group has no name"), (329, "000001 \0", "a member is no device"),
            (337, "000001 \0", "a member is no device"), (345, "folder", "a name has no prefix"),
            (511, "x", "the header ends in zeros"),
        ])
    func refusesField(offset: Int, value: String, rule: String) throws {
        try expectMalformed(TarSample.changed(TarSample.small(), at: offset, Array(value.utf8)), rule, at: 0)
    }

    @Test("A noncanonical checksum field is refused", arguments: [" \0", "  ", "\0\0"])
    func refusesChecksum(end: String) throws {
        var archive = try TarSample.small()
        archive.replaceSubrange(154..<156, with: Array(end.utf8))
        try expectMalformed(archive, "the checksum is spelled as 6 octal digits, then a zero byte and a space", at: 0)
    }

    @Test("A base-256 size is refused")
    func refusesBase256() throws {
        let size = [0x80] + [UInt8](repeating: 0, count: 10) + [37]
        try expectMalformed(
            TarSample.changed(TarSample.small(), at: 124, size), "the size is spelled as 11 octal digits, then a space",
            at: 0)
    }

    @Test("A size beyond the end of the file is reported as truncation", arguments: ["00000010000 ", "77777777777 "])
    func refusesLargeSize(size: String) throws {
        let archive = try TarSample.changed(TarSample.small(), at: 124, Array(size.utf8))
        let failure = StreamFailure(.readingContainer, .truncated, offset: UInt64(archive.count))
        #expect(try TarSample.failure(of: archive) == failure)
    }

    @Test("Members with different times are refused")
    func refusesTimes() throws {
        let archive = try TarSample.changed(TarSample.small(), at: 136, Array("14524770401".utf8))
        try expectMalformed(archive, "all members have one time", at: 1024)
    }

    @Test("As many members as the limit are read, and one more is refused")
    func limitsMembers() throws {
        var writer = try TarWriter(to: MemorySink(), modified: 0)
        for number in 0..<16 { try writer.append("member\(number)", []) }
        let file = try TarSample.file(writer.finish())
        #expect(try TarDirectory.read(file).members.count == 16)
        let kind = StreamFailure.Kind.limitExceeded("members", found: nil, allowed: 15)
        #expect(throws: StreamFailure(.readingContainer, kind, offset: 15 * 512)) {
            try TarDirectory.read(file, memberLimit: 15)
        }
    }

    @Test(
        "Other formats and member types that GNU tar writes are refused",
        .enabled(if: ExternalProgram.locate("tar") != nil),
        arguments: [
            ["--format=gnu", "plain"], ["--format=pax", "plain"], ["--format=v7", "plain"],
            ["--format=ustar", "plain"],
            ["--format=ustar", "link"], ["--format=ustar", "plain", "hard"], ["--format=ustar", "folder"],
            ["--format=ustar", "fifo"], ["--format=gnu", "--sparse", "holes"], ["--format=pax", "--sparse", "holes"],
            ["--format=gnu", String(repeating: "n", count: 120)],
        ])
    func refusesOthers(arguments: [String]) throws {
        let folder = try TemporaryFolder()
        try folder.write("plain", [1, 2, 3])
        try folder.write(String(repeating: "n", count: 120), [1])
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "plain")
        try FileManager.default.linkItem(atPath: folder.path("plain"), toPath: folder.path("hard"))
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: false)
        #expect(unsafe mkfifo(folder.path("fifo"), 0o600) == 0)
        try folder.write("holes", [])
        #expect(unsafe truncate(folder.path("holes"), 1 << 20) == 0)
        let output = try ExternalProgram.run("tar", ["-cf", "a.tar"] + arguments, in: folder.path)
        try #require(output.status == 0, "\(output.errorText)")
        #expect(throws: StreamFailure.self) { try TarDirectory.read(OpenFile.reading(folder.path("a.tar"))) }
    }
}
