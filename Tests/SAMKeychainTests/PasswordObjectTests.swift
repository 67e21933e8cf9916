import Foundation
import SAMKeychain
import Testing

/// A class that a program defines and stores.
final class Token: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let text: String

    init(_ text: String) { self.text = text }

    init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: "text") else { return nil }
        self.text = text as String
    }

    func encode(with coder: NSCoder) { coder.encode(text as NSString, forKey: "text") }

    override func isEqual(_ other: Any?) -> Bool { (other as? Token)?.text == text }
    override var hash: Int { text.hash }
}

/// A class that does not support secure coding.
final class OldToken: NSObject, NSCoding {
    override init() {}
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
}

@Suite("Objects as passwords")
struct PasswordObjectTests {
    @Test("Objects of Foundation and of the program survive a round trip", arguments: objects.indices)
    func roundTrip(index: Int) throws {
        let object = Self.objects[index]
        let query = SAMKeychainQuery()
        query.passwordObject = object
        let archive = try #require(query.passwordData)
        let copy = SAMKeychainQuery()
        copy.passwordData = archive
        #expect(object.isEqual(copy.passwordObject))
    }

    /// An object of every class named in docs/samkeychain.md.
    nonisolated(unsafe) private static let objects: [any NSObject & NSCoding] = [
        "text" as NSString, 42 as NSNumber, 1.5 as NSNumber, true as NSNumber, Data([0, 1, 2]) as NSData,
        Date(timeIntervalSince1970: 1_700_000_000) as NSDate, ["a", 1, ["b"] as NSArray] as NSArray,
        ["number": 42, "list": [1, 2] as NSArray] as NSDictionary, NSSet(array: ["a", "b"]),
        NSOrderedSet(array: ["b", "a"]), NSNull(), UUID() as NSUUID, NSMutableString(string: "text"),
        NSMutableArray(array: ["a"]), NSMutableDictionary(dictionary: ["a": "b"]), Token("secret"),
        [Token("one"), Token("two")] as NSArray,
    ]

    @Test("A URL survives a round trip")
    func url() throws {
        let url = try #require(NSURL(string: "https://example.org/a?b=c"))
        let query = SAMKeychainQuery()
        query.passwordObject = url
        #expect((query.passwordObject as? NSURL)?.absoluteString == "https://example.org/a?b=c")
    }

    @Test("An object without secure coding, even nested, clears the password, so that saving fails")
    func notSecure() {
        for object: any NSCoding in [OldToken(), ["a": [OldToken()] as NSArray] as NSDictionary] {
            let query = query(password: "one")
            query.passwordObject = object
            #expect(query.passwordData == nil)
            #expect(code { try query.save() } == -1001)
        }
    }

    @Test("Setting nil clears the password")
    func none() {
        let query = query(password: "one")
        query.passwordObject = nil
        #expect(query.passwordData == nil)
    }

    @Test("Bytes that are not an archive yield no object")
    func garbage() {
        let lists: [Any] = [["a": 1], ["$objects": ["a"]], ["$archiver": "NSKeyedArchiver"], ["a"]]
        let plain = lists.map { list in
            try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        }
        for data in [Data(), Data("hunter2".utf8), Data("bplist00".utf8), Data(count: 64)] + plain {
            let query = SAMKeychainQuery()
            query.passwordData = data
            #expect(query.passwordObject == nil)
        }
    }

    @Test("A truncated archive yields no object")
    func truncated() throws {
        let query = SAMKeychainQuery()
        query.passwordObject = ["number": 42] as NSDictionary
        let whole = try #require(query.passwordData)
        for length in whole.indices {
            query.passwordData = whole.prefix(length)
            #expect(query.passwordObject == nil)
        }
    }

    @Test("An archive of an unknown class, or one without secure coding, yields no object")
    func unfitClass() throws {
        let query = SAMKeychainQuery()
        query.passwordData = try NSKeyedArchiver.archivedData(
            withRootObject: [OldToken()] as NSArray, requiringSecureCoding: false)
        #expect(query.passwordObject == nil)
        query.passwordObject = Token("secret")
        var archive = try #require(query.passwordData)
        while let name = archive.range(of: Data("SAMKeychainTests.Token".utf8)) {
            archive.replaceSubrange(name, with: Data("SAMKeychainTests.Tokem".utf8))
        }
        query.passwordData = archive
        #expect(query.passwordObject == nil)
    }
}
