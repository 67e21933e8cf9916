package import KCByteStreams
internal import Glibc
package import KCKeychainModel

/// A file of items, one JSON object per line, each with its secret in the clear (docs/json.md, "Import").
package struct ItemLines {
    private let source: any ByteSource
    /// When the file was last changed: the creation and modification date of items without dates.
    package let date: Timestamp
    private let file: OpenFile?
    /// The size of the file in bytes; nil for a source of unknown size.
    package let size: UInt64?
    /// The number of bytes read from the file so far; 0 for another source.
    package var bytesRead: UInt64 { file?.bytesRead ?? 0 }

    /// Why a line cannot be read.
    package enum Problem: Error, Hashable, Sendable {
        case line(ImportLine.Problem)
        /// It is longer than this number of bytes.
        case tooLong(limit: Int)
        /// Another line, whose number is given, has an item with the same unique key.
        case sameKey(line: Int)
        /// Another line, whose number is given, has the same UUID.
        case sameUUID(line: Int)
    }

    /// A line that cannot be read, by its number from 1.
    package struct Failure: Error, Hashable, Sendable {
        package let line: Int
        package let problem: Problem
    }

    /// The maximum length of a line: the largest item, with room for an encoding that escapes everything.
    private static let limit = ItemLimits.metadataLineSize + 6 * ItemLimits.secretSize

    /// Reads `file` from its start.
    package init(_ file: OpenFile) throws(FileFailure) {
        let date = ForeignFile.modified(try file.status())
        self.init(try FileSlice(whole: file), date: date, file, try file.size())
    }

    /// Reads `source`, which may be a pipe, once.
    ///
    /// - Parameter date: the creation and modification date of items without dates.
    package init(_ source: any ByteSource, date: Timestamp) {
        self.init(source, date: date, nil, nil)
    }

    private init(_ source: any ByteSource, date: Timestamp, _ file: OpenFile?, _ size: UInt64?) {
        self.source = source
        self.date = date
        self.file = file
        self.size = size
    }

    /// Passes each item to `body` with the number of its line; a line may hold several items, and blank lines are
    /// skipped.
    ///
    /// - Throws: `Failure`, `StreamFailure` (also `limitExceeded` beyond `ItemLimits.itemCount` items), `FileFailure`,
    ///   and what `body` throws.
    package func forEach(_ body: (Int, borrowing ImportLine) throws -> Void) throws {
        var lines = LineReader(AnySource(source: source))
        var count = 0
        while try Self.advance(&lines) {
            if lines.withLine(isBlank) { continue }
            let number = lines.number
            for range in try Self.items(lines) {
                count += 1
                if count > ItemLimits.itemCount {
                    throw StreamFailure(.reading, .limitExceeded("items", found: nil, allowed: ItemLimits.itemCount))
                }
                try body(number, Self.parse(lines, range))
            }
        }
    }

    /// The items in archive order, as the source of a backup.
    ///
    /// Items without dates get the date of the file's last change.
    ///
    /// - Parameters:
    ///   - folder: where an encrypted file is made if there are too many items for the memory; nil for none.
    ///   - step: called for each item.
    /// - Throws: as `forEach`; also `Failure` if two lines have the same unique key or UUID, and what writing the file
    ///   throws.
    package func collected(spoolingIn folder: String? = nil, step: () -> Void = {}) throws -> CollectedItems {
        var sorter = ItemSorter(date: date, spoolingIn: folder)
        try forEach { number, line in
            step()
            do throws(ItemProblem) {
                try sorter.add(line.draft, number: number, secret: line.secret)
            } catch {
                throw Failure(line: number, problem: .line(.item(error)))
            }
            try sorter.makeRoom()
        }
        do {
            return try sorter.finish()
        } catch ItemCollection.Clash.sameKey(let first, let second) {
            throw Failure(line: second, problem: .sameKey(line: first))
        } catch ItemCollection.Clash.sameUUID(let first, let second) {
            throw Failure(line: second, problem: .sameUUID(line: first))
        }
    }

    private static func advance(_ lines: inout LineReader<AnySource>) throws -> Bool {
        do throws(LineFailure) {
            return try lines.advance(limit: limit) != nil
        } catch {
            switch error {
            case .tooLong(let line): throw Failure(line: line, problem: .tooLong(limit: limit))
            case .stream(let failure): throw failure
            }
        }
    }

    private static func items(_ lines: borrowing LineReader<AnySource>) throws(Failure) -> [Range<Int>] {
        do throws(ImportLine.Problem) {
            return try lines.withLine { bytes throws(ImportLine.Problem) in try ImportLine.items(in: bytes) }
        } catch {
            throw Failure(line: lines.number, problem: .line(error))
        }
    }

    private static func parse(
        _ lines: borrowing LineReader<AnySource>, _ range: Range<Int>
    ) throws(Failure) -> ImportLine {
        do throws(ImportLine.Problem) {
            return try lines.withLine { bytes throws(ImportLine.Problem) in try ImportLine(bytes.extracting(range)) }
        } catch {
            throw Failure(line: lines.number, problem: .line(error))
        }
    }
}

/// True if a line contains only white space.
private func isBlank(_ line: borrowing Span<UInt8>) -> Bool {
    line.indices.allSatisfy { [0x20, 0x09, 0x0d].contains(line[$0]) }
}

/// A byte source of any type.
private struct AnySource: ByteSource {
    var source: any ByteSource

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        try source.read(into: &output)
    }
}
