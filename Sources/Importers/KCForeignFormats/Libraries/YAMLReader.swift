internal import CKCYAML
internal import KCByteStreams

/// Why text is not accepted as YAML.
enum YAMLFailure: Error, Hashable, Sendable {
    /// A rule of YAML is broken; the text is the library's and never contains foreign text. Lines count from 1.
    case malformed(String, line: Int)
    /// The library is missing, or has no memory.
    case library(StreamFailure)
}

/// A part of a YAML stream, as it is found.
enum YAMLEvent: Hashable, Sendable {
    case documentStart
    case documentEnd
    /// A text, which is in `YAMLReader.text` until the next event.
    case scalar(YAMLNode, isPlain: Bool)
    case sequenceStart(YAMLNode)
    case sequenceEnd
    case mappingStart(YAMLNode)
    case mappingEnd
    /// The node with this anchor again.
    case alias(String)
}

/// The properties that a node of any kind may have.
struct YAMLNode: Hashable, Sendable {
    let anchor: String?
    /// The tag, in full (`tag:yaml.org,2002:str`).
    let tag: String?
}

/// Reads a YAML stream in UTF-8 with libyaml, event by event; anchors, tags and types are up to the caller.
///
/// ```swift
/// let reader = try YAMLReader(bytes)
/// while let event = try reader.next() { … }
/// ```
@safe final class YAMLReader {
    private let library: cyaml_functions
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: Input
    /// The text of the last scalar.
    private(set) var text = SecretBytes(capacity: 256)
    /// The line of the last event, from 1.
    private(set) var line = 1

    /// Begins a stream.
    init(_ bytes: consuming SecretBytes) throws(YAMLFailure) {
        do throws(StreamFailure) {
            library = try LibYAML.load()
        } catch {
            throw .library(error)
        }
        input = Input(bytes)
        // The parser holds only the address of the input, which outlives it.
        let context = unsafe Unmanaged.passUnretained(input).toOpaque()
        let opened = unsafe withUnsafePointer(to: library) { unsafe cyaml_open($0, Input.read, context) }
        guard let parser = unsafe opened else { throw .library(.outOfMemory(.reading)) }
        unsafe self.parser = unsafe parser
    }

    deinit {
        let parser = unsafe parser
        unsafe withUnsafePointer(to: library) { unsafe cyaml_close($0, parser) }
    }

    /// The next event; nil at the end.
    ///
    /// After an error, the stream is beyond reading.
    func next() throws(YAMLFailure) -> YAMLEvent? {
        while true {
            var found = unsafe cyaml_event()
            let parser = unsafe parser
            let isRead = unsafe withUnsafePointer(to: library) { unsafe cyaml_next($0, parser, &found) }
            guard isRead else { throw problem() }
            defer { unsafe withUnsafePointer(to: library) { unsafe cyaml_done($0, &found) } }
            line = unsafe Int(found.line)
            let node = unsafe YAMLNode(anchor: Self.text(found.anchor), tag: Self.text(found.tag))
            switch unsafe found.event.type {
            case YAML_STREAM_START_EVENT: continue
            case YAML_DOCUMENT_START_EVENT: return .documentStart
            case YAML_DOCUMENT_END_EVENT: return .documentEnd
            case YAML_ALIAS_EVENT: return .alias(node.anchor ?? "")
            case YAML_SEQUENCE_START_EVENT: return .sequenceStart(node)
            case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
            case YAML_MAPPING_START_EVENT: return .mappingStart(node)
            case YAML_MAPPING_END_EVENT: return .mappingEnd
            case YAML_SCALAR_EVENT:
                text.removeAll()
                unsafe text.append(UnsafeBufferPointer(start: found.text, count: found.length).span)
                return unsafe .scalar(node, isPlain: found.is_plain)
            default: return nil
            }
        }
    }

    private func problem() -> YAMLFailure {
        let parser = unsafe parser.pointee
        if unsafe parser.error == YAML_MEMORY_ERROR { return .library(.outOfMemory(.reading)) }
        let rule = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "it cannot be read"
        return unsafe .malformed(rule, line: Int(max(parser.problem_mark.line, parser.mark.line)) + 1)
    }

    private static func text(_ pointer: UnsafePointer<UInt8>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
    }
}

/// Hands the bytes of a stream to the library.
private final class Input {
    private let bytes: SecretBytes
    private var offset: Int

    init(_ bytes: consuming SecretBytes) {
        // The library counts a byte order mark as a column of the first line, which then is indented.
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        offset = bytes.withBytes { $0.matches(mark) } ? mark.count : 0
        self.bytes = bytes
    }

    private func read(_ room: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let count = min(room.count, bytes.count - offset)
        bytes.withBytes { span in
            for index in 0..<count { unsafe room[index] = span[offset + index] }
        }
        offset += count
        return count
    }

    static let read:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<Int>?
        ) -> Int32 = { context, room, size, count in
            guard let context = unsafe context else { return 0 }
            let input = unsafe Unmanaged<Input>.fromOpaque(context).takeUnretainedValue()
            unsafe count?.pointee = unsafe input.read(UnsafeMutableBufferPointer(start: room, count: size))
            return 1
        }
}
