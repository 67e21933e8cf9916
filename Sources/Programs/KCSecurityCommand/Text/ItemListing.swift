internal import KCByteStreams
internal import KCKeychainModel

/// A line of an item's listing.
private struct Column: Sendable {
    enum Form: String, Sendable {
        case blob
        case unsigned = "uint32"
        case signed = "sint32"
        case date = "timedate"
    }

    /// The attribute's code in quotation marks, or its number.
    let title: String
    let form: Form
    /// The bytes to show; nil for `<NULL>`.
    let bytes: @Sendable (Item) -> [UInt8]?

    /// Creates a column for an attribute, under macOS's name for it.
    init(_ name: String, _ form: Form, _ code: AttributeCode, absent: [UInt8]? = nil) {
        self.init(quoted: name, form) { item in listedBytes(item.attributes[code]) ?? absent }
    }

    init(quoted name: String, _ form: Form, _ bytes: @escaping @Sendable (Item) -> [UInt8]?) {
        title = name.exact.hasPrefix("0x") ? name + " " : "\"\(name)\""
        self.form = form
        self.bytes = bytes
    }
}

/// Returns the listing of an item, as macOS's `security` prints it, without its data.
///
/// - Parameter path: the path of the keychain file, safe to display.
func listing(of item: Item, in path: String) -> [UInt8] {
    var text: [UInt8] = []
    text.append(utf8: "keychain: \"\(path)\"\nversion: 512\nclass: ")
    text.appendListed(listedClass(item).span)
    text.append(utf8: "\nattributes:\n")
    for column in columns(of: item.itemClass) {
        text.append(utf8: "    \(column.title)<\(column.form.rawValue)>=")
        if let bytes = column.bytes(item) { text.appendListed(bytes.span) } else { text.append(utf8: "<NULL>") }
        text.append(UInt8(ascii: "\n"))
    }
    return text
}

/// Returns the class as a macOS record type: the code for passwords; a number for certificates and the three kinds of
/// keys.
private func listedClass(_ item: Item) -> [UInt8] {
    switch item.itemClass {
    case .genericPassword, .internetPassword: Array(item.itemClass.rawValue.utf8)
    case .certificate: bigEndian(0x8000_1000)
    case .key: bigEndian(keyRecordType(item))
    }
}

/// Returns 0x0F for public, 0x10 for private and 0x11 for symmetric keys.
private func keyRecordType(_ item: Item) -> Int64 { 0x0f &+ (item.attributes.number(.kcls) ?? 0) }

private func listedBytes(_ value: AttributeValue?) -> [UInt8]? {
    switch value {
    case .text(let text): Array(text.utf8)
    case .data(let bytes): bytes
    case .number(let number): bigEndian(number)
    case .date(let date): Array("\(dateDigits(date))\(timeDigits(date))Z\0".utf8)
    case nil: nil
    }
}

/// Returns the number as four big-endian bytes, or eight if it does not fit into four.
private func bigEndian(_ number: Int64) -> [UInt8] {
    let isLong = UInt32(exactly: number) == nil && Int32(exactly: number) == nil
    return stride(from: isLong ? 56 : 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
}

private func dateDigits(_ date: Timestamp) -> String {
    let parts = date.components
    return digits(parts.year, 4) + digits(parts.month, 2) + digits(parts.day, 2)
}

private func timeDigits(_ date: Timestamp) -> String {
    let parts = date.components
    return digits(parts.hour, 2) + digits(parts.minute, 2) + digits(parts.second, 2)
}

private func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
}

/// Returns the columns of macOS's records, in its order; attributes that macOS does not list, such as `agrp`, are left
/// out.
private func columns(of itemClass: ItemClass) -> [Column] {
    switch itemClass {
    case .genericPassword: genericColumns
    case .internetPassword: internetColumns
    case .certificate: certificateColumns
    case .key: keyColumns
    }
}

private let genericColumns = [
    Column("0x00000007", .blob, .labl), Column("0x00000008", .blob, .alis), Column("acct", .blob, .acct),
    Column("cdat", .date, .cdat), Column("crtr", .unsigned, .crtr), Column("cusi", .signed, .cusi),
    Column("desc", .blob, .desc), Column("gena", .blob, .gena), Column("icmt", .blob, .icmt),
    Column("invi", .signed, .invi), Column("mdat", .date, .mdat), Column("nega", .signed, .nega),
    Column("prot", .blob, .prot), Column("scrp", .signed, .scrp), Column("svce", .blob, .svce),
    Column("type", .unsigned, .type),
]

private let internetColumns = [
    Column("0x00000007", .blob, .labl), Column("0x00000008", .blob, .alis), Column("acct", .blob, .acct),
    Column("atyp", .blob, .atyp), Column("cdat", .date, .cdat), Column("crtr", .unsigned, .crtr),
    Column("cusi", .signed, .cusi), Column("desc", .blob, .desc), Column("icmt", .blob, .icmt),
    Column("invi", .signed, .invi), Column("mdat", .date, .mdat), Column("nega", .signed, .nega),
    Column("path", .blob, .path), Column("port", .unsigned, .port, absent: bigEndian(0)),
    Column("prot", .blob, .prot), Column("ptcl", .unsigned, .ptcl, absent: bigEndian(0)),
    Column("scrp", .signed, .scrp), Column("sdmn", .blob, .sdmn), Column("srvr", .blob, .srvr),
    Column("type", .unsigned, .type),
]

private let certificateColumns = [
    Column("alis", .blob, .alis), Column("cenc", .unsigned, .cenc), Column("ctyp", .unsigned, .ctyp),
    Column("hpky", .blob, .pkhh), Column("issu", .blob, .issr), Column("labl", .blob, .labl),
    Column("skid", .blob, .skid), Column("snbr", .blob, .slnr), Column("subj", .blob, .subj),
]

/// The columns of keys, which are named by the index of the attribute in a CSSM record.
private let keyColumns: [Column] = {
    let none = bigEndian(0)
    func day(_ name: String, _ code: AttributeCode) -> Column {
        Column(quoted: name, .blob) { item in
            guard let date = item.attributes.date(code), date != .reference else {
                return [UInt8](repeating: 0, count: 8)
            }
            return Array(dateDigits(date).utf8)
        }
    }
    var columns = [
        Column(quoted: "0x00000000", .unsigned) { bigEndian(keyRecordType($0)) },
        Column("0x00000001", .blob, .labl), Column("0x00000002", .blob, .alis),
        Column("0x00000003", .unsigned, .perm, absent: none), Column("0x00000004", .unsigned, .priv, absent: none),
        Column("0x00000005", .unsigned, .modi, absent: none), Column("0x00000006", .blob, .klbl),
        Column("0x00000007", .blob, .atag),
        Column(quoted: "0x00000008", .blob) { item in
            item.attributes.number(.crtr).flatMap { $0 == 0 ? nil : bigEndian($0) }
        },
        Column("0x00000009", .unsigned, .type, absent: none), Column("0x0000000A", .unsigned, .bsiz, absent: none),
        Column("0x0000000B", .unsigned, .esiz, absent: none), day("0x0000000C", .sdat), day("0x0000000D", .edat),
    ]
    let flags: [AttributeCode] = [
        .sens, .asen, .extr, .next, .encr, .decr, .drve, .sign, .vrfy, .snrc, .vyrc, .wrap, .unwp,
    ]
    for (position, code) in flags.enumerated() {
        let name = "0x000000" + (position < 2 ? "0" : "") + String(0x0e + position, radix: 16, uppercase: true)
        columns.append(Column(name, .unsigned, code, absent: none))
    }
    return columns
}()
