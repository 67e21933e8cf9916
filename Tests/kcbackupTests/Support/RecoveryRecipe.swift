import Foundation
import KCTerminal
import KCTestSupport
import Testing

/// The recovery script, run as it would be years later: in an empty folder, with only Debian's tools.
enum RecoveryRecipe {
    /// The tools that the script runs, and `script` (of util-linux), which provides the terminal on which age asks for
    /// a passphrase.
    static let tools = [
        "age", "base32", "base64", "basenc", "bash", "cmp", "gzip", "perl", "script", "sed", "sha256sum",
        "sort", "ssh-keygen", "tar",
    ]

    /// The tools that are not installed here.
    static let missing = tools.filter { ExternalProgram.locate($0) == nil }

    /// The reason to skip the tests of the script.
    static let skipped = "the recovery script was not run, for want of \(missing.joined(separator: ", "))"

    /// The script as it is shipped.
    static let path = Project.path("docs/recover.sh")

    /// Runs the script on `archive` in a new folder.
    ///
    /// - Parameters:
    ///   - identity: the identity file; nil for the script's default, which asks for the passphrase.
    ///   - limit: the maximum size of a decompressed stream, in bytes.
    ///   - typed: the input on the terminal; nil runs the script without a terminal.
    ///   - tools: a folder with programs that are found before others.
    static func run(
        on archive: String, identity: String? = nil, signers: String? = nil, device: String? = nil,
        limit: String? = nil, typed: String? = nil, tools: String? = nil
    ) throws -> Recovered {
        let folder = try TemporaryFolder()
        var environment = ["PATH": tools.map { "\($0):\(searchPath)" } ?? searchPath, "ARCHIVE": archive]
        environment["LIMIT"] = limit
        environment["IDENTITY"] = identity
        environment["ALLOWED_SIGNERS"] = signers
        environment["DEVICE"] = device
        guard let typed else {
            let outcome = try ExternalProgram.run("bash", [path], environment: environment, in: folder.path)
            return Recovered(folder: folder, status: outcome.status, output: outcome.text, errors: outcome.errorText)
        }
        // Only age uses the terminal: output to it would be colored and might be cut off.
        let outcome = try ExternalProgram.run(
            "script", ["-qec", "bash '\(path)' >output 2>errors", "/dev/null"], input: Array(typed.utf8),
            environment: environment, in: folder.path)
        let output = String(decoding: try folder.read("output"), as: UTF8.self)
        let errors = String(decoding: try folder.read("errors"), as: UTF8.self)
        return Recovered(folder: folder, status: outcome.status, output: output, errors: errors)
    }
}

extension RecoveryRecipe {
    /// Runs the script with limits: 128 MiB of memory for every program but age, and 64 MiB for every file.
    static func runConfined(on archive: String, identity: String, limit: String? = nil) throws -> Recovered {
        let folder = try TemporaryFolder()
        let age = try #require(ExternalProgram.locate("age"))
        try FileManager.default.createDirectory(atPath: folder.path("tools"), withIntermediateDirectories: false)
        // age is written in Go, which reserves far more address space than it uses.
        try folder.write("tools/age", Array("#!/bin/bash\nulimit -S -v unlimited\nexec \(age) \"$@\"\n".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path("tools/age"))
        var environment = ["PATH": folder.path("tools") + ":" + searchPath, "ARCHIVE": archive, "IDENTITY": identity]
        environment["LIMIT"] = limit
        let confined = "ulimit -S -v 131072; ulimit -f 65536; exec bash '\(path)'"
        let outcome = try ExternalProgram.run("bash", ["-c", confined], environment: environment, in: folder.path)
        return Recovered(folder: folder, status: outcome.status, output: outcome.text, errors: outcome.errorText)
    }

    fileprivate static var searchPath: String { ProcessInfo.processInfo.environment["PATH"] ?? "" }
}

/// The result of a run of the script.
struct Recovered {
    let folder: TemporaryFolder
    let status: Int32
    let output: String
    let errors: String

    /// The files with secrets, by name.
    func secrets() throws -> [String: [UInt8]] {
        let names = try folder.list().filter { $0.hasPrefix("recovered/") && $0.split(separator: "/").count == 2 }
        var secrets: [String: [UInt8]] = [:]
        for name in names where name != "recovered/archive" && name != "recovered/table.tsv" {
            secrets[String(name.dropFirst(10))] = try folder.read(name)
        }
        return secrets
    }

    /// The rows of the table: UUID, class, name, account, and what became of the secret.
    func table() throws -> [[String]] {
        String(decoding: try folder.read("recovered/table.tsv"), as: UTF8.self)
            .split(separator: "\n").map { $0.components(separatedBy: "\t") }
    }

    /// The number before `words` in the summary.
    func count(_ words: String) throws -> Int {
        let pattern = try Regex("\\b([0-9]+) \(words)", as: (Substring, Substring).self)
        let match = try #require(try pattern.firstMatch(in: output), "\(output)")
        return try #require(Int(match.1))
    }
}

/// The sample keychain with known UUIDs, so that recovered items can be identified.
struct NumberedSamples {
    struct Item {
        let uuid: String
        let accessibility: String
        /// Nil if the item has none.
        let secret: [UInt8]?

        var isThisDeviceOnly: Bool { ["aku", "cku", "dku"].contains(accessibility) }
        var isInNoArchive: Bool { accessibility == "akpu" }
    }

    private(set) var items: [Item] = []
    /// The input for `import`.
    private(set) var text = ""

    init() throws {
        let lines = try Project.text("Samples/keychain.jsonl").split(separator: "\n")
        for (index, line) in lines.enumerated() {
            let digits = String(index + 1)
            let uuid = "5a3b1e00-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
            text += #"{"uuid":"\#(uuid)",\#(line.dropFirst())"# + "\n"
            items.append(try Self.item(line, uuid))
        }
    }

    private static func item(_ line: Substring, _ uuid: String) throws -> Item {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        let attributes = object["attributes"] as? [String: Any]
        let coded = (object["secret"] as? [String: String])?["base64"].flatMap { Data(base64Encoded: $0) }
        let secret = (object["secret"] as? String).map { Array($0.utf8) } ?? coded.map { [UInt8]($0) }
        return Item(uuid: uuid, accessibility: attributes?["pdmn"] as? String ?? "ak", secret: secret)
    }
}
