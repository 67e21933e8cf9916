import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@Suite("Reading files")
struct FileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("A slice delivers its part of the file", arguments: [(0, 0), (0, 10), (3, 4), (9, 1), (10, 0)])
    func delivers(offset: Int, length: Int) throws {
        let bytes = (0..<10).map { UInt8($0) }
        let file = try OpenFile.reading(folder.write("f", bytes))
        let slice = FileSlice(file, offset: UInt64(offset), length: UInt64(length))
        #expect(try drain(slice, pieceSize: 3) == Array(bytes[offset..<offset + length]))
    }

    @Test("Slices of one file are independent")
    func slicesAreIndependent() throws {
        let bytes = (0..<100).map { UInt8($0) }
        let file = try OpenFile.reading(folder.write("f", bytes))
        var first = try FileSlice(whole: file)
        let second = FileSlice(file, offset: 50, length: 50)
        var head = SecretBytes(capacity: 10)
        try head.append(upTo: 10) { output throws(StreamFailure) in try first.read(into: &output) }
        #expect(try drain(second) == Array(bytes[50...]))
        #expect(try head.bytesForTest() + drain(first) == bytes)
    }

    @Test("A read that fails after some bytes is a failure, not the end of the file")
    func failsAfterSomeBytes() throws {
        // Maps two pages of a one-page file. Reading them through /proc/self/mem succeeds for the first and fails with
        // EIO for the second.
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let file = try OpenFile.reading(folder.write("f", [UInt8](repeating: 1, count: page)))
        let start = unsafe UInt(bitPattern: mmap(nil, 2 * page, PROT_READ, MAP_SHARED, file.descriptor, 0))
        defer { unsafe munmap(UnsafeMutableRawPointer(bitPattern: start), 2 * page) }
        let memory = OpenFile(owning: unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC), path: "mem")
        let end = UInt64(start) + UInt64(page)
        func read(_ count: Int, at offset: UInt64) throws -> Int {
            var bytes = SecretBytes(capacity: count)
            try bytes.append(upTo: count) { output throws(StreamFailure) in try memory.read(at: offset, into: &output) }
            return bytes.count
        }
        #expect(try read(100, at: end - 100) == 100)
        #expect(throws: StreamFailure(.reading, .system(EIO), offset: end - 100)) { try read(101, at: end - 100) }
    }

    @Test("A file shorter than its slice is reported as truncated")
    func noticesShortFile() throws {
        let file = try OpenFile.reading(folder.write("f", [1, 2, 3]))
        #expect(throws: StreamFailure(.reading, .truncated, offset: 3)) {
            try drain(FileSlice(file, offset: 0, length: 4))
        }
        #expect(throws: StreamFailure(.reading, .truncated, offset: 9)) {
            try drain(FileSlice(file, offset: 9, length: 1))
        }
    }

    @Test("Only regular files are opened, and symbolic links are not followed")
    func refusesOtherTypes() throws {
        try folder.write("target", [1])
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "target")
        #expect(unsafe mkfifo(folder.path("fifo"), 0o600) == 0)
        for path in [folder.path("link"), folder.path("fifo"), folder.path, "/dev/null"] {
            #expect(throws: FileFailure(path, .notRegular)) { try OpenFile.reading(path) }
        }
        for path in [folder.path("missing"), folder.path("target/below")] {
            #expect(throws: FileFailure(path, .notFound)) { try OpenFile.reading(path) }
        }
    }

    @Test("A failed read or write reports the errno")
    func passesErrno() throws {
        let writeOnly = OpenFile(owning: try unsafe open(folder.write("f", [1]), O_WRONLY), path: "f")
        #expect(throws: StreamFailure(.reading, .system(EBADF), offset: 0)) {
            try drain(FileSlice(writeOnly, offset: 0, length: 1))
        }
        let readOnly = try OpenFile.reading(folder.path("f"))
        #expect(throws: StreamFailure(.writing, .system(EBADF))) { try readOnly.write([1].span) }
    }

    @Test("Writing to a full device fails")
    func noticesFullDevice() throws {
        let full = OpenFile(owning: unsafe open("/dev/full", O_WRONLY), path: "/dev/full")
        #expect(throws: StreamFailure(.writing, .system(ENOSPC))) { try full.write([1].span) }
    }
}

@Suite("Paths")
struct PathTests {
    @Test(
        "A path is split into folder and name",
        arguments: [
            ("a", ".", "a"), ("/a", "/", "a"), ("a/b", "a", "b"), ("/a/b/c", "/a/b", "c"), ("a/", "a", ""),
            ("ä/ö", "ä", "ö"),
        ])
    func splits(path: String, folder: String, name: String) {
        let parts = Path.split(path)
        #expect(parts.folder == folder)
        #expect(parts.name == name)
    }

    @Test("Missing parent folders are created with mode 0700, and existing ones keep their mode")
    func makesFolders() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path("a"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        try Path.makeFolder(folder.path("a/b/c/"))
        try Path.makeFolder(folder.path("a/b/c"))
        for (name, mode) in [("a", 0o755), ("a/b", 0o700), ("a/b/c", 0o700)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }

    @Test("Creating a folder fails if a file has the name of the folder or of a parent")
    func noticesFileInTheWay() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("f", [1])
        #expect(throws: FileFailure(path, .notFolder)) { try Path.makeFolder(path) }
        #expect(throws: FileFailure(path, .notFolder)) { try Path.makeFolder(path + "/below") }
    }

    @Test("A link that leads nowhere is missing, not a file in the place of a folder")
    func noFolder() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("f", [1])
        for (name, target) in [("nowhere", "missing"), ("to", "f"), ("loop", "loop"), ("here", ".")] {
            try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
        }
        for path in [file, folder.path("to")] { #expect(try Path.isNoFolder(path)) }
        for path in [folder.path("nowhere"), folder.path("missing"), file + "/x", folder.path("here")] {
            #expect(try !Path.isNoFolder(path), "\(path)")
        }
        #expect(throws: FileFailure.self) { try Path.isNoFolder(folder.path("loop")) }
    }

    @Test("A file in the place of a folder is named, wherever in the path it is")
    func namesFileInTheWay() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("f", [1])
        try Path.requireFolder(folder.path(""), named: ".")
        for (below, given, named) in [
            ("", "f", "f"), ("/a", "f/a", "f"), ("/a/b", "x/f/a/b", "x/f"), ("/a", "a", path),
        ] {
            #expect(throws: FileFailure(named, .notFolder)) { try Path.requireFolder(path + below, named: given) }
        }
        #expect(throws: FileFailure("missing", .notFound)) {
            try Path.requireFolder(folder.path("missing"), named: "missing")
        }
        let nothing: [UInt8] = []
        for anywhere in [true, false] {
            #expect(throws: FileFailure(path, .notFolder)) {
                try PrivateFile.create(path + "/new", nothing.span, anywhere: anywhere)
            }
        }
    }

    @Test("A dangling symbolic link counts as existing")
    func findsDanglingLinks() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "nowhere")
        #expect(try Path.exists(folder.path("link")))
        #expect(try Path.exists(folder.path))
        #expect(try !Path.exists(folder.path("nowhere")))
    }
}
