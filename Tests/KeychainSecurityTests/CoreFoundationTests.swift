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
        #expect(CFErrorCopyDescription(error) == CFErrorCopyUserInfo(error)[NSLocalizedDescriptionKey] as? String)
    }

    @Test("A dictionary can be created from pointers, and a mutable one can be filled")
    func dictionaries() throws {
        let texts: [NSString] = [NSString(string: kSecClass), NSString(string: kSecAttrService)]
        let values: [AnyObject] = [NSString(string: kSecClassGenericPassword), NSString(string: "mail")]
        var keyPointers: [UnsafeRawPointer?] = texts.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
        var valuePointers: [UnsafeRawPointer?] = values.map {
            UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())
        }
        var keyCallBacks = kCFTypeDictionaryKeyCallBacks
        var valueCallBacks = kCFTypeDictionaryValueCallBacks
        let dictionary = try #require(
            CFDictionaryCreate(
                kCFAllocatorDefault, &keyPointers, &valuePointers, 2, &keyCallBacks, &valueCallBacks))
        #expect(dictionary as? [String: String] == [kSecClass: kSecClassGenericPassword, kSecAttrService: "mail"])
        let changed = try #require(CFDictionaryCreateMutable(kCFAllocatorDefault, 0, &keyCallBacks, &valueCallBacks))
        CFDictionarySetValue(changed, keyPointers[0], valuePointers[0])
        CFDictionaryAddValue(changed, keyPointers[0], valuePointers[1])
        CFDictionaryAddValue(changed, keyPointers[1], valuePointers[1])
        #expect(changed as? [String: String] == dictionary as? [String: String])
        #expect(CFDictionaryCreateMutableCopy(nil, 0, dictionary) == changed)
        withExtendedLifetime((texts, values)) {}
    }
}
