internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Turns a YAML stream into a JSON list of its documents, in wiped memory.
///
/// Each scalar is a string with the text that the file has, whatever YAML would take it for (`yes`, `0x10`); only a missing
/// value and `null` are null. An alias is replaced by a copy of what it stands for.
struct YAMLAsJSON: ~Copyable {
    /// The maximum size of a file in bytes: a cluster's store holds 8 GB at most, and its Secrets a small part of that.
    private static let sizeLimit = 64 << 20
    /// The maximum size of all copies that aliases make in bytes, so that a small file does not become a large one.
    private static let aliasLimit = 16 << 20
    /// How deeply lists and mappings may be nested, with the list of documents: as in JSON.
    private static let depthLimit = 31

    /// A list or a mapping that has not ended.
    private struct Frame {
        let isMapping: Bool
        let start: Int
        let anchor: ExactText?
        var isEmpty = true
        /// True if the next node of a mapping is a key.
        var expectsKey = true
        var keys: Set<ExactText> = []
    }

    private let reader: YAMLReader
    private var json = SecretBytes(capacity: 4_096)
    private var frames: [Frame] = []
    /// The places of nodes with an anchor; nil while the node has not ended.
    private var anchors: [ExactText: Range<Int>?] = [:]
    private var copied = 0
    private var documents = 0

    /// The documents of a file.
    ///
    /// - Throws: `ForeignFailure` (`damagedLine`, `limit`), `StreamFailure` without the library.
    static func convert(_ bytes: borrowing SecretBytes) throws -> SecretBytes {
        guard bytes.count <= sizeLimit else {
            throw ForeignFailure.limit("bytes", found: UInt64(bytes.count), allowed: UInt64(sizeLimit))
        }
        do {
            return try YAMLAsJSON(try YAMLReader(bytes.copy())).finish()
        } catch let failure as YAMLFailure {
            switch failure {
            case .malformed(let rule, let line): throw ForeignFailure.damagedLine(line, rule)
            case .library(let failure): throw failure
            }
        }
    }

    private init(_ reader: YAMLReader) { self.reader = reader }

    private consuming func finish() throws -> SecretBytes {
        json.append(UInt8(ascii: "["))
        while let event = try reader.next() {
            switch event {
            case .documentStart:
                anchors = [:]
                if documents > 0 { json.append(UInt8(ascii: ",")) }
                documents += 1
            case .documentEnd: break
            case .scalar(let node, let isPlain): try add(scalar: node, isPlain: isPlain)
            case .alias(let name): try add(alias: name.exact)
            case .sequenceStart(let node): try begin(node, isMapping: false)
            case .mappingStart(let node): try begin(node, isMapping: true)
            case .sequenceEnd: end("]")
            case .mappingEnd: end("}")
            }
        }
        json.append(UInt8(ascii: "]"))
        return json
    }

    private func damaged(_ rule: String) -> ForeignFailure { .damagedLine(reader.line, rule) }

    /// Writes what separates a value from the one before it.
    private mutating func separate() {
        guard let last = frames.indices.last else { return }
        if !frames[last].isMapping {
            if !frames[last].isEmpty { json.append(UInt8(ascii: ",")) }
            frames[last].isEmpty = false
        } else {
            frames[last].expectsKey = true
        }
    }

    private var expectsKey: Bool { frames.last.map { $0.isMapping && $0.expectsKey } ?? false }

    private mutating func begin(_ node: YAMLNode, isMapping: Bool) throws(ForeignFailure) {
        if expectsKey { throw damaged("a key is not text") }
        let standard = isMapping ? "tag:yaml.org,2002:map" : "tag:yaml.org,2002:seq"
        guard node.tag == nil || node.tag?.exact == standard.exact else {
            throw damaged("the tag of a value is not supported")
        }
        guard frames.count < Self.depthLimit else {
            throw .limit("levels", found: UInt64(frames.count + 1), allowed: UInt64(Self.depthLimit))
        }
        separate()
        if let anchor = node.anchor { anchors[anchor.exact] = .some(nil) }
        frames.append(Frame(isMapping: isMapping, start: json.count, anchor: node.anchor?.exact))
        json.append(UInt8(ascii: isMapping ? "{" : "["))
    }

    private mutating func end(_ mark: Unicode.Scalar) {
        json.append(UInt8(ascii: mark))
        guard let frame = frames.popLast(), let anchor = frame.anchor else { return }
        anchors[anchor] = frame.start..<json.count
    }

    private mutating func add(scalar node: YAMLNode, isPlain: Bool) throws(ForeignFailure) {
        if expectsKey { return try add(key: node, isPlain: isPlain) }
        separate()
        let start = json.count
        switch node.tag?.exact {
        case nil where isPlain && isNull: CanonicalJSON.literal("null", into: &json)
        case nil, "!", "tag:yaml.org,2002:str": reader.text.withBytes { CanonicalJSON.string($0, into: &json) }
        case "tag:yaml.org,2002:binary":
            guard let text = binary else { throw damaged("a binary value is not text in base64") }
            text.withBytes { CanonicalJSON.string($0, into: &json) }
        default: throw damaged("the tag of a value is not supported")
        }
        if let anchor = node.anchor { anchors[anchor.exact] = start..<json.count }
    }

    private mutating func add(key node: YAMLNode, isPlain: Bool) throws(ForeignFailure) {
        guard node.tag == nil || node.tag?.exact == "tag:yaml.org,2002:str".exact || node.tag?.exact == "!".exact else {
            throw damaged("the tag of a key is not supported")
        }
        guard let key = text, let last = frames.indices.last else { throw damaged("a key is not text") }
        if isPlain, node.tag == nil, key.exact == "<<".exact { throw damaged("merge keys ('<<') are not supported") }
        guard frames[last].keys.insert(key.exact).inserted else { throw damaged("a key occurs twice") }
        if !frames[last].isEmpty { json.append(UInt8(ascii: ",")) }
        frames[last].isEmpty = false
        frames[last].expectsKey = false
        CanonicalJSON.string(key, into: &json)
        json.append(UInt8(ascii: ":"))
    }

    private mutating func add(alias name: ExactText) throws(ForeignFailure) {
        if expectsKey { throw damaged("a key is an alias") }
        guard let known = anchors[name] else { throw damaged("an alias has no anchor") }
        guard let range = known else { throw damaged("an alias is inside of what it stands for") }
        copied += range.count
        guard copied <= Self.aliasLimit else {
            throw .limit("bytes of aliases", found: UInt64(copied), allowed: UInt64(Self.aliasLimit))
        }
        separate()
        let piece = json.withBytes { SecretBytes($0.extracting(range)) }
        piece.withBytes { json.append($0) }
    }

    /// True for a text that YAML takes for null where it stands without quotation marks.
    private var isNull: Bool {
        reader.text.withBytes { text in
            ["", "~", "null", "Null", "NULL"].contains { text.matches(Array($0.utf8)) && text.count == $0.utf8.count }
        }
    }

    /// A key, which is not secret.
    private var text: String? {
        reader.text.withBytes { span in String(validating: span.indices.map { span[$0] }, as: UTF8.self) }
    }

    /// The content of a scalar in base64, if it is text.
    private var binary: SecretBytes? {
        var packed = SecretBytes(capacity: reader.text.count)
        reader.text.withBytes { span in
            for index in span.indices where ![0x20, 0x09, 0x0a, 0x0d].contains(span[index]) {
                packed.append(span[index])
            }
        }
        var bytes = SecretBytes(capacity: packed.count)
        guard packed.withBytes({ Base64.decode($0, into: &bytes) }), bytes.isUTF8 else { return nil }
        return bytes
    }
}
