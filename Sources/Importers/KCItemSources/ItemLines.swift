internal import Glibc
package import KCByteStreams
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
        /// The line is longer than this number of bytes.
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

    /// The items in archive order, as the source of a backup.
    ///
    /// Items without dates get the date of the file's last change.
    ///
    /// - Parameters:
    ///   - folder: where an encrypted file is made if there are too many items for the memory; nil for none.
    ///   - step: called for each item.
    /// - Throws: `Failure` (also if two lines have the same unique key or UUID), `StreamFailure` (also `limitExceeded` beyond
    ///   `ItemLimits.itemCount` items), `FileFailure`, `CryptographyFailure`.
    package func collected(spoolingIn folder: String? = nil, step: () -> Void = {}) throws -> CollectedItems {
        var sorter = ItemSorter(spoolingIn: folder)
        try forEachBlock { block in
            for _ in block.records.entries { step() }
            try sorter.add(block.records)
            guard sorter.count <= ItemLimits.itemCount else {
                throw StreamFailure(.reading, .limitExceeded("items", found: nil, allowed: ItemLimits.itemCount))
            }
            try block.requireWhole()
        }
        do {
            return try sorter.finish()
        } catch ItemCollection.Clash.sameKey(let first, let second) {
            throw Failure(line: second, problem: .sameKey(line: first))
        } catch ItemCollection.Clash.sameUUID(let first, let second) {
            throw Failure(line: second, problem: .sameUUID(line: first))
        }
    }

    /// Passes blocks of parsed lines to `body`, in order; two of them are parsed at the same time.
    private func forEachBlock(_ body: (ItemLineBlock) throws -> Void) throws {
        var lines = LineReader(AnySource(source: source))
        let blocks = [ItemLineBlock(date: date), ItemLineBlock(date: date)]
        var hasNext = blocks[0].fill(from: &lines, Self.advance)
        // A file of one block needs no threads.
        let workers = blocks.map { _ in Worker<ItemLineBlock>(inBackground: hasNext) { $0.parse() } }
        workers[0].start(blocks[0])
        var turn = 0
        while true {
            let isLast = !hasNext
            if !isLast {
                hasNext = blocks[1 - turn].fill(from: &lines, Self.advance)
                workers[1 - turn].start(blocks[1 - turn])
            }
            workers[turn].wait()
            try body(blocks[turn])
            if isLast { return }
            turn = 1 - turn
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
}

/// A byte source of any type.
private struct AnySource: ByteSource {
    var source: any ByteSource

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        try source.read(into: &output)
    }
}
