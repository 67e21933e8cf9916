package import Glibc
package import KCByteStreams
package import KCKeychainModel

/// An input to read: a file, whose content is in memory, or a folder.
package struct ForeignInput: Sendable {
    /// Whether the input is a file or a folder.
    package enum Content: Sendable {
        case file(ForeignFile)
        case folder
    }

    /// The path, absolute or relative to the working folder; `-` for a pipe.
    package let path: String
    package let content: Content
    /// The files in the same folder.
    package let neighbours: any ForeignNeighbours

    /// Describes an input.
    ///
    /// - Parameter neighbours: nil for those that the path leads to.
    package init(path: String, _ content: Content, neighbours: (any ForeignNeighbours)? = nil) {
        self.path = path
        self.content = content
        self.neighbours = neighbours ?? NeighboursOnDisk(path: path)
    }

    /// The folder that it is, or that it is in, without links; nil for a pipe.
    package var realFolder: String? {
        switch content {
        case .file: neighbours.realFolder
        case .folder: Path.real(path) ?? path
        }
    }

    /// The file; nil for a folder.
    package var file: ForeignFile? {
        if case .file(let file) = content { file } else { nil }
    }

    /// The file with the given name in the same folder; nil if there is none.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package func sibling(_ name: String) throws -> ForeignFile? {
        try neighbours.open(name).map { try ForeignFile(reading: $0) }
    }
}

/// The files in the folder that another program's file, or folder, is in.
package protocol ForeignNeighbours: Sendable {
    /// The path of the folder without links; nil for a pipe, which is in none.
    var realFolder: String? { get }

    /// Opens a regular file; nil if there is none of this name.
    func open(_ name: String) throws(FileFailure) -> OpenFile?
}

/// The files that are beside a path.
private struct NeighboursOnDisk: ForeignNeighbours {
    private let folder: String?

    init(path: String) {
        folder = path.exact == InputFile.standardInputName.exact ? nil : Path.split(path).folder
    }

    var realFolder: String? { folder.map { Path.real($0) ?? $0 } }

    func open(_ name: String) throws(FileFailure) -> OpenFile? {
        guard let folder else { return nil }
        do throws(FileFailure) {
            return try OpenFile.reading(folder + "/" + name)
        } catch {
            if error.problem == .notFound { return nil }
            throw error
        }
    }
}

/// A file of another program, read once into wiped memory so that it cannot change between two reads.
package final class ForeignFile: Sendable {
    /// The last component of its path; foreign text.
    package let name: String
    package let bytes: SecretBytes
    /// When it was last changed.
    package let modified: Timestamp
    /// True if group or others can read it.
    package let isReadableByOthers: Bool

    /// The maximum size in bytes: far above any real file, and what the program is willing to hold in memory.
    package static let sizeLimit = 1 << 30

    /// Holds bytes that came through a pipe.
    package init(name: String, _ bytes: consuming SecretBytes, modified: Timestamp) {
        self.name = name
        self.bytes = bytes
        self.modified = modified
        isReadableByOthers = false
    }

    /// Reads a file from its start to its end.
    ///
    /// - Throws: `FileFailure` (`tooLarge`, `system`), `StreamFailure` (`malformed` if it changes during the read).
    package init(reading file: OpenFile) throws {
        let status = try file.status()
        let size = try file.size()
        guard size <= Self.sizeLimit else { throw FileFailure(file.path, .tooLarge(limit: Self.sizeLimit)) }
        name = Path.split(file.path).name
        bytes = try Self.contents(of: file, size: Int(size))
        try Self.requireUnchanged(file, since: status)
        modified = Self.modified(status)
        isReadableByOthers = Self.isReadableByOthers(status)
    }

    /// The bytes of a file, in memory of their size: memory that grows is copied, and may be twice as large in the end.
    private static func contents(of file: OpenFile, size: Int) throws(StreamFailure) -> SecretBytes {
        var slice = FileSlice(file, offset: 0, length: UInt64(size))
        var bytes = SecretBytes(capacity: size)
        while bytes.count < size {
            try bytes.append(upTo: size - bytes.count) { output throws(StreamFailure) in
                try slice.read(into: &output)
            }
        }
        return bytes
    }

    /// Refuses a file that was written while it was read, since part of what was read may be old.
    ///
    /// - Throws: `FileFailure`, `StreamFailure` (`malformed`).
    static func requireUnchanged(_ file: OpenFile, since status: stat) throws {
        let now = try file.status()
        guard now.st_size == status.st_size, now.st_mtim.tv_sec == status.st_mtim.tv_sec,
            now.st_mtim.tv_nsec == status.st_mtim.tv_nsec
        else { throw StreamFailure(.reading, .malformed("it was changed at the same time")) }
    }

    /// True if group or others can read a file.
    package static func isReadableByOthers(_ status: stat) -> Bool { status.st_mode & 0o044 != 0 }

    /// When a file was last changed; the reference date if no item can have that date.
    package static func modified(_ status: stat) -> Timestamp {
        let (whole, isTooLarge) = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflow) = whole.addingReportingOverflow(Int64(status.st_mtim.tv_nsec) / 1_000)
        return isTooLarge || overflow ? .reference : Timestamp(microseconds: sum) ?? .reference
    }

    /// True if the file contains only white space.
    package var isBlank: Bool {
        bytes.withBytes { span in span.indices.allSatisfy { [0x20, 0x09, 0x0d, 0x0a].contains(span[$0]) } }
    }

    /// True if the file begins with these bytes.
    package func starts(with prefix: some Collection<UInt8>) -> Bool {
        bytes.withBytes { span in
            span.count >= prefix.count && zip(span.indices, prefix).allSatisfy { span[$0] == $1 }
        }
    }
}

/// Streams the bytes of a file.
package struct ForeignFileSource: ByteSource {
    private let file: ForeignFile
    private var offset = 0

    /// Begins at the start of `file`.
    package init(file: ForeignFile) {
        self.file = file
    }

    package mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        let end = min(file.bytes.count, offset + output.freeCapacity)
        file.bytes.withBytes { bytes in
            for index in offset..<end { output.append(bytes[index]) }
        }
        offset = end
    }
}
