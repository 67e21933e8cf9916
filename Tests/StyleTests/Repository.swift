import Foundation
import KCTestSupport

/// The files that the rules apply to.
enum Repository {
    /// The folder of Package.swift.
    static let root = Project.folder

    /// The sources: Swift, and the C fences without the library of others that is in one of them.
    static let sources = files(below: "Sources", endings: ["swift", "h", "c", "modulemap"])
        .filter { !$0.path.hasPrefix("\(VendoredLibrary.folder)/\(VendoredLibrary.upstream)/") }
    /// The tests.
    static let tests = files(below: "Tests", endings: ["swift"])
    /// All other files: scripts, the Makefile, documents.
    static let others =
        files(below: ".ci", endings: nil) + files(below: "Samples", endings: ["sh", "md"])
        + files(below: "docs", endings: ["md", "sh", "1", "5", "bash", "fish", "zsh"])
        + files(in: "", named: ["Makefile", "Package.swift"])
        + topLevelDocuments

    /// README.md and the Markdown files beside it.
    static var topLevelDocuments: [SourceFile] {
        files(in: "", named: names(in: "").filter { $0.hasSuffix(".md") })
    }

    /// The names in a folder, without hidden ones, sorted; empty if there is no such folder.
    static func names(in folder: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
        return (names ?? []).filter { !$0.hasPrefix(".") }.sorted()
    }

    /// The names of the targets, each of which is a folder inside the folder of its floor.
    static let targets = names(in: "Sources").flatMap { names(in: "Sources/\($0)") }.sorted()

    /// Returns true if there is a file or folder at `path`.
    static func exists(_ path: String) -> Bool {
        // Resolved like a link, by its text alone: the folders that `..` leaves need not exist.
        FileManager.default.fileExists(atPath: root.appending(path: path).standardizedFileURL.path)
    }

    private static func files(below folder: String, endings: Set<String>?) -> [SourceFile] {
        let found = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        let names = (found?.allObjects as? [String] ?? []).sorted()
        return files(
            in: folder + "/", named: names.filter { endings?.contains(($0 as NSString).pathExtension) ?? true })
    }

    private static func files(in folder: String, named names: [String]) -> [SourceFile] {
        names.compactMap { name in
            let bytes = FileManager.default.contents(atPath: root.appending(path: folder + name).path).map {
                [UInt8]($0)
            }
            guard let bytes, let text = String(validating: bytes, as: UTF8.self) else { return nil }
            return SourceFile(path: folder + name, bytes: bytes, text: text)
        }
    }
}

/// The targets that Package.swift declares, and their dependencies.
struct Manifest: Sendable {
    /// The dependencies of each target, by name; other packages appear under the name of their constant.
    let dependencies: [String: Set<String>]
    /// The dependencies of each test target in addition to its subject and `KCTestSupport`.
    let testDependencies: [String: Set<String>]
    /// The names of the targets, in the order of their declarations.
    let order: [String]

    init(_ text: String) {
        // A target with a path of its own is a sample, or a program that only the tests run.
        let declaration =
            /(?:library\(\s*|executableTarget\(\s*name:\s*)"(\w+)",\s*(?:in: "\w+",\s*)?(?:dependencies:\s*)?\[([^\]]*)\](?!,\s*path: "(?:Samples|Tests))/
        var dependencies: [String: Set<String>] = [:]
        var order: [String] = []
        for match in text.matches(of: declaration) {
            dependencies[String(match.1)] = Set(match.2.matches(of: /\w+/).map { String($0.0) })
            order.append(String(match.1))
        }
        let tests = /tests\(\s*"(\w+)"(?:,\s*\[([^\]]*)\])?/
        let testDependencies = text.matches(of: tests).map { match in
            ("\(match.1)Tests", Set((match.2 ?? "").matches(of: /\w+/).map { String($0.0) }))
        }
        self.dependencies = dependencies
        self.testDependencies = Dictionary(uniqueKeysWithValues: testDependencies)
        self.order = order
    }

    /// A target, and all that it uses, directly or through others.
    func closure(of target: String) -> Set<String> {
        (dependencies[target] ?? []).reduce(into: [target]) { $0.formUnion(closure(of: $1)) }
    }

    /// The dependencies that no file imports.
    static func unused(_ dependencies: Set<String>, in files: [SourceFile]) -> Set<String> {
        let imports = files.reduce(into: Set<String>()) { $0.formUnion($1.imports) }
        // The constant of a product is named like its module, in lower case.
        return dependencies.filter { name in !imports.contains { $0.lowercased() == name.lowercased() } }
    }

    /// The manifest of this repository.
    static let current = Manifest(Repository.others.first { $0.path == "Package.swift" }?.text ?? "")
}
