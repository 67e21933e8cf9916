internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// An Apple property list in memory, whose texts and data may be secret: binary, XML, or the DER of keychain items.
///
/// Only values reachable from the root are read, and a value referred to twice counts twice, so that a small file
/// cannot become a large tree.
final class PropertyList {
    /// A value; texts (as UTF-8) and data are ranges of the list's own bytes.
    enum Node {
        case dictionary([(name: String, value: Int)])
        case array([Int])
        case text(Range<Int>)
        case data(Range<Int>)
        case number(Int64)
        /// A floating-point number.
        case real(Double)
        case date(Timestamp)
        case flag(Bool)
        /// A reference in an object archive.
        case uid(Int)
        case null
    }

    /// The maximum depth of dictionaries and arrays.
    static let depthLimit = 32
    /// The maximum number of values, so that many small ones do not exhaust the memory.
    static let nodeLimit = 1_000_000

    /// The maximum length of a member's name in bytes; real ones have tens.
    private static let nameLimit = 4_096

    private(set) var nodes: [Node] = []
    private var bytes = SecretBytes(capacity: 4_096)
    private(set) var root = 0

    init() {}

    /// Parses a binary or XML list.
    convenience init(_ content: borrowing Span<UInt8>) throws(ForeignFailure) {
        self.init()
        if content.matches("bplist00".utf8) {
            var reader = try BinaryPropertyList(content)
            root = try reader.read(into: self, content)
        } else {
            root = try XMLPropertyList.read(content, into: self)
        }
    }

    /// Parses the DER of a keychain item.
    convenience init(der content: borrowing Span<UInt8>) throws(ForeignFailure) {
        self.init()
        root = try DERPropertyList.read(content, into: self)
    }

    // MARK: Building

    func add(_ node: Node) throws(ForeignFailure) -> Int {
        guard nodes.count < Self.nodeLimit else {
            throw .limit("values", found: UInt64(nodes.count) + 1, allowed: UInt64(Self.nodeLimit))
        }
        nodes.append(node)
        return nodes.count - 1
    }

    /// Keeps bytes, and returns their position.
    func keep(_ span: borrowing Span<UInt8>) -> Range<Int> {
        let start = bytes.count
        bytes.append(span)
        return start..<bytes.count
    }

    /// Keeps one scalar as UTF-8.
    func keep(_ scalar: Unicode.Scalar) {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { bytes.append(byte) }
    }

    /// The position of the next byte to be kept.
    var end: Int { bytes.count }

    /// The name of a member, from the node of its text.
    ///
    /// - Parameter names: the names so far, since a binary list may refer to one many times.
    func name(_ node: Int, _ names: inout [Range<Int>: String]) throws(ForeignFailure) -> String {
        guard case .text(let range) = nodes[node] else { throw .damaged("a name is not text") }
        if let name = names[range] { return name }
        guard range.count <= Self.nameLimit else {
            throw .limit("bytes of a name", found: UInt64(range.count), allowed: UInt64(Self.nameLimit))
        }
        let name = bytes.withBytes { $0.text(range) }
        guard let name else { throw .damaged("a name is not UTF-8") }
        names[range] = name
        return name
    }

    // MARK: Reading

    /// The members of a dictionary; none for anything else.
    func members(_ node: Int) -> [(name: String, value: Int)] {
        if case .dictionary(let members) = nodes[node] { members } else { [] }
    }

    /// A member of a dictionary; nil if there is none.
    func member(_ name: String, of node: Int?) -> Int? {
        node.flatMap { members($0).first { $0.name.exact == name.exact }?.value }
    }

    /// The values of an array; nil for anything else.
    func values(_ node: Int?) -> [Int]? {
        guard let node, case .array(let values) = nodes[node] else { return nil }
        return values
    }

    /// A text that is not a secret; nil for anything else.
    func text(_ node: Int?) -> String? {
        guard let node, case .text(let range) = nodes[node] else { return nil }
        return bytes.withBytes { $0.text(range) }
    }

    /// Data that is not a secret; nil for anything else.
    func data(_ node: Int?) -> [UInt8]? {
        guard let node, case .data(let range) = nodes[node] else { return nil }
        return bytes.withBytes { $0.array(range) }
    }

    /// Data or text; nil for anything else.
    func secret(_ node: Int?) -> SecretBytes? {
        guard let node else { return nil }
        switch nodes[node] {
        case .data(let range), .text(let range): return bytes.withBytes { SecretBytes($0.extracting(range)) }
        default: return nil
        }
    }

    /// A whole number, or 1 for true and 0 for false; nil for anything else.
    func number(_ node: Int?) -> Int64? {
        guard let node else { return nil }
        switch nodes[node] {
        case .number(let number): return number
        case .flag(let flag): return flag ? 1 : 0
        default: return nil
        }
    }

    func uid(_ node: Int?) -> Int? {
        guard let node, case .uid(let uid) = nodes[node] else { return nil }
        return uid
    }
}
