internal import KCByteStreams

/// Checks the journal next to a keychain before SQLite opens it.
///
/// SQLite rolls back a hot journal when it opens the file, and then deletes the *super-journal* that the journal names,
/// which can be any file of this user (sqlite.org/fileformat.html, 3). A super-journal belongs to a transaction over
/// several databases, which this program never makes, so a journal that names one was written by another program.
enum JournalCheck {
    // The fields of sqlite.org/fileformat.html, 3: magic, number of records, nonce, initial size, sector size, page
    // size.
    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    private static let headerSize: UInt64 = 28
    // The end of a journal that names a super-journal: length of the name, checksum, magic.
    private static let trailerSize: UInt64 = 16

    /// True if SQLite would ignore the journal, or if it looks like one of an interrupted change by this program.
    ///
    /// - Throws: `file` if it cannot be read.
    static func isHarmless(_ path: String) throws(KeychainStoreError) -> Bool {
        do {
            let file = try OpenFile.reading(path)
            let size = try file.size()
            return try !namesSuperJournal(file, size) && (isCold(file) || hasOurHeader(file, size))
        } catch let failure as FileFailure {
            // The process that was changing the keychain has finished in the meantime.
            if failure.problem == .notFound { return true }
            throw .file(failure)
        } catch let failure as StreamFailure {
            throw .file(FileFailure(path, .system(failure.systemCode ?? 5, doing: "reading")))
        } catch {
            throw .interrupted
        }
    }

    /// Looks for the name at the end of the file, as SQLite does, wherever the headers say that the journal ends.
    ///
    /// The checksum before the magic is ignored: how SQLite computes it depends on the processor.
    private static func namesSuperJournal(_ file: OpenFile, _ size: UInt64) throws -> Bool {
        guard size >= trailerSize else { return false }
        let trailer = try bytes(of: file, at: size - trailerSize, count: Int(trailerSize))
        return Array(trailer.suffix(magic.count)) == magic && number(trailer, at: 0) != 0
    }

    /// True for a journal that is empty or begins with a zero byte, which SQLite never rolls back.
    ///
    /// A journal of this program begins with a zero byte until its pages are durable.
    private static func isCold(_ file: OpenFile) throws -> Bool {
        try bytes(of: file, at: 0, count: 1).first ?? 0 == 0
    }

    private static func hasOurHeader(_ file: OpenFile, _ size: UInt64) throws -> Bool {
        let header = try bytes(of: file, at: 0, count: Int(headerSize))
        guard header.count == headerSize, header.starts(with: magic) else { return false }
        return isPowerOfTwo(number(header, at: 20), within: 32...65_536)
            && isPowerOfTwo(number(header, at: 24), within: 512...65_536)
    }

    private static func bytes(of file: OpenFile, at offset: UInt64, count: Int) throws -> [UInt8] {
        try [UInt8](capacity: count) { output throws in try file.read(at: offset, upTo: count, into: &output) }
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func isPowerOfTwo(_ number: UInt32, within range: ClosedRange<UInt32>) -> Bool {
        range.contains(number) && number & (number - 1) == 0
    }
}
