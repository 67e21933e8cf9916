import Foundation
import KCByteStreams
import KCCryptography
import KCKernelKeyring
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite(
    "A program and the user's kernel session",
    .enabled(if: KernelKeyring.refusal == nil, "the kernel refuses keyrings here"))
struct KernelSessionTests {
    private static let codes = ["ak", "aku", "akpu", "ck", "cku", "dk", "dku"]

    @Test("Each class is readable exactly while the user's session allows it")
    func classesFollowTheSession() throws {
        let owner = try TestClient(hasPasscode: true)
        for code in Self.codes {
            let item = generic([kSecAttrService: code, kSecAttrAccessible: code, kSecValueData: Data(code.utf8)])
            #expect(owner.add(item) == errSecSuccess)
        }
        var configuration = KeychainClient.Configuration()
        configuration.folder = owner.user.data
        configuration.machineIDPath = owner.user.machineIDPath
        configuration.groups = AccessGroups(ordered: ["test"])
        // With the default `resume`, which reads the kernel keyring.
        let program = KeychainClient(configuration)
        func readable() -> [String] {
            Self.codes.filter { code in
                var result: AnyObject?
                let query = generic([kSecAttrService: code, kSecReturnData: true])
                let status = program.copyMatching(query as CFDictionary, &result)
                #expect(status == errSecSuccess || status == errSecInteractionNotAllowed, "\(code): \(status)")
                #expect((result as? Data == Data(code.utf8)) == (status == errSecSuccess), "\(code)")
                return status == errSecSuccess
            }
        }

        let keychain = try LocalKeychain(nil, in: owner.user.data).open(on: owner.user.device)
        let session = KeychainSession()
        defer { try? session.lock(keychain, untilFirstUnlock: true) }
        let passcode = SecretBytes(copying: TestClient.passcode.utf8) as SecretBytes?
        #expect(readable() == ["dk", "dku"])
        try session.unlock(keychain, passcode: passcode, now: TestClient.start)
        #expect(readable() == Self.codes)
        try session.lock(keychain)
        #expect(readable() == ["ck", "cku", "dk", "dku"])
        try session.unlock(keychain, passcode: passcode, now: TestClient.start)
        #expect(readable() == Self.codes)
        try session.lock(keychain, untilFirstUnlock: true)
        #expect(readable() == ["dk", "dku"])
    }
}
