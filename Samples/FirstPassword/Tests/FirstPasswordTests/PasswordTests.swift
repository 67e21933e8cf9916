import Foundation
import Security
import Testing

@testable import FirstPassword

struct PasswordTests {
    #if os(Linux)
        private static let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        /// A keychain only for these tests, created by the first of them, and removed when they end.
        private static let keychain = Result {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            atexit { try? FileManager.default.removeItem(at: PasswordTests.folder) }
            setenv("XDG_DATA_HOME", folder.path, 1)
            try KeychainClient.openOrCreate(passcode: nil)
        }

        init() throws { try Self.keychain.get() }
    #endif

    @Test("A password is found, and the last one counts")
    func lastOne() throws {
        let passwords = Passwords()
        try passwords.set("tulip", for: "ada")
        try passwords.set("rose", for: "ada")
        #expect(try passwords.password(for: "ada") == "rose")
        #expect(try passwords.password(for: "bob") == nil)
    }
}
