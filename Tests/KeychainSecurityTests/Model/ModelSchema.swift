@testable import KeychainSecurity

/// The attributes of the four classes, as in Apple's schema (SecItemSchema.c), for the model of the property test.
///
/// Written independently of the library's own table, so that a mistake there is detected.
enum ModelSchema {
    /// The values that an attribute accepts.
    enum Kind {
        /// Text, bytes, or a number, of which the low four bytes are stored in little-endian order.
        case blob
        /// Only text.
        case string
        /// Only bytes.
        case data
        /// A number or a Boolean.
        case number
        /// A number that the API shows as a decimal string.
        case digits
        /// A number that the API shows as four characters.
        case fourCharacters
        /// A number that may be given as four characters.
        case characters
        case date
    }

    static let classes = ["genp", "inet", "cert", "keys"]

    private static let common: [String: Kind] = [
        "agrp": .string, "labl": .blob, "cdat": .date, "mdat": .date, "vwht": .string, "tkid": .string,
        "ggrp": .string, "musr": .data, "sysb": .number, "pcss": .number, "pcsk": .data, "pcsi": .data, "alis": .blob,
    ]
    private static let passwords: [String: Kind] = [
        "desc": .blob, "icmt": .blob, "crtr": .characters, "type": .characters, "scrp": .number, "invi": .number,
        "nega": .number, "cusi": .number, "prot": .blob, "acct": .blob,
    ]
    private static let attributes: [String: [String: Kind]] = [
        "genp": passwords.merging(["svce": .blob, "gena": .blob]) { $1 },
        "inet": passwords.merging([
            "sdmn": .blob, "srvr": .blob, "atyp": .blob, "path": .blob, "ptcl": .fourCharacters, "port": .number,
        ]) { $1 },
        "cert": [
            "ctyp": .number, "cenc": .number, "subj": .data, "issr": .data, "slnr": .data, "skid": .data,
            "pkhh": .data,
        ],
        "keys": [
            "kcls": .digits, "perm": .number, "priv": .number, "modi": .number, "klbl": .data, "atag": .blob,
            "crtr": .number, "type": .digits, "bsiz": .number, "esiz": .number, "sdat": .date, "edat": .date,
            "sens": .number, "asen": .number, "extr": .number, "next": .number, "encr": .number, "decr": .number,
            "drve": .number, "sign": .number, "vrfy": .number, "snrc": .number, "vyrc": .number, "wrap": .number,
            "unwp": .number,
        ],
    ]

    /// The kind of an attribute, or nil if the class does not have it.
    ///
    /// Accessibility, `sync` and `tomb` are handled separately.
    static func kind(of code: String, in itemClass: String) -> Kind? {
        attributes[itemClass]?[code] ?? common[code]
    }

    /// The attributes that make an item unique in its class.
    static func uniqueKey(of itemClass: String) -> [String] {
        let own =
            switch itemClass {
            case "genp": ["acct", "svce"]
            case "inet": ["acct", "sdmn", "srvr", "ptcl", "atyp", "port", "path"]
            case "cert": ["ctyp", "issr", "slnr"]
            default: ["kcls", "klbl", "atag", "crtr", "type", "bsiz", "esiz", "sdat", "edat"]
            }
        return own + ["agrp", "sync", "vwht", "tkid", "musr", "ggrp"]
    }

    /// A value as it is stored, or nil if its type is wrong.
    static func stored(_ value: PlainValue, as kind: Kind) -> PlainValue? {
        switch (kind, value) {
        case (.blob, .text), (.blob, .data), (.string, .text), (.data, .data), (.date, .date): value
        case (.string, .data(let bytes)): String(validating: bytes, as: UTF8.self).map { .text($0) }
        case (.data, .text(let text)): .data(Array(text.utf8))
        case (.blob, .number(let number)), (.blob, .boxed(let number)), (.data, .number(let number)),
            (.data, .boxed(let number)):
            .data((0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
        case (.number, .number(let number)), (.digits, .number(let number)), (.fourCharacters, .number(let number)),
            (.number, .boxed(let number)), (.digits, .boxed(let number)), (.fourCharacters, .boxed(let number)),
            (.characters, .number(let number)), (.characters, .boxed(let number)):
            .number(number)
        case (.number, .truth(let truth)): .number(truth ? 1 : 0)
        case (.number, .text(let text)), (.digits, .text(let text)): number(spelledBy: text).map { .number($0) }
        case (.fourCharacters, .text(let text)), (.characters, .text(let text)):
            if let number = number(spelledBy: text) {
                .number(number)
            } else {
                text.utf8.count == 4 ? .number(text.utf8.reduce(0) { $0 << 8 | Int64($1) }) : nil
            }
        default: nil
        }
    }

    /// The number whose canonical decimal form is `text`.
    static func number(spelledBy text: String) -> Int64? {
        guard let number = Int64(text), "\(number)" == text else { return nil }
        return number
    }

    /// A stored value as shown in a result.
    static func shown(_ value: PlainValue, as kind: Kind) -> PlainResult {
        switch (kind, value) {
        case (.digits, .number(let number)): .text("\(number)")
        case (.fourCharacters, .number(let number)):
            .text(String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }, as: UTF8.self))
        case (_, .text(let text)): .text(text)
        case (_, .data(let bytes)): .data(bytes)
        case (_, .number(let number)): .number(number)
        case (_, .date(let microseconds)): .date(microseconds)
        default: .nothing
        }
    }

    /// The weight by which two values are compared: bytes or a number.
    enum Weight: Hashable {
        case bytes([UInt8])
        case number(Int64)
    }

    /// The weight of a stored value; an absent value has the weight of its default.
    static func weight(_ value: PlainValue?, as kind: Kind) -> Weight {
        switch value {
        case .text(let text): .bytes(Array(text.utf8))
        case .data(let bytes): .bytes(bytes)
        case .number(let number), .boxed(let number), .date(let number): .number(number)
        default:
            switch kind {
            case .blob, .string, .data: .bytes([])
            case .number, .digits, .fourCharacters, .characters, .date: .number(0)
            }
        }
    }
}
