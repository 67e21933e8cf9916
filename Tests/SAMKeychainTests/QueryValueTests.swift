import Foundation
import SAMKeychain
import Testing

/// Tests of queries alone, without a keychain.
@Suite("The values of a query")
struct QueryValueTests {
    /// Whether the query has a service, an account and a password, for queries that cannot be saved.
    private static let incomplete = [
        (false, true, true), (true, false, true), (true, true, false), (false, false, false),
    ]

    @Test("Saving needs service, account and password", arguments: incomplete)
    func save(hasService: Bool, hasAccount: Bool, hasPassword: Bool) {
        let query = SAMKeychainQuery()
        query.service = hasService ? service : nil
        query.account = hasAccount ? account : nil
        query.password = hasPassword ? "one" : nil
        #expect(code { try query.save() } == SAMKeychainErrorCode.badArguments.rawValue)
    }

    @Test("Fetching and deleting need service and account", arguments: [(false, true), (true, false), (false, false)])
    func fetchAndDelete(hasService: Bool, hasAccount: Bool) {
        let query = SAMKeychainQuery()
        query.service = hasService ? service : nil
        query.account = hasAccount ? account : nil
        query.password = "one"
        #expect(code { try query.fetch() } == -1001)
        #expect(code { try query.deleteItem() } == -1001)
        #expect(query.password == "one")
    }

    @Test("The error for an incomplete query has a message")
    func words() {
        let error = #expect(throws: NSError.self) { try SAMKeychainQuery().fetch() }
        #expect(error?.domain == kSAMKeychainErrorDomain)
        #expect(error?.localizedDescription == "The service, the account or the password to save is missing.")
    }

    @Test("A new query has the mode `any` and no values")
    func initial() {
        let query = SAMKeychainQuery()
        #expect(query.synchronizationMode == .any)
        let texts = [query.service, query.account, query.label, query.accessGroup, query.password]
        #expect(texts == [nil, nil, nil, nil, nil])
        #expect(query.passwordData == nil)
        #expect(query.passwordObject == nil)
        #expect(SAMKeychainQuery.isSynchronizationAvailable())
    }

    @Test("Text and bytes are two views of one password")
    func views() {
        let query = SAMKeychainQuery()
        query.password = "pässword"
        #expect(query.passwordData == Data("pässword".utf8))
        query.passwordData = Data("bytes".utf8)
        #expect(query.password == "bytes")
        query.password = ""
        #expect(query.passwordData == Data())
        #expect(query.password == nil)
        query.passwordData = Data([0xc3, 0x28])
        #expect(query.password == nil)
        query.password = nil
        #expect(query.passwordData == nil)
    }

    @Test("Constants have SAMKeychain's values, even where they are surprising")
    func constants() {
        #expect(kSAMKeychainErrorDomain == "com.samsoffes.samkeychain")
        let keys = [
            kSAMKeychainAccountKey, kSAMKeychainCreatedAtKey, kSAMKeychainDescriptionKey, kSAMKeychainLabelKey,
            kSAMKeychainLastModifiedKey, kSAMKeychainWhereKey, kSAMKeychainClassKey,
        ]
        #expect(keys == ["acct", "cdat", "desc", "labl", "mdat", "svce", "labl"])
        #expect(SAMKeychainErrorCode.badArguments.rawValue == -1001)
        let modes: [SAMKeychainQuerySynchronizationMode] = [.any, .no, .yes]
        #expect(modes.map(\.rawValue) == [0, 1, 2])
    }
}
