import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("The sample program, with the source of an iOS app", .waitsForPrograms)
struct SampleTests {
    private let home: ProgramHome
    private let program: String
    /// `Samples/KeychainDemo`.
    private static let sources = Project.folder.appending(path: "Samples/KeychainDemo")

    init() throws {
        home = try ProgramHome()
        // The entitlements are next to the program, as in an installation.
        program = home.folder.path("KeychainDemo")
        let manager = FileManager.default
        // By another process: a file that a process of the tests has open for writing cannot be run.
        #expect(try ExternalProgram.run("cp", [ExternalProgram.built("KeychainDemo"), program]).status == 0)
        try manager.copyItem(
            at: Self.sources.appending(path: "KeychainDemo.entitlements"),
            to: URL(filePath: program + ".entitlements"))
    }

    private func run(_ program: String, _ arguments: [String] = []) throws -> ExternalProgram.Outcome {
        // A generous time limit, so that a hang fails instead of blocking all tests.
        try ExternalProgram.run(
            "timeout", ["120", program] + arguments, environment: home.environment, in: home.folder.path)
    }

    @Test("It adds, finds, updates and deletes as on iOS, and kcbackup lists the remaining items")
    func story() throws {
        let outcome = try run(program)
        let expected = try String(contentsOf: Self.sources.appending(path: "output.txt"), encoding: .utf8)
        #expect(outcome.text == expected)
        #expect(outcome.errorText == "")
        #expect(outcome.status == 0)

        let list = try run(ExternalProgram.built("kcbackup"), ["item", "list", "--json"])
        let object = try #require(JSONSerialization.jsonObject(with: Data(list.output)) as? [CFString: Any])
        let items = try #require(object["items"] as? [[CFString: Any]])
        let names = items.map { item in
            let attributes = item["attributes"] as? [CFString: Any] ?? [:]
            let texts = [kSecAttrService, kSecAttrAccount, kSecAttrLabel, kSecAttrAccessGroup, kSecAttrAccessible]
            return [item["class"] as? String ?? "-"] + texts.map { attributes[$0] as? String ?? "-" }
        }
        #expect(
            names == [
                ["genp", "single sign-on", "-", "-", "A1B2C3D4E5.com.example.shared", "ak"],
                [
                    "genp", "com.example.KeychainDemo", "ada", "-", "A1B2C3D4E5.com.example.KeychainDemo",
                    "ck",
                ],
                ["keys", "-", "-", "database", "A1B2C3D4E5.com.example.KeychainDemo", "aku"],
            ])
    }

    @Test("A second run finds the items of the first")
    func secondRun() throws {
        _ = try run(program)
        let again = try run(program)
        #expect(again.status == 0)
        let lines = again.text.split(separator: "\n").map(String.init)
        #expect(lines.contains("ada: second"))
        #expect(lines.contains("add key: -25299 The specified item already exists in the keychain."))
        #expect(lines.contains("add shared: -25299 The specified item already exists in the keychain."))
    }

    @Test("Without its entitlements it cannot use its team's groups")
    func withoutEntitlements() throws {
        try FileManager.default.removeItem(atPath: program + ".entitlements")
        let lines = try run(program).text.split(separator: "\n").map(String.init)
        #expect(lines.contains("add website: 0 No error."))
        #expect(lines.contains("add shared: -34018 A required entitlement isn't present."))
    }
}
