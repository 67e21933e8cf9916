import Foundation
import KCTestSupport

@testable import KeychainSecurity

/// A user with a default keychain, for programs that run in separate processes.
final class ProgramHome: Sendable {
    private let user: UserData
    var folder: TemporaryFolder { user.folder }
    /// The path of the keychain.
    var keychainPath: String { user.keychainPath }

    /// Creates an empty keychain without a passcode.
    init() throws {
        user = try UserData(isThisMachine: true)
        try user.makeKeychain(now: TestClient.start)
        try FileManager.default.createDirectory(atPath: folder.path("home"), withIntermediateDirectories: false)
    }

    /// The environment for the programs.
    var environment: [String: String] {
        ["HOME": folder.path("home"), "XDG_DATA_HOME": folder.path, "PATH": "/usr/bin:/bin"]
    }

    /// A program with all access groups, in this process.
    func client() -> KeychainClient {
        var configuration = KeychainClient.Configuration()
        configuration.folder = user.data
        configuration.groups = AccessGroups(ordered: ["*"])
        return KeychainClient(configuration)
    }
}
