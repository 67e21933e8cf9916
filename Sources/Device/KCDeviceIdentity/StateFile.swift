package import KCByteStreams
package import KCCryptography

/// A text file in which this device keeps what only it may change: jobs, catalogues, records of runs.
///
/// The first line names the kind, the version and the device. The last line is an HMAC-SHA-256 of all bytes before it,
/// under a key of the device for this kind and subject, so that no other program can change the file, cut it short or
/// give it the name of another unnoticed. Putting back an older version is not detected.
///
/// ```
/// kcbackup job 1 KC-ABCD-EFGH-IJKL-MNOP-QRST
/// time daily
/// mac 5f8e…
/// ```
package struct StateFile: Sendable {
    /// The kind of contents of a file.
    package struct Kind: Hashable, Sendable {
        /// The name, in lower-case words.
        let name: String
        /// The current version of the lines.
        let version: Int
        /// The maximum size in bytes.
        let sizeLimit: Int

        /// Describes a kind of file.
        package init(_ name: String, version: Int, sizeLimit: Int = PrivateFile.sizeLimit) {
            self.name = name
            self.version = version
            self.sizeLimit = sizeLimit
        }
    }

    /// The path of the file, which need not exist.
    package let path: String
    private let kind: Kind
    private let subject: String
    private let device: DeviceKey

    /// Locates a file.
    ///
    /// - Parameter subject: what the file is about, such as the name of a job; a file about something else is refused.
    package init(_ path: String, _ kind: Kind, about subject: String, of device: DeviceKey) {
        self.path = path
        self.kind = kind
        self.subject = subject
        self.device = device
    }

    /// Returns the lines between the first and the last; nil if there is no file.
    package func read() throws(StateFileFailure) -> [UInt8]? {
        let text: [UInt8]
        do {
            text = try PrivateFile.read(path, limit: kind.sizeLimit).withBytes { span in span.indices.map { span[$0] } }
        } catch {
            if error.problem == .notFound { return nil }
            throw .file(error)
        }
        guard let end = text.firstIndex(of: lineFeed), text.count >= end + 1 + Self.lastLineLength else {
            throw .altered(path: path)
        }
        let title = String(decoding: text[..<end], as: UTF8.self)
        let body = text[(end + 1)..<(text.count - Self.lastLineLength)]
        let words = title.utf8.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard constantTimeEqual(try lastLine(after: text[..<body.endIndex]), Array(text[body.endIndex...])) else {
            if let owner = words.last.flatMap(DeviceID.init), owner != device.id, title == self.title(owner) {
                throw .otherDevice(path: path, owner)
            }
            throw .altered(path: path)
        }
        // The MAC shows that this device wrote it, so any other line comes from another version of the program.
        guard title == self.title(device.id) else { throw .otherFormat(path: path) }
        return Array(body)
    }

    /// Creates or replaces the file, durably.
    package func write(_ body: [UInt8]) throws(StateFileFailure) {
        let text = try encode(body)
        try failing(as: StateFileFailure.file, PrivateFile.replace(path, text.span))
    }

    /// Creates the file; an existing one is left alone.
    ///
    /// - Throws: `StateFileFailure` (`file`, also with `exists`; `cryptography`).
    package func create(_ body: [UInt8]) throws(StateFileFailure) {
        let text = try encode(body)
        try failing(as: StateFileFailure.file, PrivateFile.create(path, text.span))
    }

    private func encode(_ body: [UInt8]) throws(StateFileFailure) -> [UInt8] {
        let text = Array("\(title(device.id))\n".utf8) + body
        return text + (try lastLine(after: text[...]))
    }

    private func title(_ device: DeviceID) -> String { "kcbackup \(kind.name) \(kind.version) \(device)" }

    private func lastLine(after text: ArraySlice<UInt8>) throws(StateFileFailure) -> [UInt8] {
        do throws(CryptographyFailure) {
            // A kind has no line feed, so two kinds never share a key.
            let key = try device.stateMACKey(context: Array("state file\n\(kind.name)\n\(subject)".utf8))
            var hmac = try HMAC(key: key)
            return Array("mac \(Hexadecimal.encode(try hmac.authenticate(text.span)))\n".utf8)
        } catch {
            throw .cryptography(error)
        }
    }

    // "mac ", 64 digits and a line feed.
    private static let lastLineLength = 4 + 64 + 1
}

private let lineFeed = UInt8(ascii: "\n")

/// Why a state file could not be read or written.
package enum StateFileFailure: Error, Hashable, Sendable {
    /// The file is damaged, or something other than this device changed it.
    case altered(path: String)
    /// Its first line says that another device wrote it.
    case otherDevice(path: String, DeviceID)
    /// Another version of the program wrote it.
    case otherFormat(path: String)
    /// The file is not safe to use, or cannot be read or written.
    case file(FileFailure)
    case cryptography(CryptographyFailure)
}

/// The body of a state file as lines of a name and a value, split and joined as bytes.
package struct StateFields: Hashable, Sendable {
    /// A line.
    package struct Field: Hashable, Sendable {
        /// ASCII letters, digits and dashes.
        package let name: String
        /// Any text without a line feed; may be empty.
        package let value: String
    }

    /// The lines, in order.
    package private(set) var fields: [Field] = []

    /// Creates a body without lines.
    package init() {}

    /// Parses a body; nil if a line has no name, or is not UTF-8.
    package init?(parsing body: [UInt8]) {
        guard body.isEmpty || body.last == lineFeed else { return nil }
        for line in body.dropLast().split(separator: lineFeed, omittingEmptySubsequences: false) where !body.isEmpty {
            guard let end = line.firstIndex(of: UInt8(ascii: " ")),
                let name = String(validating: line[..<end], as: UTF8.self),
                let value = String(validating: line[(end + 1)...], as: UTF8.self)
            else { return nil }
            fields.append(Field(name: name, value: value))
        }
    }

    /// Adds a line.
    ///
    /// - Parameter value: text without a line feed (`isOneLine`).
    package mutating func add(_ name: String, _ value: String) {
        precondition(Self.isOneLine(value), "a value of a state file is one line")
        fields.append(Field(name: name, value: value))
    }

    /// Adds a line, if there is a value.
    package mutating func add(_ name: String, _ value: String?) {
        if let value { add(name, value) }
    }

    /// Adds a line for each value.
    package mutating func add(_ name: String, _ values: [String]) {
        for value in values { add(name, value) }
    }

    /// True if a text can be a value.
    package static func isOneLine(_ text: String) -> Bool { !text.utf8.contains(lineFeed) }

    /// Returns the values of all lines with a name, in order.
    package func values(_ name: String) -> [String] { fields.filter { $0.name.exact == name.exact }.map(\.value) }

    /// The lines as bytes.
    package var encoded: [UInt8] { fields.flatMap { Array("\($0.name) \($0.value)\n".utf8) } }
}
