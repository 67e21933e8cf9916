import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Core Foundation functions")
struct CoreFoundationTests {
    @Test("Each type has its own type ID, for Swift and Foundation values alike")
    func types() throws {
        let values: [(CFTypeID, [AnyObject])] = [
            (CFStringGetTypeID(), ["a" as AnyObject, NSString(string: "a")]),
            (CFDataGetTypeID(), [Data([1]) as AnyObject, NSData(data: Data([1]))]),
            (CFBooleanGetTypeID(), [true as AnyObject, NSNumber(value: false), kCFBooleanTrue as AnyObject]),
            (CFNumberGetTypeID(), [1 as AnyObject, 0 as AnyObject, 1.5 as AnyObject, NSNumber(value: 1)]),
            (CFDateGetTypeID(), [Date() as AnyObject, NSDate()]),
            (CFArrayGetTypeID(), [[1, "a"] as AnyObject, NSArray()]),
            (CFDictionaryGetTypeID(), [["a": 1] as AnyObject, NSDictionary(), NSMutableDictionary()]),
            (CFErrorGetTypeID(), [NSError(domain: "a", code: 1)]),
            (CFNullGetTypeID(), [NSNull()]),
            (SecAccessControlGetTypeID(), [SecAccessControl(protection: "ak")]),
            (SecPolicyGetTypeID(), [SecPolicyCreateBasicX509()]),
            (
                SecTrustGetTypeID(),
                [try Chains.trust(Chains.certificates(["good"]), SecPolicyCreateBasicX509(), anchors: [])]
            ),
        ]
        for (type, objects) in values {
            for object in objects { #expect(CFGetTypeID(object) == type, "\(object)") }
        }
        #expect(Set(values.map(\.0)).count == values.count)
    }

    @Test("The result of a call has the expected type ID")
    func typesOfResults() throws {
        let program = try TestClient()
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        for (key, type) in [
            (kSecReturnData, CFDataGetTypeID()), (kSecReturnAttributes, CFDictionaryGetTypeID()),
            (kSecReturnPersistentRef, CFDataGetTypeID()),
        ] {
            #expect(CFGetTypeID(program.find(query("ann", [key: true])).1) == type, "\(key)")
        }
        let all = program.find(query("ann", [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])).1
        #expect(CFGetTypeID(all) == CFArrayGetTypeID())
    }

    @Test("Equal Swift and Foundation values compare equal and have the same hash")
    func equality() {
        let pairs: [(AnyObject, AnyObject)] = [
            ("a" as AnyObject, NSString(string: "a")), (Data([1]) as AnyObject, NSData(data: Data([1]))),
            (SecAccessControl(protection: "ak"), SecAccessControl(protection: "ak")),
            (NSNumber(value: 7), 7 as AnyObject),
        ]
        for (one, other) in pairs {
            #expect(CFEqual(one, other), "\(one)")
            #expect(CFHash(one) == CFHash(other), "\(one)")
        }
        #expect(!CFEqual("a" as AnyObject, "b" as AnyObject))
        #expect(!CFEqual("1" as AnyObject, 1 as AnyObject))
        #expect(!CFEqual(true as AnyObject, 1 as AnyObject))
        #expect(!CFEqual(NSObject(), NSObject()) && CFEqual(nil, nil) && !CFEqual(nil, NSNull()))
    }

    @Test("An error reports its code, domain and description")
    func errors() throws {
        var failure: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, "nope", [], &failure) == nil)
        let error = try #require(failure).takeRetainedValue()
        #expect(CFErrorGetCode(error) == Int(errSecParam))
        #expect(CFErrorGetDomain(error) == "NSOSStatusErrorDomain")
        #expect(CFErrorCopyDescription(error) == CFErrorCopyUserInfo(error)[NSLocalizedDescriptionKey] as? CFString)
    }

    @Test("A dictionary can be created from pointers, and a mutable one can be filled")
    func dictionaries() throws {
        let texts: [NSString] = [kSecClass, kSecAttrService]
        let values: [AnyObject] = [kSecClassGenericPassword, "mail" as CFString]
        var keyPointers: [UnsafeRawPointer?] = texts.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
        var valuePointers: [UnsafeRawPointer?] = values.map {
            UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())
        }
        var keyCallBacks = kCFTypeDictionaryKeyCallBacks
        var valueCallBacks = kCFTypeDictionaryValueCallBacks
        let dictionary = try #require(
            CFDictionaryCreate(
                kCFAllocatorDefault, &keyPointers, &valuePointers, 2, &keyCallBacks, &valueCallBacks))
        #expect(dictionary == [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"])
        let changed = try #require(CFDictionaryCreateMutable(kCFAllocatorDefault, 0, &keyCallBacks, &valueCallBacks))
        CFDictionarySetValue(changed, keyPointers[0], valuePointers[0])
        CFDictionaryAddValue(changed, keyPointers[0], valuePointers[1])
        CFDictionaryAddValue(changed, keyPointers[1], valuePointers[1])
        #expect(changed as? [String: String] == dictionary as? [String: String])
        #expect(CFDictionaryCreateMutableCopy(nil, 0, dictionary) == changed)
        withExtendedLifetime((texts, values)) {}
    }
}

@Suite("Values of Core Foundation")
struct CoreFoundationValueTests {
    @Test("Dictionaries of objects, of any keys, and of no Swift type are the same query")
    func bridging() throws {
        let program = try TestClient()
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        var objects: [String: AnyObject] = [:]
        objects[kSecClass as String] = kSecClassGenericPassword
        objects[kSecAttrAccount as String] = "ann" as AnyObject
        objects[kSecReturnData as String] = kCFBooleanTrue
        let mutable = NSMutableDictionary()
        mutable.setObject(kSecClassGenericPassword, forKey: kSecClass)
        mutable.setObject("ann", forKey: kSecAttrAccount)
        mutable.setObject(1, forKey: kSecReturnData)
        let loose: [AnyHashable: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount as String: "ann", kSecReturnData: true,
        ]
        let strict: [NSObject: NSObject] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "ann" as NSString,
            kSecReturnData: kCFBooleanTrue,
        ]
        for query in [
            objects as CFDictionary, mutable, mutable as CFDictionary, loose as CFDictionary, strict as CFDictionary,
        ] {
            var result: CFTypeRef?
            #expect(program.client.copyMatching(query, &result) == errSecSuccess)
            #expect(result as? Data == Data("1".utf8))
            #expect((result as? NSData)?.length == 1)
        }
        let numbers = [1: kSecClassGenericPassword, 2: "ann" as NSString] as CFDictionary
        #expect(program.client.copyMatching(numbers, nil) == errSecParam)
    }

    @Test("A result is a dictionary, or a list of them, in each form that programs cast it to")
    func results() throws {
        let program = try TestClient()
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        let one = program.find(query("ann", [kSecReturnAttributes: true, kSecReturnData: true])).1
        #expect((one as? [String: Any])?["acct"] as? String == "ann")
        #expect((one as? [CFString: Any])?[kSecAttrAccount] as? String == "ann")
        #expect((one as? [String: AnyObject])?["acct"] as? String == "ann")
        #expect((one as? NSDictionary)?["v_Data"] as? Data == Data("1".utf8))
        #expect((one as? NSDictionary)?.object(forKey: kSecAttrAccount) as? NSString == "ann")
        #expect(one is CFDictionary && CFGetTypeID(one) == CFDictionaryGetTypeID())
        #expect((one as? [AnyHashable: Any])?[kSecAttrAccount] as? String == "ann")
        #expect((one as? [AnyHashable: Any])?["acct"] as? String == "ann")
        #expect(AnyHashable(kSecAttrAccount) == AnyHashable("acct"))
        #expect(!CFEqual("\u{e9}" as CFString, "e\u{301}" as CFString) && CFEqual("a" as CFString, "a" as CFString))
        #expect(NSDictionary(dictionary: ["a": kSecClass]).isEqual(to: ["a": "class"]))
        let all = program.find(generic([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll])).1
        #expect((all as? [[String: Any]])?.first?["acct"] as? String == "ann")
        #expect((all as? [NSDictionary])?.first?["acct"] as? String == "ann")
        #expect((all as? NSArray)?.count == 1 && CFGetTypeID(all) == CFArrayGetTypeID())
    }

    @Test("Bytes, errors and times have their functions")
    func functions() throws {
        let bytes: [UInt8] = [1, 2, 3]
        let data = try #require(CFDataCreate(nil, bytes, 3))
        #expect(CFDataGetLength(data) == 3 && data as Data == Data(bytes))
        #expect(CFDataGetBytePtr(data)?[2] == 3)
        #expect(CFDataCreate(nil, nil, 0) as Data? == Data() && CFDataCreate(nil, bytes, -1) as Data? == Data())
        #expect(CFArrayGetCount([1, 2] as CFArray) == 2 && CFStringGetLength("ab" as CFString) == 2)
        #expect(CFBooleanGetValue(kCFBooleanTrue) && !CFBooleanGetValue(kCFBooleanFalse))
        let error = try #require(
            CFErrorCreate(nil, kCFErrorDomainOSStatus, Int(errSecAuthFailed), ["why": "so"] as CFDictionary))
        #expect(CFErrorGetCode(error) == Int(errSecAuthFailed) && CFErrorGetDomain(error) == kCFErrorDomainOSStatus)
        #expect((CFErrorCopyUserInfo(error) as? [String: String]) == ["why": "so"])
        let moment = Date(timeIntervalSinceReferenceDate: 5) as CFDate
        #expect(CFDateGetAbsoluteTime(moment) == 5)
        #expect(Date(timeIntervalSinceReferenceDate: -kCFAbsoluteTimeIntervalSince1970).timeIntervalSince1970 == 0)
        #expect(CFAbsoluteTimeGetCurrent() > 0 && kCFBundleIdentifierKey as String == "CFBundleIdentifier")
    }

    @Test("A table keeps weak objects only as long as somebody else does")
    func mapTable() {
        let table = NSMapTable<NSString, NSObject>.strongToWeakObjects()
        let kept = NSObject()
        do {
            let lost = NSObject()
            table.setObject(lost, forKey: "lost")
            table.setObject(kept, forKey: "kept")
            #expect(table.object(forKey: "lost") === lost && table.count == 2)
        }
        #expect(table.object(forKey: "lost") == nil && table.object(forKey: "kept") === kept && table.count == 1)
        table.removeObject(forKey: NSString(string: "kept"))
        #expect(table.object(forKey: "kept") == nil && table.count == 0)
        final class Watching {
            let table: NSMapTable<NSString, Watching>
            init(_ table: NSMapTable<NSString, Watching>) { self.table = table }
            deinit { _ = table.count }
        }
        let watched = NSMapTable<NSString, Watching>.strongToStrongObjects()
        for name in ["a", "b", "a"] { watched.setObject(Watching(watched), forKey: NSString(string: name)) }
        watched.removeObject(forKey: "a")
        watched.removeAllObjects()
        #expect(watched.count == 0)
        let growing = NSMapTable<NSString, NSObject>.strongToWeakObjects()
        for number in 0..<10_000 { growing.setObject(NSObject(), forKey: "\(number)" as NSString) }
        #expect(growing.count <= 1)
        let weakKeys = NSMapTable<NSString, NSObject>.weakToStrongObjects()
        let key = NSString(string: "a key that is an object of its own")
        weakKeys.setObject(kept, forKey: key)
        #expect(weakKeys.object(forKey: key) === kept)
        #expect(weakKeys.object(forKey: NSString(string: "a key that is an object of its own")) == nil)
    }

    @Test("What only Apple's systems have is refused, and a made-up password is easy to type")
    func refusals() throws {
        var access: SecAccess?
        #expect(SecAccessCreate("mail", nil, &access) == errSecUnimplemented && access == nil)
        var reasons: [Int] = []
        SecAddSharedWebCredential("example.org", "ada", "tulip") { reasons.append($0?.code ?? 0) }
        SecRequestSharedWebCredential(nil, nil) { credentials, error in
            #expect(credentials == nil)
            reasons.append(error?.code ?? 0)
        }
        #expect(reasons == [Int(errSecUnimplemented), Int(errSecUnimplemented)])
        let password = try #require(SecCreateSharedWebCredentialPassword()) as String
        #expect(password.wholeMatch(of: /[A-Za-z3-9]{3}(-[A-Za-z3-9]{3}){3}/) != nil)
        #expect(SecCreateSharedWebCredentialPassword() as String? != password)
    }
}
