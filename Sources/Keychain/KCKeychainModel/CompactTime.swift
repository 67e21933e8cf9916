extension Timestamp {
    /// The text form without dashes and colons, for names of files: `20260301T093000.000000Z`.
    package var compact: String { description.filter { $0 != "-" && $0 != ":" } }

    /// The same form in whole seconds: `20260301T093000Z`.
    package var compactSeconds: String { "\(compact.prefix(15))Z" }

    /// Parses either form; nil for anything else.
    package init?(compact text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 16 || bytes.count == 23 else { return nil }
        var spelled: [UInt8] = []
        for (index, byte) in bytes.prefix(15).enumerated() {
            if index == 4 || index == 6 { spelled.append(UInt8(ascii: "-")) }
            if index == 11 || index == 13 { spelled.append(UInt8(ascii: ":")) }
            spelled.append(byte)
        }
        if bytes.count == 16 { spelled += ".000000".utf8 }
        spelled += bytes[15...]
        self.init(parsing: spelled.span)
    }
}
