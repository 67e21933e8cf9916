import KCByteStreams
import KCCryptography
import KCItemSources
import KCTestSupport

@testable import KCForeignFormats

/// Writes vaults in the form of OPVault.
struct OPVaultWriter {
    /// A record: its category, overview and secret part, and its files.
    struct Record {
        var category = "001"
        var overview =
            #"{"title":"T","url":"https://a.example","URLs":[{"u":"https://a.example"},{"u":"https://b.example"}]}"#
        var details =
            #"{"fields":[{"designation":"username","name":"u","type":"T","value":"ada"},"#
            + #"{"designation":"password","name":"p","type":"P","value":"p"}],"notesPlain":"n"}"#
        var members: [(String, String)] = []
        var files: [(name: String, bytes: [UInt8])] = []
    }

    var password = "correct horse"
    var rounds = 1_000
    var records: [(id: String, record: Record)] = [("A0", Record())]
    var folders: [(id: String, overview: String)] = []

    private static let salt = [UInt8](1...16)
    private static let master = [UInt8](repeating: 7, count: 256)
    private static let overview = [UInt8](repeating: 8, count: 64)
    private static let itemKeys = (0..<64).map { UInt8($0) }

    /// Writes the files of the vault into a folder.
    func write(to folder: TemporaryFolder) throws {
        try Path.makeFolder(folder.path("default"))
        for (name, text) in try files() { try folder.write("default/\(name)", text) }
    }

    /// The files below `default`.
    func files() throws -> [(String, [UInt8])] {
        let derived = try PBKDF2.derive(
            password: SecretBytes(copying: password.utf8), salt: Self.salt.span, rounds: rounds, hash: .sha512,
            count: 64
        ).bytesForTest()
        let overviewKeys = HashFunction.sha512.digest(of: Self.overview.span)
        let masterKeys = HashFunction.sha512.digest(of: Self.master.span)
        var files = [
            (
                "profile.js",
                "var profile={\"iterations\":\(rounds),\"salt\":\"\(Base64.encode(Self.salt))\",\"masterKey\":\""
                    + Base64.encode(try sealed(Self.master, derived)) + "\",\"overviewKey\":\""
                    + Base64.encode(try sealed(Self.overview, derived)) + "\"};"
            )
        ].map { ($0.0, Array($0.1.utf8)) }
        let titles = try folders.map { folder in
            let overview = Base64.encode(try sealed(Array(folder.overview.utf8), overviewKeys))
            return "\"\(folder.id)\":{\"uuid\":\"\(folder.id)\",\"overview\":\"\(overview)\"}"
        }
        files.append(("folders.js", Array("loadFolders({\(titles.joined(separator: ","))});".utf8)))
        var bands: [Character: [String]] = [:]
        for (id, record) in records {
            bands[id.first ?? "0", default: []].append(try json(id, record, masterKeys, overviewKeys))
            for (index, file) in record.files.enumerated() {
                let name = Base64.encode(try sealed(Array("{\"filename\":\"\(file.name)\"}".utf8), overviewKeys))
                let metadata = Array("{\"itemUUID\":\"\(id)\",\"overview\":\"\(name)\"}".utf8)
                let icon = try sealed([1], Self.itemKeys)
                files.append(
                    (
                        "\(id)_F\(index).attachment",
                        Array("OPCLDAT".utf8) + [2, UInt8(metadata.count & 255), UInt8(metadata.count >> 8), 0, 0]
                            + [UInt8(icon.count), 0, 0, 0] + metadata + icon + (try sealed(file.bytes, Self.itemKeys))
                    ))
            }
        }
        for (digit, items) in bands {
            files.append(("band_\(digit).js", Array("ld({\(items.joined(separator: ","))});".utf8)))
        }
        return files
    }

    private func json(
        _ id: String, _ record: Record, _ masterKeys: [UInt8], _ overviewKeys: [UInt8]
    ) throws -> String {
        let iv = [UInt8](repeating: 5, count: 16)
        let keys = try encrypted(Self.itemKeys, masterKeys, iv)
        let k = try iv + keys + code(iv + keys, masterKeys)
        var members: [(String, String)] = [
            ("category", "\"\(record.category)\""), ("created", "1700000000"),
            ("d", "\"\(Base64.encode(try sealed(Array(record.details.utf8), Self.itemKeys)))\""),
            ("k", "\"\(Base64.encode(k))\""),
            ("o", "\"\(Base64.encode(try sealed(Array(record.overview.utf8), overviewKeys)))\""),
            ("updated", "1700000001"), ("uuid", "\"\(id)\""),
        ]
        members = (members + record.members).sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        let text = members.map { name, value in
            name + (value == "true" ? "1" : value == "false" ? "0" : value.filter { $0 != "\"" })
        }
        members.append(("hmac", "\"\(Base64.encode(try code(Array(text.joined().utf8), overviewKeys)))\""))
        return "\"\(id)\":{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    /// A block of the form "opdata01".
    private func sealed(_ plain: [UInt8], _ keys: [UInt8]) throws -> [UInt8] {
        let iv = [UInt8](repeating: 3, count: 16)
        let padded = [UInt8](repeating: 9, count: 16 - plain.count % 16) + plain
        let length = (0..<8).map { UInt8(truncatingIfNeeded: plain.count >> (8 * $0)) }
        let block = try Array("opdata01".utf8) + length + iv + encrypted(padded, keys, iv)
        return try block + code(block, keys)
    }

    private func encrypted(_ plain: [UInt8], _ keys: [UInt8], _ iv: [UInt8]) throws -> [UInt8] {
        var cipher = try BlockCipher(.aes256CBC, .encrypt, key: SecretBytes(copying: keys.prefix(32)), iv: iv.span)
        var bytes = SecretBytes(copying: plain)
        try cipher.process(inPlace: &bytes)
        return bytes.bytesForTest()
    }

    private func code(_ bytes: [UInt8], _ keys: [UInt8]) throws -> [UInt8] {
        var hmac = try HMAC(key: SecretBytes(copying: keys.suffix(32)))
        try hmac.update(bytes.span)
        return try hmac.finalize()
    }
}
