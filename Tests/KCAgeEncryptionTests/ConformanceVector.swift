import CKCZlib
import Foundation
import KCCryptography
import Testing

/// A file of the public conformance vectors: `key: value` lines, an empty line, and an age file.
struct ConformanceVector: Sendable, CustomTestStringConvertible {
    let name: String
    let expectation: String
    let payloadHash: String?
    let identities: [String]
    let passphrases: [String]
    let file: [UInt8]
    let isSupported: Bool

    /// True if the file is in text armor.
    let isArmored: Bool

    var testDescription: String { name }

    private static let knownKeys: Set = [
        "expect", "payload", "file key", "identity", "passphrase", "armored", "compressed", "comment",
    ]

    /// The folder of the vectors: `AGE_TESTKIT` if set, or the one next to the tests.
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["AGE_TESTKIT"] { return URL(filePath: path) }
        return URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors").standardizedFileURL
    }()

    static let isDefaultFolder = ProcessInfo.processInfo.environment["AGE_TESTKIT"] == nil

    /// All vectors in the folder.
    static let all: [ConformanceVector] = {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path()), !names.isEmpty else {
            preconditionFailure("there are no conformance vectors in \(folder.path())")
        }
        return names.filter { $0 != "README.md" }.sorted().map { name in
            guard let data = try? Data(contentsOf: folder.appending(path: name)),
                let vector = ConformanceVector(name, [UInt8](data))
            else { preconditionFailure("\(name) is not a conformance vector") }
            return vector
        }
    }()

    private init?(_ name: String, _ bytes: [UInt8]) {
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: [10, 10]) }) else { return nil }
        var values: [String: [String]] = [:]
        for line in String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n") {
            guard let colon = line.range(of: ": ") else { return nil }
            values[String(line[..<colon.lowerBound]), default: []].append(String(line[colon.upperBound...]))
        }
        guard let expectation = values["expect"]?.first else { return nil }
        self.name = name
        self.expectation = expectation
        payloadHash = values["payload"]?.first
        identities = values["identity"] ?? []
        passphrases = values["passphrase"] ?? []
        isArmored = values["armored"] != nil
        isSupported =
            identities.allSatisfy { $0.hasPrefix("AGE-SECRET-KEY-1") || $0.hasPrefix("AGE-SECRET-KEY-PQ-1") }
            && Set(values.keys).isSubset(of: Self.knownKeys)
        let rest = Array(bytes[(end + 2)...])
        if let compression = values["compressed"]?.first {
            guard compression == "zlib", let inflated = Self.inflate(rest) else { return nil }
            file = inflated
        } else {
            file = rest
        }
    }

    private static func inflate(_ bytes: [UInt8]) -> [UInt8]? {
        // The largest vector has 258 chunks of 64 KiB.
        var output = [UInt8](repeating: 0, count: 20 << 20)
        var count = UInt(output.count)
        guard unsafe uncompress(&output, &count, bytes, UInt(bytes.count)) == Z_OK else { return nil }
        return Array(output.prefix(Int(count)))
    }
}
