import Foundation
import KCTestSupport
import Testing

@Suite("docs/first-password.md and its samples", .waitsForPrograms)
struct RecipeTests {
    /// A new user's.
    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        environment = ["HOME": folder.path, "PATH": "/usr/bin:/bin"]
    }

    /// The output of a sample that is copied to where a user might install it.
    private func run(_ name: String, _ arguments: [String] = []) throws -> String {
        let program = folder.path(name)
        #expect(try ExternalProgram.run("cp", [ExternalProgram.built(name), program]).status == 0)
        return try outcome(program, arguments)
    }

    private func outcome(_ program: String, _ arguments: [String]) throws -> String {
        let outcome = try ExternalProgram.run(
            "timeout", ["120", program] + arguments, environment: environment, in: folder.path)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return outcome.text
    }

    private func reveal(_ account: String) throws -> String {
        try outcome(ExternalProgram.built("kcbackup"), ["item", "find", account, "--reveal"])
    }

    @Test("The page shows the samples as they are")
    func page() throws {
        let page = try Project.text("docs/first-password.md")
        let sample = "Samples/FirstPassword/"
        let files =
            ["Package.swift", "Sources/FirstPassword/Passwords.swift", "Sources/FirstPassword/main.swift"]
            .map { sample + $0 }
            + [
                sample + "Tests/FirstPasswordTests/PasswordTests.swift",
                "Samples/KeychainRecipes/InstallationID.swift", "Samples/KeychainRecipes/MovedSecret.swift",
            ]
        for file in files {
            let text = try Project.text(file).replacing("path: \"../..\"", with: "path: \"../kcbackup\"")
            #expect(page.contains("```swift\n\(text)```\n"), "\(file)")
        }
        #expect(page.matches(of: /```swift\n/).count == files.count)
    }

    @Test("The first run stores the password, the second finds it, and kcbackup shows it")
    func firstPassword() throws {
        #expect(try run("FirstPassword") == "stored\n")
        #expect(try run("FirstPassword") == "ada: tulip\n")
        #expect(try reveal("ada") == "tulip")
    }

    @Test("The identifier of an installation survives the program")
    func reinstallation() throws {
        let first = try run("KeychainRecipes", ["installation"])
        #expect(UUID(uuidString: String(first.dropLast())) != nil)
        try FileManager.default.removeItem(atPath: folder.path("KeychainRecipes"))
        #expect(try run("KeychainRecipes", ["installation"]) == first)
    }

    @Test("Programs that start at the same time have one identifier")
    func simultaneousStarts() throws {
        let program = try ExternalProgram.built("KeychainRecipes")
        let script = "for i in 1 2 3 4 5 6; do \"$1\" installation & done; wait"
        let outcome = try ExternalProgram.run(
            "sh", ["-c", script, "sh", program], environment: environment, in: folder.path)
        #expect(outcome.errorText == "")
        let identifiers = outcome.text.split(separator: "\n")
        #expect(identifiers.count == 6 && Set(identifiers).count == 1, "\(identifiers)")
    }

    @Test("A secret is moved out of the defaults, and again after an earlier version has run")
    func movedSecret() throws {
        for _ in 1...2 {
            _ = try run("KeychainRecipes", ["version-1"])
            #expect(try defaults().contains { $0.contains("tulip") })
            _ = try run("KeychainRecipes", ["version-2"])
            #expect(try defaults().allSatisfy { !$0.contains("tulip") })
            #expect(try reveal("token") == "tulip")
        }
    }

    /// The property lists of `UserDefaults`.
    private func defaults() throws -> [String] {
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return try files.filter { $0.hasSuffix(".plist") }.map { file in
            String(decoding: try Data(contentsOf: URL(filePath: folder.path(file))), as: UTF8.self)
        }
    }
}
