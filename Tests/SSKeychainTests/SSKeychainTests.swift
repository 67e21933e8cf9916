import Foundation
import SAMKeychain
import SSKeychain
import Testing

@Suite("The older names")
struct SSKeychainTests {
    @Test("Every type has its older name")
    func types() {
        #expect(ObjectIdentifier(SSKeychain.self) == ObjectIdentifier(SAMKeychain.self))
        #expect(ObjectIdentifier(SSKeychainQuery.self) == ObjectIdentifier(SAMKeychainQuery.self))
        #expect(SSKeychainErrorCode.badArguments == SAMKeychainErrorCode.badArguments)
        let modes: [SSKeychainQuerySynchronizationMode] = [.any, .no, .yes]
        #expect(modes == [SAMKeychainQuerySynchronizationMode.any, .no, .yes])
    }

    @Test("Every constant has its older name")
    func constants() {
        let older = [
            kSSKeychainErrorDomain, kSSKeychainAccountKey, kSSKeychainCreatedAtKey, kSSKeychainClassKey,
            kSSKeychainDescriptionKey, kSSKeychainLabelKey, kSSKeychainLastModifiedKey, kSSKeychainWhereKey,
        ]
        let newer = [
            kSAMKeychainErrorDomain, kSAMKeychainAccountKey, kSAMKeychainCreatedAtKey, kSAMKeychainClassKey,
            kSAMKeychainDescriptionKey, kSAMKeychainLabelKey, kSAMKeychainLastModifiedKey, kSAMKeychainWhereKey,
        ]
        #expect(older == newer)
    }
}
