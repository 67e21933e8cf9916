/// The attributes that an item can have; a case is named by Apple's four-letter code.
///
/// Cases are declared in ASCII order of their codes, which is the order in a metadata line. Kinds and classes follow
/// the column tables of Apple's `SecItemSchema.c` (docs/format.md, "Attributes"), except those of `accc`, which Apple
/// keeps with the secret.
package enum AttributeCode: UInt8, CaseIterable, Hashable, Comparable, Sendable {
    case accc, acct, agrp, alis, asen, atag, atyp, bsiz, cdat, cenc, clip, crtr, ctyp
    case cusi, decr, desc, drve, edat, encr, esiz, extr, gena, ggrp, icmt, invi
    case issr, kcls, klbl, labl, mdat, modi, musr, nega, next, path, pcsi, pcsk
    case pcss, pdmn, perm, pkhh, port, priv, prot, ptcl, scrp, sdat, sdmn, sens
    case sign, skid, slnr, snrc, srvr, subj, svce, sync, sysb, tkid, type, unwp
    case vrfy, vwht, vyrc, wrap

    /// The kind of value that an attribute holds.
    package enum Kind: Hashable, Sendable {
        /// Text only.
        case string
        /// Text by nature; bytes are accepted too, and the two are equal in a unique key if their bytes are.
        case textOrData
        /// Bytes by nature; text is accepted too.
        case dataOrText
        /// Bytes only.
        case data
        /// A whole number.
        case number
        /// A date.
        case date
    }

    /// Orders by code.
    package static func < (left: AttributeCode, right: AttributeCode) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The four-letter code.
    package var code: String { definition.code }

    /// The suffix of Apple's constant `kSecAttr…`.
    package var name: String { definition.name }

    /// The kind of its value.
    package var kind: Kind { definition.kind }

    /// True if items of `itemClass` can have the attribute.
    package func belongs(to itemClass: ItemClass) -> Bool {
        definition.classes & (1 << UInt8(itemClass.position)) != 0
    }

    /// The attribute with a four-letter code.
    package init?(code: String) {
        var bytes = code.utf8.makeIterator()
        guard let a = bytes.next(), let b = bytes.next(), let c = bytes.next(), let d = bytes.next(),
            bytes.next() == nil
        else { return nil }
        self.init(code: (a, b, c, d))
    }

    /// The attribute with a four-letter code, given as bytes.
    init?(code: (UInt8, UInt8, UInt8, UInt8)) {
        let key = Self.packed(code.0, code.1, code.2, code.3)
        var slot = Self.slot(key)
        // An empty slot has the key 0, which no code has.
        while Self.table[slot].key != 0 {
            if Self.table[slot].key == key {
                self = Self.table[slot].code
                return
            }
            slot = (slot + 1) % Self.tableSize
        }
        return nil
    }

    /// `"code":` as encoded in a metadata line, the first byte lowest.
    var lineKey: UInt64 { Self.lineKeys[Int(rawValue)] }

    /// The number of its bytes.
    static let lineKeySize = 7

    private var definition: Definition { Self.definitions[Int(rawValue)] }

    private static let lineKeys = allCases.map { code in
        "\"\(code.code)\":".utf8.reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    }

    // A hash table with open addressing; most codes are in their own slot.
    private static let tableSize = 1_024
    private static let table: [(key: UInt32, code: AttributeCode)] = {
        var table = [(key: UInt32, code: AttributeCode)](repeating: (0, .accc), count: tableSize)
        for code in allCases {
            let bytes = Array(code.code.utf8)
            let key = packed(bytes[0], bytes[1], bytes[2], bytes[3])
            var slot = slot(key)
            while table[slot].key != 0 { slot = (slot + 1) % tableSize }
            table[slot] = (key, code)
        }
        return table
    }()

    private static func slot(_ key: UInt32) -> Int { Int((key &* 0x9e37_79b1) >> 22) }

    private static func packed(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> UInt32 {
        UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
    }
}

private struct Definition {
    let code: String
    let name: String
    let kind: AttributeCode.Kind
    /// Bit n is set if items of the class at index n have the attribute.
    let classes: UInt8
}

extension AttributeCode {
    private static let every: UInt8 = 0b1111
    private static let passwords: UInt8 = 0b0011
    private static let generic: UInt8 = 0b0001
    private static let internet: UInt8 = 0b0010
    private static let certificate: UInt8 = 0b0100
    private static let key: UInt8 = 0b1000

    private static let definitions: [Definition] = [
        Definition(code: "accc", name: "AccessControl", kind: .string, classes: passwords | key),
        Definition(code: "acct", name: "Account", kind: .textOrData, classes: passwords),
        Definition(code: "agrp", name: "AccessGroup", kind: .string, classes: every),
        Definition(code: "alis", name: "Alias", kind: .textOrData, classes: every),
        Definition(code: "asen", name: "AlwaysSensitive", kind: .number, classes: key),
        Definition(code: "atag", name: "ApplicationTag", kind: .dataOrText, classes: key),
        Definition(code: "atyp", name: "AuthenticationType", kind: .textOrData, classes: internet),
        Definition(code: "bsiz", name: "KeySizeInBits", kind: .number, classes: key),
        Definition(code: "cdat", name: "CreationDate", kind: .date, classes: every),
        Definition(code: "cenc", name: "CertificateEncoding", kind: .number, classes: certificate),
        Definition(code: "clip", name: "AppClip", kind: .number, classes: every),
        Definition(code: "crtr", name: "Creator", kind: .number, classes: passwords | key),
        Definition(code: "ctyp", name: "CertificateType", kind: .number, classes: certificate),
        Definition(code: "cusi", name: "HasCustomIcon", kind: .number, classes: passwords),
        Definition(code: "decr", name: "CanDecrypt", kind: .number, classes: key),
        Definition(code: "desc", name: "Description", kind: .textOrData, classes: passwords),
        Definition(code: "drve", name: "CanDerive", kind: .number, classes: key),
        Definition(code: "edat", name: "EndDate", kind: .date, classes: key),
        Definition(code: "encr", name: "CanEncrypt", kind: .number, classes: key),
        Definition(code: "esiz", name: "EffectiveKeySize", kind: .number, classes: key),
        Definition(code: "extr", name: "IsExtractable", kind: .number, classes: key),
        Definition(code: "gena", name: "Generic", kind: .dataOrText, classes: generic),
        Definition(code: "ggrp", name: "SharingGroup", kind: .string, classes: every),
        Definition(code: "icmt", name: "Comment", kind: .textOrData, classes: passwords),
        Definition(code: "invi", name: "IsInvisible", kind: .number, classes: passwords),
        Definition(code: "issr", name: "Issuer", kind: .data, classes: certificate),
        Definition(code: "kcls", name: "KeyClass", kind: .number, classes: key),
        Definition(code: "klbl", name: "ApplicationLabel", kind: .data, classes: key),
        Definition(code: "labl", name: "Label", kind: .textOrData, classes: every),
        Definition(code: "mdat", name: "ModificationDate", kind: .date, classes: every),
        Definition(code: "modi", name: "IsModifiable", kind: .number, classes: key),
        Definition(code: "musr", name: "MultiUser", kind: .data, classes: every),
        Definition(code: "nega", name: "IsNegative", kind: .number, classes: passwords),
        Definition(code: "next", name: "NeverExtractable", kind: .number, classes: key),
        Definition(code: "path", name: "Path", kind: .textOrData, classes: internet),
        Definition(code: "pcsi", name: "PCSPlaintextPublicIdentity", kind: .data, classes: every),
        Definition(code: "pcsk", name: "PCSPlaintextPublicKey", kind: .data, classes: every),
        Definition(code: "pcss", name: "PCSPlaintextServiceIdentifier", kind: .number, classes: every),
        Definition(code: "pdmn", name: "Accessible", kind: .string, classes: every),
        Definition(code: "perm", name: "IsPermanent", kind: .number, classes: key),
        Definition(code: "pkhh", name: "PublicKeyHash", kind: .data, classes: certificate),
        Definition(code: "port", name: "Port", kind: .number, classes: internet),
        Definition(code: "priv", name: "IsPrivate", kind: .number, classes: key),
        Definition(code: "prot", name: "Protected", kind: .textOrData, classes: passwords),
        Definition(code: "ptcl", name: "Protocol", kind: .number, classes: internet),
        Definition(code: "scrp", name: "ScriptCode", kind: .number, classes: passwords),
        Definition(code: "sdat", name: "StartDate", kind: .date, classes: key),
        Definition(code: "sdmn", name: "SecurityDomain", kind: .textOrData, classes: internet),
        Definition(code: "sens", name: "IsSensitive", kind: .number, classes: key),
        Definition(code: "sign", name: "CanSign", kind: .number, classes: key),
        Definition(code: "skid", name: "SubjectKeyID", kind: .data, classes: certificate),
        Definition(code: "slnr", name: "SerialNumber", kind: .data, classes: certificate),
        Definition(code: "snrc", name: "CanSignRecover", kind: .number, classes: key),
        Definition(code: "srvr", name: "Server", kind: .textOrData, classes: internet),
        Definition(code: "subj", name: "Subject", kind: .data, classes: certificate),
        Definition(code: "svce", name: "Service", kind: .textOrData, classes: generic),
        Definition(code: "sync", name: "Synchronizable", kind: .number, classes: every),
        Definition(code: "sysb", name: "SysBound", kind: .number, classes: every),
        Definition(code: "tkid", name: "TokenID", kind: .string, classes: every),
        Definition(code: "type", name: "Type", kind: .number, classes: passwords | key),
        Definition(code: "unwp", name: "CanUnwrap", kind: .number, classes: key),
        Definition(code: "vrfy", name: "CanVerify", kind: .number, classes: key),
        Definition(code: "vwht", name: "SyncViewHint", kind: .string, classes: every),
        Definition(code: "vyrc", name: "CanVerifyRecover", kind: .number, classes: key),
        Definition(code: "wrap", name: "CanWrap", kind: .number, classes: key),
    ]
}

extension ItemClass {
    /// The attributes that together identify an item: two items of one class must differ in at least one.
    ///
    /// Source: Apple's list of the primary keys behind `errSecDuplicateItem`, with the columns of `SecItemSchema.c`.
    package var uniqueKey: [AttributeCode] {
        switch self {
        case .genericPassword: Self.genericPasswordKey
        case .internetPassword: Self.internetPasswordKey
        case .certificate: Self.certificateKey
        case .key: Self.keyKey
        }
    }

    private static let commonKey: [AttributeCode] = [.agrp, .sync, .vwht, .tkid, .musr, .ggrp]
    private static let genericPasswordKey: [AttributeCode] = [.acct, .svce] + commonKey
    private static let internetPasswordKey: [AttributeCode] =
        [.acct, .sdmn, .srvr, .ptcl, .atyp, .port, .path] + commonKey
    private static let certificateKey: [AttributeCode] = [.ctyp, .issr, .slnr] + commonKey
    private static let keyKey: [AttributeCode] =
        [.kcls, .klbl, .atag, .crtr, .type, .bsiz, .esiz, .sdat, .edat] + commonKey
}
