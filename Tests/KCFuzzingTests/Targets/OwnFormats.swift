import KCByteStreams
import KCKeychainModel

@testable import KCAgeEncryption
@testable import KCBackupArchive
@testable import KCGzipStreams
@testable import KCTarArchive

/// Opens every stanza.
private struct AnyStanza: Identity {
    static let fileKey = [UInt8](repeating: 7, count: 16)

    func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? { SecretBytes(copying: Self.fileKey) }
}

/// A file in memory.
private func memoryFile(_ bytes: [UInt8]) throws -> OpenFile {
    let file = try UnnamedFile(inFolder: "/dev/shm").file
    try file.write(bytes.span)
    return file
}

extension FuzzTarget {
    /// The layers of an archive, the outermost first.
    static let own = [
        FuzzTarget("tar", bytes: [tar], refusing: { $0 is StreamFailure }) { bytes in
            _ = try TarDirectory.read(memoryFile(bytes))
        },
        FuzzTarget("gzip", bytes: [storedGzip], refusing: { $0 is StreamFailure }) { bytes in
            var decoder = try GzipDecoder(MemorySource(copying: bytes), outputLimit: 1 << 20)
            _ = try decoder.readAll(limit: 1 << 20, as: "output")
        },
        FuzzTarget("age-header", [ageHeader], refusing: { $0 is AgeFailure }) { bytes in
            let header = try AgeHeader.read(from: MemorySource(copying: bytes))
            try require(bytes.starts(with: header.text.utf8), "a header is spelled in one way")
        },
        FuzzTarget("age-stream", bytes: [ageStream], refusing: isAgeFailure) { bytes in
            let header = try AgeHeader(
                stanzas: [Stanza(type: "x", arguments: [], body: [])], fileKey: SecretBytes(copying: AnyStanza.fileKey))
            let source = MemorySource(copying: Array(header.text.utf8) + bytes)
            var decryptor = try AgeDecryptor(source, identities: [AnyStanza()])
            _ = try decryptor.readAll(limit: 1 << 20, as: "output")
        },
        FuzzTarget("armor", [armored], refusing: { $0 is AgeFailure }) { bytes in
            _ = try TextArmor.decode(SecretBytes(copying: bytes))
        },
        FuzzTarget("archive-header", [archiveHeader], refusing: { $0 is ArchiveFailure }) { bytes in
            let header = try ArchiveHeader(parsing: bytes.span)
            try require(header.encoded() == bytes, "a header is spelled in one way")
        },
        FuzzTarget("metadata-line", [metadataLine], refusing: { $0 is MalformedLine }) { bytes in
            let item = try ItemLine.decode(bytes.span)
            var line = SecretBytes(capacity: 512)
            ItemLine.encode(item, into: &line)
            try require(line.withBytes { $0.isEqual(to: bytes.span) }, "a line is spelled in one way")
        },
        FuzzTarget("secret-line", [secretLine], refusing: { $0 is MalformedLine }) { bytes in
            let item = try ItemLine.decode(Array(metadataLine.utf8).span)
            var secret = SecretBytes(capacity: 64)
            let form = try SecretLine.decode(bytes.span, of: item, into: &secret)
            var line = SecretBytes(capacity: 512)
            SecretLine.encode(item.uuid, form, secret, into: &line)
            try require(line.withBytes { $0.isEqual(to: bytes.span) }, "a line is spelled in one way")
        },
    ]

    private static let isAgeFailure: @Sendable (any Error) -> Bool = { $0 is AgeFailure || $0 is StreamFailure }

    private static let tar: [UInt8] = {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ text: String, at start: Int) {
            block.replaceSubrange(start..<start + text.utf8.count, with: text.utf8)
        }
        put("kcbackup.json", at: 0)
        put("000600 \0" + "000000 \0" + "000000 \0" + "00000000001 " + "15200000000 ", at: 100)
        put("        0", at: 148)
        put("ustar\0" + "00", at: 257)
        put("000000 \0" + "000000 \0", at: 329)
        let sum = block.reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8)
        put(String(repeating: "0", count: 6 - digits.count) + digits + "\0 ", at: 148)
        return block + [0x61] + [UInt8](repeating: 0, count: 511 + 1_024)
    }()

    /// `a`, not compressed.
    private static let storedGzip: [UInt8] = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1, 1, 0, 0xfe, 0xff, 0x61, 0x43, 0xbe, 0xb7, 0xe8, 1, 0, 0, 0,
    ]

    private static let ageHeader = """
        age-encryption.org/v1
        -> X25519 TEiF0ypqr+bpvcqXNyCVJpL7OuwPdVwPL7KQEbFDOCc
        EmECAEcKN+n/Vs9SbWiV+Hu0r+E8R77DdWYyd83nw7U
        --- Vn+54jqiiUCE+WZcEVY3f1sqHjlu/z1LCQ/T7Xm7qI0

        """

    /// A nonce, and a chunk of three bytes.
    private static let ageStream: [UInt8] = {
        let nonce = [UInt8](repeating: 1, count: ChunkCipher.nonceSize)
        var sealed = SecretBytes(capacity: 64)
        do {
            var cipher = try ChunkCipher(fileKey: SecretBytes(copying: AnyStanza.fileKey), nonce: nonce)
            try cipher.seal([1, 2, 3].span, isLast: true, into: &sealed)
        } catch {
            fatalError("\(error)")
        }
        return nonce + sealed.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }()

    private static let armored = """
        -----BEGIN AGE ENCRYPTED FILE-----
        YWdlLWVuY3J5cHRpb24ub3JnL3YxCg==
        -----END AGE ENCRYPTED FILE-----

        """

    static let keybag =
        #"{"version":1,"uuid":"972a6972-9614-4fb9-b278-8c63859c2036","device":"KC-IVNO-G6GA-MG3C-X7M7-BDFM"#
        + #"","generation":1,"salt":"kplsgI2Bpp7B5r9K4PO0AKFKguNI6Sny1AK3snFONc0=","keys":{"ak":"WcnJn1qMjwW"#
        + #"BDZS/HUXMCciqRW2O8L63fAjAFYDlhE9mErs77ciSpw==","aku":"nR5RoDNiOejgu6/tLpdjF2TwiK+XnRbyztM8nmoCCP"#
        + #"rXxAz+dmHVIg==","ck":"ijJSyPiDj28hyRmeDZwEt2xxHvGBvrZKdsuh06Kogg15YTuvQ2GRFA==","cku":"+VGs68lCM"#
        + #"cmApVrw4h9OsSSLlRtjj9UZRj9Q9d4L7MySS+fwsdY1tA==","dk":"pWR0PCn5rw32PF0XLbejCy1HboePgD+3tvWwvYheh"#
        + #"ltLdZvmYTho7g==","dku":"PhIIhJ4zodC/gB8yeiLj5UngfgpmxR5iosjdtnlw22Ci9Yqr6jS9Cw=="},"mac":"McFGkR"#
        + #"vqkjvZHSo3yMUYlEL7Kqy5TJRETBPW80S7Ef0="}"#

    private static let archiveHeader =
        #"{"format":"kcbackup","version":1,"mode":"encrypted","archive":"b2a80386dd72ac63fba88d86b67c44ec5f09"#
        + #"11b02a111a88a9e2334d2277e3de","created":"2026-11-26T11:28:08.959072Z","device":"KC-IVNO-G6GA-MG3C-X7M7-"#
        + #"BDFM","tool":"kcbackup 0.1.0"}"# + "\n"

    private static let metadataLine =
        #"{"class":"genp","uuid":"38b0cf28-f0ad-868c-bc34-fe1bfa2219d8","travels":"any-device","size":1,"a"#
        + #"ttributes":{"acct":"ada","agrp":"kcbackup","cdat":"2026-11-26T11:28:02.068115Z","mdat":"2026-11-"#
        + #"26T11:28:02.068115Z","pdmn":"ak","svce":"s","sync":0},"extra":{"a":"b"}}"#

    private static let secretLine =
        #"{"uuid":"38b0cf28-f0ad-868c-bc34-fe1bfa2219d8","stored":"AdOnh8rWnrQ0rum7MXDOFK8hpESFaxcIb3CvwFo"#
        + #"ONj46Nfyu7ltWqkjWDkfaUDFzEJ0="}"#
}
