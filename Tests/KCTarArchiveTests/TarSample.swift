import Foundation
import KCByteStreams
import KCTarArchive
import KCTestSupport

/// A small archive, and helpers to corrupt it.
enum TarSample {
    /// Two members, one of them with padding: header, data block, header, two end blocks.
    static func small() throws(StreamFailure) -> [UInt8] {
        var writer = try TarWriter(to: MemorySink(), modified: 1_700_000_000)
        try writer.append("first.txt", [UInt8](repeating: 0x41, count: dataLength))
        try writer.append("second", [])
        return try writer.finish()
    }

    /// The number of data bytes in the first member.
    static let dataLength = 37

    /// `bytes` in an open unnamed file.
    static func file(_ bytes: [UInt8]) throws -> OpenFile {
        let unnamed = try UnnamedFile(inFolder: FileManager.default.temporaryDirectory.path())
        try unnamed.file.write(bytes.span)
        return unnamed.file
    }

    /// The failure when reading `bytes`, or nil if they are accepted.
    static func failure(of bytes: [UInt8]) throws -> StreamFailure? {
        let file = try file(bytes)
        do {
            _ = try TarDirectory.read(file)
            return nil
        } catch {
            return error
        }
    }

    /// `archive` with `bytes` at `offset` of the first header and the checksum updated to match.
    static func changed(_ archive: [UInt8], at offset: Int, _ bytes: [UInt8]) -> [UInt8] {
        var changed = archive
        changed.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        changed.replaceSubrange(148..<156, with: [UInt8](repeating: 0x20, count: 8))
        let sum = changed[0..<512].reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8)
        let spelling = String(repeating: "0", count: 6 - digits.count) + digits + "\0 "
        changed.replaceSubrange(148..<156, with: Array(spelling.utf8))
        return changed
    }
}
