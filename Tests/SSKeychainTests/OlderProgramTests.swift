import Foundation
// Nothing but this: a program with the older names needs one import.
import SSKeychain
import Testing

@Suite("A program with the older names")
struct OlderProgramTests {
    @Test("It calls the keychain in every way that it did")
    func calls() {
        // Only named: a call would reach the keychain of whoever runs the tests.
        let read: (String, String) -> String? = SSKeychain.password(forService:account:)
        let write: (String, String, String) -> Bool = SSKeychain.setPassword(_:forService:account:)
        let writeBytes: (Data, String, String) -> Bool = SSKeychain.setPasswordData(_:forService:account:)
        let delete: (String, String) -> Bool = SSKeychain.deletePassword(forService:account:)
        let list: (String?) -> [[String: Any]]? = SSKeychain.accounts(forService:)
        let listAll: () -> [[String: Any]]? = SSKeychain.allAccounts
        #expect(([read, write, writeBytes, delete, list, listAll] as [Any]).count == 6)
    }

    @Test("It chooses an accessibility by its name in Security")
    func accessibility() async {
        await #expect(processExitsWith: .success) {
            SSKeychain.setAccessibilityType(kSecAttrAccessibleAfterFirstUnlock)
            #expect(SSKeychain.accessibilityType() == kSecAttrAccessibleAfterFirstUnlock)
        }
    }

    @Test("Its queries fail with the error that it looks for")
    func errors() {
        let query = SSKeychainQuery()
        query.account = "ada"
        query.synchronizationMode = .yes
        do {
            try query.save()
            Issue.record("a query without a service was saved")
        } catch let error as NSError {
            #expect(error.domain == kSSKeychainErrorDomain)
            #expect(error.code == Int(SSKeychainErrorCode.badArguments.rawValue))
        }
    }
}
