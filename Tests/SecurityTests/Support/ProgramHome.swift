import DeviceIdentity
import Foundation
import KeychainModel
import KeychainStore
import LocalKeychains
import TestSupport

@testable import Security

/// A user with a default keychain, for programs that run as processes.
final class ProgramHome: Sendable {
    let folder: TemporaryFolder

    /// Makes an empty keychain without a passcode.
    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("home"), withIntermediateDirectories: false)
        let data = DataFolder(path: folder.path("kcbackup"))
        try FileManager.default.createDirectory(
            atPath: data.keychains, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: data.path)
        _ = try Keychain.create(
            at: LocalKeychain(nil, in: data).path, deviceKey: LocalDevice(data).keyOrFirst().key, passcode: nil,
            now: TestClient.start)
    }

    /// The environment of the programs.
    var environment: [String: String] {
        ["HOME": folder.path("home"), "XDG_DATA_HOME": folder.path, "PATH": "/usr/bin:/bin"]
    }

    /// A program with all access groups, in this process.
    func client() -> KeychainClient {
        var configuration = KeychainClient.Configuration()
        configuration.folder = DataFolder(path: folder.path("kcbackup"))
        configuration.groups = AccessGroups(ordered: ["*"])
        return KeychainClient(configuration)
    }
}
