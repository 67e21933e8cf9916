import Foundation
import KCTestSupport
import SAMKeychain
import Testing

/// A query whose save finds that another program added the item between its own search and add.
final class OvertakenQuery: SAMKeychainQuery {
    override var label: String? {
        get {
            let other = query(password: "theirs")
            other.label = "theirs"
            #expect(throws: Never.self) { try other.save() }
            return "ours"
        }
        set {}
    }
}

@Suite("Queries on a keychain")
struct QueryTests {
    @Test("A new item is saved, fetched, listed with and without its service, and deleted")
    func newItem() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let new = query(password: "one")
                new.label = "Mail"
                try new.save()
                let found = query()
                try found.fetch()
                #expect(found.password == "one")
                let all = SAMKeychainQuery()
                #expect(try all.fetchAll().count == 1)
                all.service = service
                let listed = try all.fetchAll()
                #expect(listed.map { $0["acct"] as? String } == [account])
                #expect(listed.first?[kSAMKeychainLabelKey] as? String == "Mail")
                // As in SAMKeychain, this key means the label and not the class.
                #expect(listed.first?[kSAMKeychainClassKey] as? String == "Mail")
                all.service = "web"
                #expect(code { _ = try all.fetchAll() } == errSecItemNotFound)
                try query().deleteItem()
                #expect(code { try query().deleteItem() } == errSecItemNotFound)
                #expect(code { try query().fetch() } == errSecItemNotFound)
            }
        }
    }

    @Test("Saving an existing item does not change its label")
    func label() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let query = query(password: "one")
                query.label = "Mail"
                try query.save()
                query.label = "Post"
                query.password = "two"
                try query.save()
                #expect(attributes()?[kSecAttrLabel] as? String == "Mail")
                #expect(SAMKeychain.password(forService: service, account: account) == "two")
            }
        }
    }

    @Test("An item that is added concurrently gets the saved password")
    func rival() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let query = OvertakenQuery()
                query.service = service
                query.account = account
                query.password = "ours"
                try query.save()
                #expect(itemCount() == 1)
                #expect(attributes()?[kSecAttrLabel] as? String == "theirs")
                #expect(SAMKeychain.password(forService: service, account: account) == "ours")
            }
        }
    }

    @Test("A failed fetch leaves the password of the query unchanged")
    func failedFetch() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let query = query(password: "mine")
                #expect(code { try query.fetch() } == errSecItemNotFound)
                #expect(query.password == "mine")
            }
        }
    }

    @Test("A synchronizable item is found by `yes` and `any`, and not by `no`")
    func synchronizable() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                try query(.yes, password: "one").save()
                #expect(attributes()?[kSecAttrSynchronizable] as? Bool == true)
                let other = query(.no)
                #expect(code { try other.fetch() } == errSecItemNotFound)
                #expect(other.password == nil)
                for mode in [SAMKeychainQuerySynchronizationMode.yes, .any] {
                    let found = query(mode)
                    try found.fetch()
                    #expect(found.password == "one")
                }
            }
        }
    }

    @Test("Saving with `any` adds an item as not synchronizable, and updates an existing one of either kind")
    func saveAny() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                try query(.any, password: "one").save()
                #expect(attributes()?[kSecAttrSynchronizable] as? Bool == false)
                try query(.any).deleteItem()
                try query(.yes, password: "two").save()
                try query(.any, password: "three").save()
                #expect(itemCount() == 1)
                #expect(attributes()?[kSecAttrSynchronizable] as? Bool == true)
            }
        }
    }

    @Test("A synchronizable item and a local one coexist, and `any` refers to both")
    func bothKinds() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                try query(.yes, password: "one").save()
                try query(.no, password: "two").save()
                #expect(itemCount() == 2)
                try query(.no, password: "three").save()
                let synchronizable = query(.yes)
                try synchronizable.fetch()
                #expect(synchronizable.password == "one")
                try query(.any, password: "four").save()
                for mode in [SAMKeychainQuerySynchronizationMode.yes, .no] {
                    let found = query(mode)
                    try found.fetch()
                    #expect(found.password == "four")
                }
                try query(.any).deleteItem()
                #expect(itemCount() == 0)
            }
        }
    }

    @Test("A ThisDeviceOnly item may be synchronizable, and coexists with one that is not")
    func thisDeviceOnly() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                SAMKeychain.setAccessibilityType(kSecAttrAccessibleWhenUnlockedThisDeviceOnly)
                try query(.yes, password: "one").save()
                try query(.no, password: "one").save()
                #expect(itemCount() == 2)
            }
        }
    }

    @Test("An item is added to the query's access group, or to the program's first")
    func accessGroups() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let (first, second) = (OwnKeychain.groups[0], OwnKeychain.groups[1])
                try query(password: "one").save()
                #expect(attributes()?[kSecAttrAccessGroup] as? String == first)
                try query(password: "two", group: second).save()
                #expect(itemCount() == 2)
                for (group, password) in [(first, "one"), (second, "two")] {
                    let found = query(group: group)
                    try found.fetch()
                    #expect(found.password == password)
                }
                try query(group: first).deleteItem()
                // Without a group, all groups of the program are searched.
                let found = query()
                try found.fetch()
                #expect(found.password == "two")
            }
        }
    }

    @Test("Every call refuses an access group that the program does not have")
    func foreignGroup() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let query = query(password: "one", group: "org.example.other")
                #expect(code { try query.save() } == errSecMissingEntitlement)
                #expect(code { try query.fetch() } == errSecMissingEntitlement)
                #expect(code { _ = try query.fetchAll() } == errSecMissingEntitlement)
                #expect(code { try query.deleteItem() } == errSecMissingEntitlement)
            }
        }
    }

    @Test("A saved object is fetched unchanged")
    func object() async {
        await #expect(processExitsWith: .success) {
            try OwnKeychain.use {
                let object: NSDictionary = ["number": 42, "string": "Hello World"]
                let new = query()
                new.passwordObject = object
                try new.save()
                let found = query()
                try found.fetch()
                #expect(found.passwordObject as? NSDictionary == object)
            }
        }
    }

    @Test("Without a keychain every call reports that there is none")
    func noKeychain() async throws {
        let folder = try TemporaryFolder()
        let missing = folder.path("missing")
        await #expect(processExitsWith: .success) { [missing = missing as String] in
            setenv("XDG_DATA_HOME", missing, 1)
            #expect(code { try query(password: "one").save() } == errSecNoDefaultKeychain)
            #expect(code { try query().fetch() } == errSecNoDefaultKeychain)
            #expect(code { _ = try query().fetchAll() } == errSecNoDefaultKeychain)
            #expect(code { try query().deleteItem() } == errSecNoDefaultKeychain)
        }
    }
}
