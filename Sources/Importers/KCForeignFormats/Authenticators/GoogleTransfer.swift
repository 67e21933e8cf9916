internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// Google Authenticator's transfer code: `otpauth-migration://offline?data=` and a message of protocol buffers.
///
/// Source: the Protocol Buffers encoding guide; the fields are those that beemdevelopment/Aegis describes
/// (`google_auth.proto`).
final class GoogleTransfer {
    /// An entry, whose seed is not copied.
    struct Entry {
        fileprivate(set) var seed = 0..<0
        fileprivate(set) var issuer = ""
        fileprivate(set) var user: String?
        fileprivate var algorithm: UInt64 = 0
        fileprivate var digits: UInt64 = 0
        fileprivate var type: UInt64 = 0
        fileprivate var counter: UInt64 = 0

        /// How its codes are made; nil for a value that is not known.
        ///
        /// Zero stands for the usual value.
        var parameters: OneTimePasswordParameters? {
            let algorithms: [HashFunction] = [.sha1, .sha1, .sha256, .sha512, .md5]
            guard algorithm < algorithms.count, digits <= 2, type <= 2 else { return nil }
            return OneTimePasswordParameters(
                type == 1 ? .counter(counter) : .time(period: OneTimePasswordParameters.standardPeriod),
                algorithm: algorithms[Int(algorithm)], digits: digits == 2 ? 8 : 6)
        }
    }

    static let prefix = "otpauth-migration://offline?data="
    /// The maximum number of codes of one transfer; each has up to ten entries.
    static let partLimit = 100

    private let message: SecretBytes
    let entries: [Entry]
    /// Identifies the transfer.
    let batch: UInt64
    /// The number of codes of the transfer, and the index of this one.
    let size: UInt64
    let index: UInt64

    /// True for text that begins like such an address.
    static func isOne(_ bytes: borrowing Span<UInt8>) -> Bool { bytes.matches(Self.prefix.utf8, at: 0) }

    /// Decodes an address.
    convenience init(_ address: borrowing Span<UInt8>) throws(ForeignFailure) {
        let text = address.percentDecoded(Self.prefix.utf8.count..<address.count)
        guard let message = Self.message(text) else { throw .damaged("its data is not base64") }
        try self.init(message: message)
    }

    private init(message: consuming SecretBytes) throws(ForeignFailure) {
        let (entries, numbers) = try message.withBytes { bytes throws(ForeignFailure) in try Self.fields(bytes) }
        // A transfer of one code may leave out the numbers, which are zero then.
        let (size, index) = (max(1, numbers[3] ?? 0), numbers[4] ?? 0)
        guard size <= Self.partLimit else {
            throw .limit("codes of one transfer", found: size, allowed: UInt64(Self.partLimit))
        }
        guard index < size else { throw .damaged("its number is beyond that of all codes of the transfer") }
        self.message = message
        self.entries = entries
        self.size = size
        self.index = index
        batch = numbers[5] ?? 0
    }

    /// The entries of a message, and its numbers by their fields.
    private static func fields(
        _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (entries: [Entry], numbers: [UInt64: UInt64]) {
        var entries: [Entry] = []
        var numbers: [UInt64: UInt64] = [:]
        var fields = ProtocolFields(0..<bytes.count)
        while let field = try fields.next(in: bytes) {
            switch (field.number, field.value) {
            case (1, .bytes(let range)): entries.append(try entry(range, bytes))
            case (2...5, .number(let number)): numbers[field.number] = number
            case (1...5, _): throw ProtocolFields.damaged
            default: break
            }
        }
        return (entries, numbers)
    }

    /// The seed of an entry in base32.
    func seed(of entry: Entry) -> SecretBytes { message.withBytes { Base32.encode($0.extracting(entry.seed)) } }

    /// Decodes base64 with or without padding; text that went through a form has spaces in place of `+`.
    private static func message(_ text: borrowing SecretBytes) -> SecretBytes? {
        var plain = text.withBytes { bytes in
            var plain = SecretBytes(capacity: bytes.count)
            for index in bytes.indices { plain.append(bytes[index] == 0x20 ? UInt8(ascii: "+") : bytes[index]) }
            return plain
        }
        while !plain.isEmpty, plain.withBytes({ $0[$0.count - 1] }) == UInt8(ascii: "=") { plain.removeLast(1) }
        var message = SecretBytes(capacity: plain.count)
        guard plain.withBytes({ Base64.decode($0, padded: false, into: &message) }), !message.isEmpty else {
            return nil
        }
        return consume message
    }

    private static func entry(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Entry {
        var entry = Entry()
        var name = ""
        var fields = ProtocolFields(range)
        while let field = try fields.next(in: bytes) {
            switch (field.number, field.value) {
            case (1, .bytes(let seed)): entry.seed = seed
            case (2, .bytes(let text)): name = try Self.text(text, bytes)
            case (3, .bytes(let text)): entry.issuer = try Self.text(text, bytes)
            case (4, .number(let number)): entry.algorithm = number
            case (5, .number(let number)): entry.digits = number
            case (6, .number(let number)): entry.type = number
            case (7, .number(let number)): entry.counter = number
            case (1...7, _): throw ProtocolFields.damaged
            default: break
            }
        }
        // The name may repeat the issuer, or be the only place that has it.
        let parts = name.exact.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, entry.issuer.isEmpty || entry.issuer.exact == parts[0].exact {
            entry.issuer = parts[0]
            name = String(parts[1].drop { $0 == " " })
        }
        entry.user = name.isEmpty ? nil : name
        return entry
    }

    private static func text(_ range: Range<Int>, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> String {
        guard let text = bytes.text(range) else { throw .damaged("a name in it is not UTF-8") }
        return text
    }
}

/// The codes of transfers that were read.
struct TransferParts {
    private struct Transfer: Hashable {
        let batch: UInt64
        let size: UInt64
    }

    /// The maximum number of transfers in a file, so that names of missing codes do not exhaust the memory.
    private static let limit = 1_000

    private var indices: [Transfer: Set<UInt64>] = [:]
    /// In order of first appearance.
    private var transfers: [Transfer] = []

    /// Notes a code.
    ///
    /// - Throws: `ForeignFailure.limit` beyond 1,000 transfers.
    mutating func add(_ part: GoogleTransfer) throws(ForeignFailure) {
        let transfer = Transfer(batch: part.batch, size: part.size)
        if indices[transfer] == nil {
            transfers.append(transfer)
            guard transfers.count <= Self.limit else {
                throw .limit("transfers", found: UInt64(transfers.count), allowed: UInt64(Self.limit))
            }
        }
        indices[transfer, default: []].insert(part.index)
    }

    /// The names of codes that belong to a transfer and were not read.
    var missing: [String] {
        transfers.flatMap { transfer in
            (0..<transfer.size).filter { indices[transfer]?.contains($0) != true }
                .map { "code \($0 + 1) of \(transfer.size) of the transfer" }
        }
    }
}

/// Reads the fields of a message in the encoding of protocol buffers.
struct ProtocolFields {
    enum Value {
        case number(UInt64)
        /// Text, bytes or a message.
        case bytes(Range<Int>)
        /// A fixed number, which no known field has.
        case fixed
    }

    static let damaged = ForeignFailure.damaged("its data is not a message of protocol buffers")

    private var cursor: ByteCursor

    init(_ range: Range<Int>) {
        cursor = ByteCursor(range)
    }

    /// The next field; nil at the end.
    mutating func next(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> (number: UInt64, value: Value)? {
        if cursor.left == 0 { return nil }
        let key = try number(in: bytes)
        guard key >> 3 > 0 else { throw Self.damaged }
        switch key & 7 {
        case 0: return (key >> 3, .number(try number(in: bytes)))
        case 1:
            _ = try cursor.take(8)
            return (key >> 3, .fixed)
        case 2: return (key >> 3, .bytes(try cursor.take(try number(in: bytes))))
        case 5:
            _ = try cursor.take(4)
            return (key >> 3, .fixed)
        default: throw Self.damaged
        }
    }

    /// A number of seven bits a byte, the lowest first.
    private mutating func number(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = UInt64(try cursor.number(1, in: bytes))
            // The tenth byte has the highest bit alone.
            guard shift < 63 || byte <= 1 else { throw Self.damaged }
            number |= (byte & 127) << shift
            if byte < 128 { return number }
        }
        throw Self.damaged
    }
}
