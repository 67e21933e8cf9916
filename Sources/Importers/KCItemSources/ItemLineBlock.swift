internal import KCByteStreams
internal import KCKeychainModel

/// Lines of a file of items that are parsed together, beside those of another block.
final class ItemLineBlock {
    private var text = SecretBytes(capacity: sizeInBytes)
    private var lines: [(number: Int, end: Int)] = []
    /// The items of the lines.
    private(set) var records: PackedRecords
    /// Why a line cannot be read; the items of those before it are there.
    private var failure: (any Error)?

    // Large enough to make the handover cheap, small enough for the processor's caches.
    private static let sizeInBytes = 131_072

    /// Creates an empty block.
    ///
    /// - Parameter date: the creation and modification date of items without dates.
    init(date: Timestamp) {
        records = PackedRecords(date: date)
    }

    /// Replaces the lines by the next ones; blank ones are skipped.
    ///
    /// - Parameters:
    ///   - advance: moves to the next line; false at the end.
    ///   - append: passes the line on, with its number.
    /// - Returns: false if no lines follow.
    func fill<Source: ByteSource & ~Copyable>(
        from source: inout LineReader<Source>, _ advance: (inout LineReader<Source>) throws -> Bool
    ) -> Bool {
        text.removeAll()
        lines.removeAll(keepingCapacity: true)
        records.removeAll()
        do {
            while text.count < Self.sizeInBytes / 2 {
                guard try advance(&source) else { return false }
                var start = 0
                if source.number == 1, source.withLine({ $0.starts(with: byteOrderMark) }) {
                    start = byteOrderMark.utf8.count
                }
                if source.withLine({ isBlank($0.extracting(start..<$0.count)) }) { continue }
                source.withLine { text.append($0.extracting(start..<$0.count)) }
                lines.append((source.number, text.count))
            }
            return true
        } catch {
            failure = error
            return false
        }
    }

    /// Makes items of the lines, up to one that cannot be read.
    func parse() {
        text.withBytes { bytes in
            var start = 0
            for (number, end) in lines {
                do throws(ImportLine.Problem) {
                    try parse(bytes.extracting(start..<end), number)
                } catch {
                    failure = ItemLines.Failure(line: number, problem: .line(error))
                    return
                }
                start = end
            }
        }
    }

    private func parse(_ bytes: borrowing Span<UInt8>, _ number: Int) throws(ImportLine.Problem) {
        for range in try ImportLine.items(in: bytes) {
            let line = try ImportLine(bytes.extracting(range))
            do throws(ItemProblem) {
                try records.add(line.draft, number: number, secret: line.secret)
            } catch {
                throw .item(error)
            }
        }
    }

    /// Throws if a line could not be read.
    func requireWhole() throws { if let failure { throw failure } }
}

/// The mark that some programs write at the beginning of UTF-8; it is no text.
package let byteOrderMark = "\u{feff}"

/// True if a line contains only white space.
private func isBlank(_ line: borrowing Span<UInt8>) -> Bool {
    line.indices.allSatisfy { [0x20, 0x09, 0x0d].contains(line[$0]) }
}
