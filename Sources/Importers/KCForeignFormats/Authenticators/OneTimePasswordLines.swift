internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Reads addresses of one-time passwords, one a line.
struct OneTimePasswordLines {
    /// The meaning of a line that is no address.
    enum Others {
        /// Damage, which is named by its line.
        case damaged
        /// Something else that was meant for another program, counted under this name.
        case counted(String)
    }

    private let collector: RecordCollector
    private let others: Others
    private var transfers = TransferParts()

    init(_ collector: RecordCollector, others: Others = .damaged) {
        self.collector = collector
        self.others = others
    }

    /// True if the first line that is not blank begins like an address.
    static func recognises(_ bytes: borrowing Span<UInt8>) -> Bool {
        let start = bytes.hasByteOrderMark ? 3 : 0
        guard let first = (start..<bytes.count).first(where: { !isBlank(bytes[$0]) }) else { return false }
        return isAddress(first..<bytes.count, in: bytes)
    }

    /// Adds the entries of all lines.
    mutating func read(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var lines = Lines(bytes.count)
        while let line = lines.next(in: bytes) {
            var range = line.range
            if line.number == 1, bytes.hasByteOrderMark { range = 3..<max(3, range.upperBound) }
            while let last = range.last, Self.isBlank(bytes[last]) { range.removeLast() }
            while let first = range.first, Self.isBlank(bytes[first]) { range.removeFirst() }
            if range.isEmpty { continue }
            if GoogleTransfer.isOne(bytes.extracting(range)) {
                try add(transferIn: range, line.number, bytes)
                continue
            }
            if case .counted(let kind) = others, !Self.isAddress(range, in: bytes) {
                collector.leaveOut(kind)
                continue
            }
            try collector.record("line \(line.number)") { () throws(ForeignFailure) in
                try add(addressIn: range, line.number, bytes)
            }
        }
    }

    /// Names the parts of transfers that are missing.
    func finish() throws(ForeignFailure) {
        for part in transfers.missing {
            collector.refuse(part, .damaged("it is not in the file; import it too"))
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0d, 0x0a].contains(byte) }

    private static func isAddress(_ range: Range<Int>, in bytes: borrowing Span<UInt8>) -> Bool {
        // The scheme alone is read as text.
        let end = min(range.upperBound, range.lowerBound + GoogleTransfer.prefix.utf8.count)
        let start = String(decoding: bytes.array(range.lowerBound..<end), as: UTF8.self)
        return OneTimePasswordAddress.isOne(start[...]) || GoogleTransfer.isOne(bytes.extracting(range))
    }

    private func add(
        addressIn range: Range<Int>, _ line: Int, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        let address = OneTimePasswordAddress.make(of: SecretBytes(bytes.extracting(range)), issuer: "", user: nil)
        guard address.isUTF8 else { throw .damagedLine(line, "it is not UTF-8") }
        guard let parts = OneTimePasswordParts(address) else {
            throw .damagedLine(line, "it is not an otpauth address with a base32 seed, of a kind that is known")
        }
        let display = try parts.display.map { range throws(ForeignFailure) in
            try address.withBytes { bytes throws(ForeignFailure) in try EnteDisplay(bytes.percentDecoded(range)) }
        }
        if display?.isTrashed == true { return collector.leaveOut("record in the trash") }
        if display?.isPinned == true { collector.leaveOut("favorite mark") }
        let record = RecordWriter(
            collector, issuer: parts.issuer ?? "", user: parts.userName, parts.parameters)
        if let tags = display?.tags, !tags.isEmpty { record.describe("tags", tags.joined(separator: ", ")) }
        try record.addUser(parts.userName)
        try record.addOneTimePassword(address)
    }

    private mutating func add(
        transferIn range: Range<Int>, _ line: Int, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        let transfer: GoogleTransfer
        do throws(ForeignFailure) {
            transfer = try GoogleTransfer(bytes.extracting(range))
        } catch {
            // Such a line counts as one record, since its entries are not known.
            let failure = error
            try collector.record("line \(line)") { () throws(ForeignFailure) in throw failure }
            return
        }
        for (index, entry) in transfer.entries.enumerated() {
            let name = entry.issuer.isEmpty ? "entry \(index + 1) of line \(line)" : entry.issuer
            try collector.record(name) { () throws(ForeignFailure) in
                guard let parameters = entry.parameters else { throw .damaged("its kind of code is not known") }
                let record = RecordWriter(collector, issuer: entry.issuer, user: entry.user, parameters)
                try record.addUser(entry.user)
                try record.addOneTimePassword(seed: transfer.seed(of: entry), parameters)
            }
        }
        try transfers.add(transfer)
    }
}

extension RecordWriter {
    /// Begins the record of an authenticator's entry without an ID.
    convenience init(
        _ collector: RecordCollector, issuer: String, user: String?, _ parameters: OneTimePasswordParameters
    ) {
        let kind = if case .counter = parameters.kind { "counter" } else { "time" }
        let names = RecordWriter.names(title: issuer, addresses: [] as [String], user: user, password: nil)
        let identity = RecordWriter.identity(of: names + [kind])
        self.init(collector, identity: identity, ordinal: collector.ordinal(of: identity), title: issuer)
    }
}

/// The data that Ente Auth stores in an address beside the code: marks, tags and a note, which stays there.
private struct EnteDisplay {
    let isTrashed: Bool
    let isPinned: Bool
    let tags: [String]

    /// Reads the JSON object of a `codeDisplay` parameter.
    init(_ bytes: consuming SecretBytes) throws(ForeignFailure) {
        let json = try ForeignJSON(bytes)
        guard json.root.isObject else { throw .damaged("its 'codeDisplay' is not an object") }
        isTrashed = json.flag(json.root["trashed"]) == true
        isPinned = json.flag(json.root["pinned"]) == true
        var tags: [String] = []
        for tag in try json.list(json.root["tags"]) {
            if let tag = try json.optionalText(tag), !tag.isEmpty { tags.append(tag) }
        }
        self.tags = tags
    }
}

extension Span<UInt8> {
    /// True if the bytes begin with the mark that some editors write before UTF-8.
    var hasByteOrderMark: Bool { count >= 3 && self[0] == 0xef && self[1] == 0xbb && self[2] == 0xbf }
}
