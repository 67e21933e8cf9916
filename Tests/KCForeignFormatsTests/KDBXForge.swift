import Foundation
import KCByteStreams
import KCCryptography
import KCExportFormats
import KCTestSupport

@testable import KCForeignFormats

/// Makes KDBX files of any kind, valid and invalid, with cheap key derivation.
struct KDBXForge {
    var major = 4
    var cipher = KDBX.Cipher.aes256
    var derivation = KDBXDerivation.aes(rounds: 5, seed: [UInt8](repeating: 7, count: 32))
    var stream = KDBX.Stream.chaCha20
    var binaries: [[UInt8]] = []
    var streamKey = [UInt8](repeating: 9, count: 32)
    var isCompressed = false
    var cipherName: String?
    /// The number of bytes in a block of version 4.
    var blockSize = Int.max
    /// The numbers of the blocks in version 3, the last of which is empty.
    var blockNumbers: [UInt32] = [0, 1]

    /// Makes a file from `xml`, in which `{{text}}` becomes a protected value.
    func file(_ xml: String, password: String? = "pw", keyFile: [UInt8]? = nil) throws -> [UInt8] {
        let seed = [UInt8](repeating: 1, count: 32)
        let iv = [UInt8](repeating: 2, count: cipher.ivLength)
        let start = [UInt8](repeating: 3, count: 32)
        var header = KDBX.signature + (major == 4 ? [0, 0, 4, 0] : [1, 0, 3, 0])
        func field(_ field: KDBX.Field, _ value: [UInt8]) {
            let count = major == 4 ? KDBX.littleEndian(UInt32(value.count)) : KDBX.littleEndian(UInt16(value.count))
            header += [field.rawValue] + count + value
        }
        field(.cipher, KDBX.bytes(ofUUID: cipherName ?? cipher.rawValue))
        field(.compression, [isCompressed ? 1 : 0, 0, 0, 0])
        field(.masterSeed, seed)
        field(.iv, iv)
        if major == 4 {
            field(.derivation, map.encoded)
        } else if case .aes(let rounds, let seed) = derivation {
            field(.transformSeed, seed)
            field(.transformRounds, KDBX.littleEndian(rounds))
            field(.streamKey, streamKey)
            field(.startBytes, start)
            field(.streamCipher, KDBX.littleEndian(stream.rawValue))
        }
        field(.end, [])

        var composite = KDBXCompositeKey()
        if let password { try composite.add(password: SecretBytes(copying: password.utf8)) }
        if let keyFile { composite.add(keyFile: SecretBytes(copying: keyFile)) }
        let keys = try KDBXKeys(seed: seed, transformed: derivation.transform(composite.bytes()))
        let hash = "<Meta><HeaderHash>\(Base64.encode(SHA256.hash(header.span).bytes))</HeaderHash>"
        var body = try protected(major == 3 ? xml.replacing("<Meta>", with: hash) : xml)
        if isCompressed { body = try compressed(body) }
        if major == 3 {
            let hash = SHA256.hash(body.span).bytes
            let size = KDBX.littleEndian(UInt32(body.count))
            let (first, last) = (KDBX.littleEndian(blockNumbers[0]), KDBX.littleEndian(blockNumbers[1]))
            body = start + first + hash + size + body + last + [UInt8](repeating: 0, count: 36)
        } else if !isCompressed {
            body = innerHeader + body
        }
        var payload = SecretBytes(copying: body)
        if cipher.isOfBlocks {
            let padding = 16 - payload.count % 16
            for _ in 0..<padding { payload.append(UInt8(padding)) }
        }
        var encryption = try KDBXCipher(cipher, .encrypt, key: keys.payload, iv: iv)
        try encryption.process(inPlace: &payload)
        let ciphertext = payload.withBytes { span in span.indices.map { span[$0] } }
        if major == 3 { return header + ciphertext }
        var file = try header + SHA256.hash(header.span).bytes + keys.code(ofHeader: header.span)
        let blocks = stride(from: 0, to: ciphertext.count, by: min(blockSize, ciphertext.count)).map { start in
            Array(ciphertext[start...].prefix(blockSize))
        }
        for (number, block) in (blocks + [[]]).enumerated() {
            file += try keys.code(ofBlock: UInt64(number), block.span)
            file += KDBX.littleEndian(UInt32(block.count)) + block
        }
        return file
    }

    var map: KDBXDictionary {
        var map = KDBXDictionary()
        switch derivation {
        case .aes(let rounds, let seed):
            map.add("$UUID", .bytes(KDBX.bytes(ofUUID: KDBXDerivation.aesNames[0])))
            map.add("R", .uint64(rounds))
            map.add("S", .bytes(seed))
        case .argon2(let kind, let cost, let salt):
            map.add("$UUID", .bytes(KDBX.bytes(ofUUID: kind == .d ? KDBXDerivation.argon2d : KDBXDerivation.argon2id)))
            map.add("V", .uint32(cost.version.rawValue))
            map.add("I", .uint64(UInt64(cost.iterations)))
            map.add("M", .uint64(UInt64(cost.memoryInKiB) << 10))
            map.add("P", .uint32(cost.lanes))
            map.add("S", .bytes(salt))
        }
        return map
    }

    private var innerHeader: [UInt8] {
        var header = [1, 4, 0, 0, 0] + KDBX.littleEndian(stream.rawValue)
        header += [2] + KDBX.littleEndian(UInt32(streamKey.count)) + streamKey
        for binary in binaries { header += [3] + KDBX.littleEndian(UInt32(binary.count + 1)) + [0] + binary }
        return header + [0, 0, 0, 0, 0]
    }

    private func protected(_ xml: String) throws -> [UInt8] {
        let stream = try KDBXStream(stream, key: SecretBytes(copying: streamKey))
        var result = ""
        var rest = xml[...]
        while let open = rest.range(of: "{{"), let close = rest.firstMatch(of: /\}\}(?!\})/)?.range {
            result += rest[..<open.lowerBound]
            var value = SecretBytes(copying: rest[open.upperBound..<close.lowerBound].utf8)
            try stream.process(&value)
            var text = SecretBytes(capacity: 64)
            value.withBytes { Base64.encode($0, into: &text) }
            result += text.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
            rest = rest[close.upperBound...]
        }
        return Array((result + rest).utf8)
    }

    private func compressed(_ body: [UInt8]) throws -> [UInt8] {
        let outcome = try ExternalProgram.run("gzip", ["-9", "-c"], input: (major == 4 ? innerHeader : []) + body)
        return outcome.output
    }
}

extension KDBXForge {
    /// A database with these entries and groups in its topmost group, named R.
    static func xml(_ content: String, meta: String = "") -> String {
        "<KeePassFile><Meta>\(meta)</Meta><Root><Group><UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>R</Name>\(content)"
            + "</Group></Root></KeePassFile>"
    }

    /// An entry whose UUID ends with `id`; a value in double braces is protected.
    static func entry(_ id: Int, _ strings: [(String, String)], more: String = "") -> String {
        let uuid = Base64.encode([UInt8](repeating: 0, count: 15) + [UInt8(id)])
        let texts = strings.map { key, value in
            let mark = value.contains("{{") ? " Protected=\"True\"" : ""
            return "<String><Key>\(key)</Key><Value\(mark)>\(value)</Value></String>"
        }
        return "<Entry><UUID>\(uuid)</UUID>\(texts.joined())\(more)</Entry>"
    }
}
