internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// Reads the items of a dump.
///
/// Each of their attributes is a line, since unprintable bytes are written in hexadecimal.
struct DumpReader {
    /// How each item begins.
    static let beginning = "keychain: \""

    let collector: RecordCollector
    /// True if an item has been shown with its secret.
    private var hasSecrets = false

    init(collector: RecordCollector) {
        self.collector = collector
    }

    /// The secret of an item, as far as it is known.
    private enum Secret {
        /// The secret is not shown at all, as without `-d`.
        case missing
        /// The line for it is empty: so is the secret, or it was not shown.
        case blank
        case shown(Range<Int>)
    }

    /// The lines of an item.
    private struct Entry {
        let line: Int
        var itemClass: Range<Int>?
        var attributes: [(name: String, value: Range<Int>)] = []
        var secret = Secret.missing
        /// The line that no item has; nil if there is none.
        var oddLine: Int?
    }

    /// The kind of line that may come next.
    private enum State {
        case head
        case attributes
        case data
        case rawData
        /// Access lists are counted, and their lines ignored.
        case access
    }

    mutating func read(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var lines = Lines(bytes.count)
        var entry: Entry?
        var state = State.head
        while let (range, number) = lines.next(in: bytes) {
            if bytes.matches(Self.beginning.utf8, at: range.lowerBound) {
                if let entry { try add(entry, bytes) }
                (entry, state) = (Entry(line: number), .head)
            } else if var current = entry {
                read(range, number, &current, &state, bytes)
                entry = current
            }
        }
        if let entry { try add(entry, bytes) }
        if !hasSecrets { collector.remark("the dump shows no secrets; 'security dump-keychain -d' does") }
    }

    /// Reads a line of an item.
    private func read(
        _ range: Range<Int>, _ number: Int, _ entry: inout Entry, _ state: inout State,
        _ bytes: borrowing Span<UInt8>
    ) {
        func begins(_ word: String) -> Bool {
            range.count >= word.utf8.count && bytes.matches(word.utf8, at: range.lowerBound)
        }
        func rest(of word: String) -> Range<Int> { range.dropFirst(word.utf8.count) }
        if case .access = state { return }
        if begins("access:") {
            collector.leaveOut("access list")
            state = .access
        } else if begins("    "), case .attributes = state {
            guard let attribute = Self.attribute(range.dropFirst(4), bytes) else { return entry.oddLine = number }
            entry.attributes.append(attribute)
        } else if begins("data:") {
            (entry.secret, state) = (.blank, .data)
        } else if begins("raw data:") {
            state = .rawData
        } else if begins("password: ") {
            entry.secret = .shown(rest(of: "password: "))
        } else if begins("\"") || begins("0x") {
            switch state {
            case .data: entry.secret = .shown(range)
            case .rawData: break
            default: entry.oddLine = number
            }
            state = .head
        } else if begins("class: ") {
            entry.itemClass = rest(of: "class: ")
        } else if begins("attributes:") {
            state = .attributes
        } else if !begins("version: "), !begins("security: ") {
            // `security` itself complains about secrets that it may not show.
            entry.oddLine = number
        }
    }

    /// The name and the value of a line such as `"acct"<blob>="ada"` or `0x00000007 <blob>=<NULL>`.
    private static func attribute(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) -> (String, Range<Int>)? {
        guard let form = range.first(where: { bytes[$0] == UInt8(ascii: "<") }),
            let end = (form..<range.upperBound).first(where: { bytes[$0] == UInt8(ascii: ">") }),
            end + 1 < range.upperBound, bytes[end + 1] == UInt8(ascii: "="),
            let name = bytes.text(range.lowerBound..<form)
        else { return nil }
        let bare = name.exact.replacing("\"", with: "").exact.replacing(" ", with: "")
        return (bare, end + 2..<range.upperBound)
    }

    // MARK: Values

    /// A value in any of its forms.
    private enum Value: ~Copyable {
        case null
        case bytes(SecretBytes)
    }

    /// - Throws: `ForeignFailure.damaged` for text that has none of the forms.
    private static func value(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Value {
        let last = range.last { bytes[$0] != UInt8(ascii: " ") }
        let text = range.lowerBound..<(last.map { $0 + 1 } ?? range.lowerBound)
        if text.isEmpty { return .bytes(SecretBytes(capacity: 0)) }
        if bytes.extracting(text).isEqual(to: "<NULL>".utf8.span) { return .null }
        let quote = UInt8(ascii: "\"")
        if bytes[text.lowerBound] == quote {
            // A quotation mark within is not marked, but nothing follows the last one.
            guard text.count >= 2, bytes[text.upperBound - 1] == quote else { throw .damaged("a text has no end") }
            return .bytes(SecretBytes(bytes.extracting(text.dropFirst().dropLast())))
        }
        guard bytes.matches("0x".utf8, at: text.lowerBound) else { throw .damaged("a value has no known form") }
        let digits = text.dropFirst(2).prefix { bytes[$0] != UInt8(ascii: " ") && bytes[$0] != quote }
        let shown = text[digits.endIndex...].drop { bytes[$0] == UInt8(ascii: " ") }
        guard
            shown.isEmpty
                || shown.count >= 2 && bytes[shown.lowerBound] == quote && bytes[shown.upperBound - 1] == quote,
            let decoded = bytes.bytes(ofHexadecimal: digits)
        else { throw .damaged("a value is not hexadecimal") }
        return .bytes(decoded)
    }

    /// The bytes of an attribute; nil for `<NULL>`.
    private static func array(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [UInt8]? {
        switch try value(range, bytes) {
        case .null: nil
        case .bytes(let value): value.withBytes { $0.array(0..<$0.count) }
        }
    }

    // MARK: Items

    private enum Kind {
        static let appleShare = Array("ashp".utf8)
        static let certificate: [UInt8] = [0x80, 0x00, 0x10, 0x00]
        static let keys: [[UInt8]] = [[0, 0, 0, 0x0f], [0, 0, 0, 0x10], [0, 0, 0, 0x11]]
    }

    /// Adds an item, or refuses it by its label.
    private mutating func add(_ entry: Entry, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        let fallback = "line \(entry.line)"
        var name = fallback
        for wanted in ["0x00000007", "0x00000001", "labl", "svce", "srvr"] where name.exact == fallback.exact {
            guard let range = entry.attributes.first(where: { $0.name.exact == wanted.exact })?.value else { continue }
            do throws(ForeignFailure) {
                if let text = try Self.array(range, bytes).flatMap(Self.text), !text.isEmpty { name = text }
            } catch {
                // The item is damaged, and named by its line.
            }
        }
        let isRead = try collector.record(name) { () throws(ForeignFailure) in try addItem(entry, name, bytes) }
        if isRead, case .shown = entry.secret { hasSecrets = true }
    }

    private func addItem(
        _ entry: Entry, _ name: String, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        if let line = entry.oddLine { throw .damaged("line \(line) of the dump is not part of an item") }
        guard let range = entry.itemClass, let code = try Self.array(range, bytes) else {
            throw .damaged("it has no class")
        }
        if Kind.keys.contains(code) { return collector.refuse(name, .damaged("a dump does not show keys")) }
        let isCertificate = code == Kind.certificate
        let itemClass =
            code == Kind.appleShare ? .internetPassword : ItemClass(rawValue: String(decoding: code, as: UTF8.self))
        let secret: SecretBytes
        switch entry.secret {
        case .missing: return collector.refuse(name, .damaged("it is shown without its secret"))
        case .blank: return collector.refuse(name, .damaged("its secret is empty, or was not shown"))
        case .shown(let range):
            switch try Self.value(range, bytes) {
            case .null: return collector.refuse(name, .damaged("its secret was not shown"))
            case .bytes(let value): secret = value
            }
        }
        var draft: ItemDraft
        var part = "password"
        if isCertificate {
            do throws(CertificateFailure) {
                draft = ItemDraft(certificate: try X509Certificate(der: secret.withBytes { $0.array(0..<$0.count) }))
            } catch {
                throw .damaged("it is not a certificate")
            }
            part = "certificate"
            if let label = entry.attributes.first(where: { $0.name == "labl" }) {
                draft.attributes[.labl] = try Self.array(label.value, bytes).flatMap(Self.textOrData)
            }
        } else {
            guard let itemClass else { throw .damaged("its class is not known") }
            draft = ItemDraft(itemClass: itemClass)
            draft.attributes[.pdmn] = .text(Accessibility.whenUnlocked.rawValue)
            for attribute in entry.attributes { try set(attribute, in: &draft, bytes) }
            if code == Kind.appleShare { draft.attributes[.ptcl] = .number(WebAddress.protocolCode(ofScheme: "afp")) }
            if draft.attributes.number(.type) == RecordPlace.noteType { part = "note" }
        }
        let identity = RecordWriter.identity(of: [String(decoding: code, as: UTF8.self)] + Self.identifying(draft))
        try collector.add(
            RecordPart(
                part, draft, secret: secret, record: identity,
                ordinal: RecordPart.Ordinal(record: collector.ordinal(of: identity)), name: name))
    }

    /// The values that tell items of a class apart.
    private static func identifying(_ draft: ItemDraft) -> [String] {
        [AttributeCode.acct, .svce, .srvr, .sdmn, .ptcl, .atyp, .port, .path, .labl].map { code in
            draft.attributes[code].map { "\($0)" } ?? ""
        }
    }

    private static func text(_ bytes: [UInt8]) -> String? { String(validating: bytes, as: UTF8.self) }

    private static func textOrData(_ bytes: [UInt8]) -> AttributeValue {
        text(bytes).map { .text($0) } ?? .data(bytes)
    }

    private func set(
        _ attribute: (name: String, value: Range<Int>), in draft: inout ItemDraft, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        guard let value = try Self.array(attribute.value, bytes) else { return }
        let name = attribute.name
        let code: AttributeCode?
        switch name {
        case "0x00000007": code = .labl
        case "0x00000008": code = .alis
        case "addr": code = .srvr
        default: code = AttributeCode(code: name)
        }
        guard let code, code != .accc, code.belongs(to: draft.itemClass) else {
            if let text = Self.text(value), !text.isEmpty {
                draft.extra.append(ExtraAttribute(name: "macos." + name, value: text))
            } else if !value.isEmpty {
                collector.leaveOut("attribute '\(name)'")
            }
            return
        }
        switch code.kind {
        case .textOrData, .dataOrText: draft.attributes[code] = Self.textOrData(value)
        case .data: draft.attributes[code] = .data(value)
        case .number:
            guard value.count <= 8 else { throw .damaged("a number is too long") }
            let number = value.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            // macOS prints 0 for no port and no protocol.
            if number == 0, [.port, .ptcl].contains(code) { return }
            let isSigned = value.count == 4 && [.cusi, .invi, .nega, .scrp].contains(code)
            draft.attributes[code] = .number(
                isSigned ? Int64(Int32(truncatingIfNeeded: number)) : Int64(truncatingIfNeeded: number))
        case .date:
            guard let date = ForeignDate.digits(Self.text(value)) else {
                return collector.leaveOut("unreadable date")
            }
            draft.attributes[code] = .date(date)
        default: collector.leaveOut("attribute '\(name)'")
        }
    }
}
