internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// The content of a frame with an item: the size of its line in four bytes, the highest first, its line, its secret.
enum ItemFrame {
    /// The largest content in bytes.
    static let limit = 4 + ItemLimits.metadataLineSize + ItemLimits.secretSize

    /// Replaces `content` by an item.
    static func encode(
        line: borrowing Span<UInt8>, secret: borrowing Span<UInt8>, into content: inout SecretBytes
    ) {
        content.removeAll()
        for shift in [24, 16, 8, 0] { content.append(UInt8(truncatingIfNeeded: line.count >> shift)) }
        content.append(line)
        content.append(secret)
    }

    /// Proves an item that a stranger may have sent, and returns it with the place of its secret.
    static func decode(_ content: borrowing Span<UInt8>) throws(FieldReader.Breach) -> (Item, Range<Int>) {
        var fields = FieldReader()
        let line = try fields.data(in: content)
        let secret = line.upperBound..<content.count
        let item: Item
        do throws(MalformedLine) {
            item = try ItemLine.decode(content.extracting(line))
        } catch {
            throw FieldReader.Breach("the line of an item: \(error.rule)")
        }
        guard item.secretSize ?? 0 == secret.count else {
            throw FieldReader.Breach("an item has another size than its line says")
        }
        do throws(ItemProblem) {
            try ItemCollection.requireImportable(item)
        } catch {
            throw FieldReader.Breach("an item: \(error.rule)")
        }
        return (item, secret)
    }
}
