import Foundation
import SAMKeychain
import Synchronization
import Testing

@Suite("Passwords in one call")
struct PasswordTests {
    @Test("A password is stored, read as text and as bytes, replaced and deleted")
    func story() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                #expect(SAMKeychain.setPassword("one", forService: service, account: account))
                #expect(SAMKeychain.password(forService: service, account: account) == "one")
                #expect(SAMKeychain.passwordData(forService: service, account: account) == Data("one".utf8))
                #expect(SAMKeychain.setPasswordData(Data("twö".utf8), forService: service, account: account))
                #expect(SAMKeychain.password(forService: service, account: account) == "twö")
                #expect(itemCount() == 1)
                #expect(SAMKeychain.password(forService: service, account: "grace") == nil)
                #expect(SAMKeychain.password(forService: "web", account: account) == nil)
                #expect(SAMKeychain.deletePassword(forService: service, account: account))
                #expect(SAMKeychain.password(forService: service, account: account) == nil)
                #expect(itemCount() == 0)
            }
        }
    }

    @Test("A missing password is reported with an error message and code")
    func missing() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let calls: [(inout NSError?) -> Bool] = [
                    { SAMKeychain.password(forService: service, account: account, error: &$0) == nil },
                    { SAMKeychain.passwordData(forService: service, account: account, error: &$0) == nil },
                    { !SAMKeychain.deletePassword(forService: service, account: account, error: &$0) },
                    { SAMKeychain.allAccounts(&$0) == nil },
                    { SAMKeychain.accounts(forService: service, error: &$0) == nil },
                ]
                for call in calls {
                    var error: NSError?
                    #expect(call(&error))
                    #expect(error?.domain == "com.samsoffes.samkeychain")
                    #expect(error?.code == Int(errSecItemNotFound))
                    #expect(error?.localizedDescription == "The specified item could not be found in the keychain.")
                }
            }
        }
    }

    @Test("A successful call leaves the error variable unchanged")
    func success() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let earlier = NSError(domain: "earlier", code: 1)
                var error: NSError? = earlier
                #expect(SAMKeychain.setPassword("one", forService: service, account: account, error: &error))
                #expect(
                    SAMKeychain.setPasswordData(Data("two".utf8), forService: service, account: account, error: &error))
                #expect(SAMKeychain.password(forService: service, account: account, error: &error) == "two")
                #expect(SAMKeychain.passwordData(forService: service, account: account, error: &error)?.count == 3)
                #expect(SAMKeychain.allAccounts(&error)?.count == 1)
                #expect(SAMKeychain.accounts(forService: service, error: &error)?.count == 1)
                #expect(SAMKeychain.deletePassword(forService: service, account: account, error: &error))
                #expect(error === earlier)
            }
        }
    }

    @Test("An empty password is stored, and reads as nil text without an error")
    func empty() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                #expect(SAMKeychain.setPassword("", forService: service, account: account))
                var error: NSError?
                #expect(SAMKeychain.password(forService: service, account: account, error: &error) == nil)
                #expect(error == nil)
                #expect(SAMKeychain.passwordData(forService: service, account: account) == Data())
                #expect(itemCount() == 1)
            }
        }
    }

    @Test("A password that is not UTF-8 is available only as bytes")
    func bytes() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let bytes = Data([0xff, 0x00, 0xfe])
                #expect(SAMKeychain.setPasswordData(bytes, forService: service, account: account))
                #expect(SAMKeychain.password(forService: service, account: account) == nil)
                #expect(SAMKeychain.passwordData(forService: service, account: account) == bytes)
            }
        }
    }

    @Test("Accounts of one or all services are listed with their attributes and without passwords")
    func accounts() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                #expect(SAMKeychain.setPassword("one", forService: service, account: account))
                #expect(SAMKeychain.setPassword("two", forService: service, account: "grace"))
                #expect(SAMKeychain.setPassword("three", forService: "web", account: account))
                let all = try #require(SAMKeychain.allAccounts())
                #expect(all.count == 3)
                #expect(SAMKeychain.accounts(forService: nil)?.count == 3)
                #expect(all.allSatisfy { $0[kSecValueData as String] == nil })
                let ofService = try #require(SAMKeychain.accounts(forService: service))
                #expect(ofService.map { $0[kSAMKeychainAccountKey] as? String } == ["ada", "grace"])
                #expect(ofService.allSatisfy { $0[kSAMKeychainWhereKey] as? String == service })
                #expect(ofService.allSatisfy { $0[kSAMKeychainCreatedAtKey] is Date })
                #expect(ofService.allSatisfy { $0[kSAMKeychainLastModifiedKey] is Date })
                #expect(SAMKeychain.accounts(forService: "nowhere") == nil)
            }
        }
    }

    @Test("A locked keychain refuses to read, store or list, and does not report items as missing")
    func locked() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use(isLocked: true) {
                let calls: [(inout NSError?) -> Bool] = [
                    { SAMKeychain.password(forService: service, account: account, error: &$0) == nil },
                    { SAMKeychain.passwordData(forService: service, account: account, error: &$0) == nil },
                    { !SAMKeychain.setPassword("two", forService: service, account: account, error: &$0) },
                    { !SAMKeychain.setPassword("two", forService: service, account: "grace", error: &$0) },
                    { SAMKeychain.allAccounts(&$0) == nil },
                ]
                for call in calls {
                    var error: NSError?
                    #expect(call(&error))
                    #expect(error?.code == Int(errSecInteractionNotAllowed))
                    #expect(error?.localizedDescription == "User interaction is not allowed.")
                }
            }
        }
    }

    @Test("Threads that save the same new passwords concurrently all succeed and create one item for each")
    func threads() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let saved = Mutex(0)
                DispatchQueue.concurrentPerform(iterations: 32) { round in
                    guard SAMKeychain.setPassword("one", forService: service, account: "account \(round / 8)") else {
                        return
                    }
                    saved.withLock { $0 += 1 }
                }
                #expect(saved.withLock { $0 } == 32)
                #expect(SAMKeychain.allAccounts()?.count == 4)
            }
        }
    }
}
