import Foundation
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("The lock file of a keychain")
struct LockFileTests {
    @Test("A symbolic link in place of the lock file is not followed", arguments: [true, false])
    func linkInPlaceOfTheLock(leadsToAFile: Bool) throws {
        let bench = try Bench()
        let keychain = try bench.create()
        let lock = bench.path + ".lock"
        if FileManager.default.fileExists(atPath: lock) { try FileManager.default.removeItem(atPath: lock) }
        try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: "victim")
        if leadsToAFile { try bench.folder.write("victim", [7]) }
        #expect(throws: KeychainStoreError.self) {
            try keychain.add(password("ann"), secret: "x".secret, now: moment(1))
        }
        #expect(try bench.folder.list().contains("victim") == leadsToAFile)
        if leadsToAFile { #expect(try bench.folder.read("victim") == [7]) }
    }
}
