import Foundation
// The only import of the module: a program with the older names needs no other.
import SSKeychain
import Testing

@Suite("A program with the older names")
struct OlderProgramTests {
    @Test("It can still make every call")
    func calls() {
        // The functions are referenced but not called, since a call would access the keychain of the user who runs the
        // tests.
        let read: (String, String) -> String? = SSKeychain.password(forService:account:)
        let write: (String, String, String) -> Bool = SSKeychain.setPassword(_:forService:account:)
        let writeBytes: (Data, String, String) -> Bool = SSKeychain.setPasswordData(_:forService:account:)
        let delete: (String, String) -> Bool = SSKeychain.deletePassword(forService:account:)
        let list: (String?) -> [[String: Any]]? = SSKeychain.accounts(forService:)
        let listAll: () -> [[String: Any]]? = SSKeychain.allAccounts
        #expect(([read, write, writeBytes, delete, list, listAll] as [Any]).count == 6)
    }

    @Test("It sets an accessibility by its constant in Security")
    func accessibility() async {
        await #expect(processExitsWith: .success) {
            SSKeychain.setAccessibilityType(kSecAttrAccessibleAfterFirstUnlock)
            #expect(SSKeychain.accessibilityType() == kSecAttrAccessibleAfterFirstUnlock)
        }
    }

    @Test("Its queries throw the error that it checks for")
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
