import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Access control")
struct AccessControlTests {
    private static let protections = [
        kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
        kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
    ]

    private static let flags: [SecAccessControlCreateFlags] = [
        .userPresence, .biometryAny, .touchIDAny, .biometryCurrentSet, .touchIDCurrentSet, .devicePasscode, .or, .and,
        .privateKeyUsage, .applicationPassword, [.userPresence, .or, .devicePasscode],
    ]

    @Test("An item takes and returns the protection of its access control", arguments: protections)
    func protection(protection: String) throws {
        let program = try TestClient(hasPasscode: true)
        var error: Unmanaged<CFError>?
        let control = try #require(SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection, [], &error))
        #expect(error == nil)
        #expect(program.add(password("ann", "1", [kSecAttrAccessControl: control])) == errSecSuccess)
        let attributes = try #require(program.attributes(query("ann")))
        #expect(attributes[kSecAttrAccessible] as? String == protection)
        #expect(attributes[kSecAttrAccessControl] as? SecAccessControl == control)
        #expect(program.text(query("ann", [kSecAttrAccessControl: control])) == "1")
        let other = SecAccessControl(protection: protection == "ak" ? "ck" : "ak")
        #expect(other != control)
        #expect(program.status(query("ann", [kSecAttrAccessControl: other])) == errSecItemNotFound)
    }

    @Test("Access control flags, which cannot be enforced here, are refused with a reason", arguments: flags)
    func flag(flags: SecAccessControlCreateFlags) throws {
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, &error) == nil)
        let reason = try #require(error).takeRetainedValue()
        #expect(reason.code == Int(errSecUnimplemented))
        #expect(reason.domain == NSOSStatusErrorDomain)
        #expect(!reason.localizedDescription.isEmpty)
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil) == nil)
    }

    @Test("An invalid protection yields no access control", arguments: ["", "xx", "f", "akp", 6] as [any Sendable])
    func unknownProtection(protection: any Sendable) throws {
        var error: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, protection, [], &error) == nil)
        #expect(try #require(error).takeRetainedValue().code == Int(errSecParam))
    }

    @Test("Access control and accessibility may be given together only if they agree")
    func together() throws {
        let program = try TestClient()
        let control = SecAccessControl(protection: kSecAttrAccessibleAfterFirstUnlock)
        func item(_ code: String) -> [String: Any] {
            password("ann", "1", [kSecAttrAccessControl: control, kSecAttrAccessible: code])
        }
        #expect(program.add(item(kSecAttrAccessibleWhenUnlocked)) == errSecParam)
        #expect(program.status(query("ann")) == errSecItemNotFound)
        #expect(program.add(item(kSecAttrAccessibleAfterFirstUnlock)) == errSecSuccess)
        #expect(program.delete(item(kSecAttrAccessibleWhenUnlocked)) == errSecParam)
        #expect(program.delete(item(kSecAttrAccessibleAfterFirstUnlock)) == errSecSuccess)
    }

    @Test("A value that is not an access control is refused, and nothing is added")
    func foreignObject() throws {
        let program = try TestClient()
        for value in ["ak", Data([1]), NSNull(), NSObject()] as [Any] {
            #expect(program.add(password("ann", "1", [kSecAttrAccessControl: value])) == errSecParam)
        }
        #expect(program.status(query("ann")) == errSecItemNotFound)
    }

    @Test("The flags have the bits in Apple's header")
    func bits() {
        let bits: [(SecAccessControlCreateFlags, Int)] = [
            (.userPresence, 0), (.biometryAny, 1), (.biometryCurrentSet, 3), (.devicePasscode, 4), (.or, 14),
            (.and, 15),
            (.privateKeyUsage, 30), (.applicationPassword, 31),
        ]
        for (flag, bit) in bits { #expect(flag.rawValue == 1 << bit) }
    }
}
