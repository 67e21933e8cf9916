import Foundation
import SAMKeychain
import Synchronization
import Testing

@Suite("The accessibility of a process's passwords")
struct AccessibilityTests {
    @Test("No accessibility is set at first, and new items get the keychain's default")
    func unset() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                #expect(SAMKeychain.accessibilityType() == nil)
                #expect(SAMKeychain.setPassword("one", forService: service, account: account))
                #expect(attributes()?[kSecAttrAccessible] as? CFString == kSecAttrAccessibleWhenUnlocked)
            }
        }
    }

    @Test("Every save applies the current accessibility, and the item remains listed")
    func update() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                for type in [
                    kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAlwaysThisDeviceOnly,
                    kSecAttrAccessibleAfterFirstUnlock,
                ] {
                    SAMKeychain.setAccessibilityType(type)
                    #expect(SAMKeychain.accessibilityType() == type)
                    #expect(SAMKeychain.setPassword("one", forService: service, account: account))
                    #expect(attributes()?[kSecAttrAccessible] as? CFString == type)
                    #expect(SAMKeychain.allAccounts()?.count == 1)
                    #expect(SAMKeychain.accounts(forService: service)?.count == 1)
                }
                // With no accessibility set, saving keeps that of the item.
                SAMKeychain.setAccessibilityType(nil)
                #expect(SAMKeychain.setPassword("two", forService: service, account: account))
                #expect(attributes()?[kSecAttrAccessible] as? CFString == kSecAttrAccessibleAfterFirstUnlock)
            }
        }
    }

    @Test("Accounts with another accessibility are not listed, but can be read, saved and deleted")
    func filter() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                #expect(SAMKeychain.setPassword("one", forService: service, account: account))
                SAMKeychain.setAccessibilityType(kSecAttrAccessibleAfterFirstUnlock)
                var error: NSError?
                #expect(SAMKeychain.allAccounts(&error) == nil)
                #expect(error?.code == Int(errSecItemNotFound))
                #expect(SAMKeychain.password(forService: service, account: account) == "one")
                #expect(SAMKeychain.setPassword("two", forService: service, account: "grace"))
                #expect(SAMKeychain.allAccounts()?.map { $0["acct"] as? String } == ["grace"])
                #expect(SAMKeychain.deletePassword(forService: service, account: account))
                #expect(itemCount() == 0)
            }
        }
    }

    @Test("Saving with an unavailable accessibility fails with the reason")
    func refused() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let reasons = [
                    (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, errSecAuthFailed), ("whenever", errSecParam),
                ]
                for (type, status) in reasons {
                    SAMKeychain.setAccessibilityType(type)
                    var error: NSError?
                    #expect(!SAMKeychain.setPassword("one", forService: service, account: account, error: &error))
                    #expect(error?.code == Int(status))
                }
                #expect(itemCount() == 0)
            }
        }
    }

    @Test("Threads that set the accessibility concurrently always read one of the values")
    func threads() async {
        await #expect(processExitsWith: .success) {
            let types = [
                kSecAttrAccessibleWhenUnlocked as String, kSecAttrAccessibleAfterFirstUnlock as String,
                kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String,
            ]
            let seen = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 10_000) { round in
                SAMKeychain.setAccessibilityType(types[round % types.count] as CFString)
                guard let type = SAMKeychain.accessibilityType(), types.contains(type as String) else { return }
                seen.withLock { $0 += 1 }
            }
            #expect(seen.withLock { $0 } == 10_000)
        }
    }
}
