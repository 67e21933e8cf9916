import Foundation
import KCByteStreams
import KCTarArchive
import KCTestSupport
import Testing

@Suite("Writing tar archives", .waitsForPrograms)
struct TarWriterTests {
    /// Names and contents of sizes around the block size.
    private static let members: [(name: String, bytes: [UInt8])] = [0, 1, 511, 512, 513, 70_000].map { count in
        var random = SeededRandom(seed: UInt64(count))
        return ("member-\(count).bin", random.bytes(count))
    }

    private func archive() throws -> [UInt8] {
        var writer = try TarWriter(to: MemorySink(), modified: 1_700_000_000)
        for (index, member) in Self.members.enumerated() {
            if index.isMultiple(of: 2) {
                try writer.append(member.name, member.bytes)
            } else {
                var source = ChoppySource(member.bytes)
                try writer.append(member.name, length: UInt64(member.bytes.count), from: &source)
            }
        }
        return try writer.finish()
    }

    @Test("Names, times, offsets and data read back as written")
    func roundTrip() throws {
        let file = try TarSample.file(archive())
        let directory = try TarDirectory.read(file)
        #expect(directory.members.map(\.name) == Self.members.map(\.name))
        #expect(directory.members.allSatisfy { $0.modified == 1_700_000_000 })
        for (member, expected) in zip(directory.members, Self.members) {
            #expect(member.length == UInt64(expected.bytes.count))
            #expect(try drain(member.data(in: file)) == expected.bytes)
        }
    }

    @Test("The archive ends with two zero blocks and no further padding")
    func hasExactSize() throws {
        let blocks = Self.members.reduce(2) { $0 + 1 + ($1.bytes.count + 511) / 512 }
        #expect(try archive().count == blocks * 512)
    }

    @Test(
        "GNU tar lists and extracts the archive without warnings", .enabled(if: ExternalProgram.locate("tar") != nil))
    func satisfiesTar() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.tar", archive())
        let environment = ["TZ": "UTC", "LC_ALL": "C", "PATH": "/usr/bin:/bin"]
        let listing = try ExternalProgram.run(
            "tar", ["--numeric-owner", "-tvf", folder.path("a.tar")], environment: environment)
        #expect(listing.status == 0)
        #expect(listing.errorOutput.isEmpty)
        let lines = listing.text.split(separator: "\n").map { $0.split(separator: " ").map { String($0) } }
        let expected = Self.members.map { ["-rw-------", "0/0", "\($0.bytes.count)", "2023-11-14", "22:13", $0.name] }
        #expect(lines == expected)
        let extraction = try ExternalProgram.run(
            "tar", ["--no-same-owner", "-xf", "a.tar"], environment: environment, in: folder.path)
        #expect(extraction.status == 0)
        #expect(extraction.errorOutput.isEmpty)
        for member in Self.members { #expect(try folder.read(member.name) == member.bytes) }
    }

    @Test("A source that ends early is reported as truncated", arguments: [0, 1, 99])
    func refusesShortSource(count: Int) throws {
        var writer = try TarWriter(to: MemorySink(), modified: 0)
        var source = ChoppySource([UInt8](repeating: 1, count: count))
        #expect(throws: StreamFailure(.writingContainer, .truncated, offset: UInt64(count))) {
            try writer.append("a", length: 100, from: &source)
        }
    }

    @Test("A source longer than announced is refused", arguments: [0, 1, 512, 65_536])
    func refusesLongSource(length: Int) throws {
        var writer = try TarWriter(to: MemorySink(), modified: 0)
        var source = MemorySource(copying: [UInt8](repeating: 1, count: length + 1))
        let rule = StreamFailure.Kind.malformed("a member is as long as announced")
        #expect(throws: StreamFailure(.writingContainer, rule, offset: UInt64(length))) {
            try writer.append("a", length: UInt64(length), from: &source)
        }
    }

    @Test("A size that ustar cannot represent is refused before anything is written")
    func refusesHugeMember() throws {
        var writer = try TarWriter(to: MemorySink(), modified: 0)
        var source = MemorySource(copying: [])
        let length = UInt64(TarProfile.memberSizeLimit) + 1
        let kind = StreamFailure.Kind.limitExceeded(
            "member size", found: length, allowed: TarProfile.memberSizeLimit)
        #expect(throws: StreamFailure(.writingContainer, kind)) {
            try writer.append("a", length: length, from: &source)
        }
    }

    @Test("A header can hold the largest size and the latest time")
    func writesLargestHeader() throws {
        var writer = try TarWriter(to: MemorySink(), modified: TarProfile.timeLimit)
        var source = MemorySource(copying: [1])
        #expect(throws: StreamFailure(.writingContainer, .truncated, offset: 1)) {
            try writer.append("a", length: UInt64(TarProfile.memberSizeLimit), from: &source)
        }
    }

    @Test("An archive dropped in the middle of a member is not padded to the announced length")
    func dropsUnfinished() async {
        await #expect(processExitsWith: .success) {
            do {
                var writer = try TarWriter(to: MemorySink(), modified: 0)
                var source = MemorySource(copying: [1])
                try? writer.append("a", length: 1 << 30, from: &source)
            }
            // Not getrusage(2), whose peak is inherited from the parent process.
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let peak = try #require(status.firstMatch(of: /VmHWM:\s+(\d+) kB/)?.1)
            #expect(try #require(Int(peak)) < 1 << 19, "half a GiB, in units of 1024 bytes")
        }
    }

    @Test("A time that ustar cannot represent is refused", arguments: [-1, Int64.min, TarProfile.timeLimit + 1, .max])
    func refusesTimes(modified: Int64) throws {
        let kind = StreamFailure.Kind.malformed("the time is eleven octal digits")
        #expect(throws: StreamFailure(.writingContainer, kind)) {
            _ = try TarWriter(to: MemorySink(), modified: modified)
        }
    }

    @Test("A failure of the source is passed on")
    func passesSourceFailure() throws {
        var writer = try TarWriter(to: MemorySink(), modified: 0)
        var source = FaultySource([1, 2, 3], failAt: 2)
        #expect(throws: StreamFailure(.reading, .system(5), offset: 2)) {
            try writer.append("a", length: 3, from: &source)
        }
    }

    @Test("A sink that fails at any write or on finishing fails the archive")
    func passesSinkFailure() throws {
        func write(acceptingWrites writes: Int) throws(StreamFailure) {
            var writer = try TarWriter(to: FaultySink(acceptingWrites: writes), modified: 0)
            try writer.append("a", [1, 2, 3])
            var source = ChoppySource([4, 5])
            try writer.append("b", length: 2, from: &source)
            try writer.finish()
        }
        var writes = 0
        while true {
            do {
                try write(acceptingWrites: writes)
                break
            } catch {
                #expect(error == StreamFailure(.writing, .system(28)))
                writes += 1
            }
        }
        // Two headers, their data, the end, and `finish()`, which counts as a write.
        #expect(writes >= 6)
    }

    @Test(
        "Names with anything but plain characters are refused",
        arguments: ["", ".", "..", "-a", "a/b", "ä", "a b", "a\n"])
    func judgesNames(name: String) {
        #expect(!TarProfile.isName(name.utf8))
    }

    @Test("A name has at most 100 characters")
    func judgesNameLength() {
        #expect(TarProfile.isName(String(repeating: "a", count: 100).utf8))
        #expect(!TarProfile.isName(String(repeating: "a", count: 101).utf8))
    }
}
