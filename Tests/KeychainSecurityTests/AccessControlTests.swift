import Foundation
import KCByteStreams
import KCTestSupport
import Synchronization
import Testing

@testable import KeychainSecurity

@Suite("Access control")
struct AccessControlTests {
    private static let protections = [
        kSecAttrAccessibleWhenUnlocked as String, kSecAttrAccessibleAfterFirstUnlock as String,
        kSecAttrAccessibleAlways as String,
        kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String,
        kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String,
        kSecAttrAccessibleAlwaysThisDeviceOnly as String, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String,
    ]

    private static let flags: [SecAccessControlCreateFlags] = [
        .biometryAny, .touchIDAny, .biometryCurrentSet, .touchIDCurrentSet, .or, .and, .privateKeyUsage,
        .applicationPassword, [.userPresence, .or, .devicePasscode], [.userPresence, .devicePasscode],
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

    @Test(
        "An item that asks for the passcode is added and found without it, and read or changed only with it",
        arguments: [SecAccessControlCreateFlags.userPresence, .devicePasscode])
    func presence(flags: SecAccessControlCreateFlags) throws {
        let program = try TestClient(hasPasscode: true)
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, flags, nil))
        #expect(program.add(password("ann", "1", [kSecAttrAccessControl: control])) == errSecSuccess)
        #expect(program.add(password("bob", "2")) == errSecSuccess)
        let reading = query("ann", [kSecReturnData: true])
        #expect(program.find(reading).0 == errSecInteractionNotAllowed)
        #expect(
            program.find(reading.merging([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) { $1 }).0
                == errSecItemNotFound)
        #expect(program.status(query("ann")) == errSecSuccess)
        #expect(program.attributes(query("ann")) != nil)
        #expect(program.update(query("ann"), [kSecAttrLabel: "x"]) == errSecInteractionNotAllowed)
        #expect(program.text(query("bob")) == "2")
        let asked = Mutex(0)
        program.client.setPasscodeSource {
            asked.withLock { $0 += 1 }
            return Data(TestClient.passcode.utf8)
        }
        for count in 1...2 {
            #expect(program.text(query("ann")) == "1")
            #expect(asked.withLock { $0 } == count)
        }
        #expect(program.text(query("bob")) == "2")
        let attributes = try #require(program.attributes(query("ann")))
        #expect(attributes[kSecAttrAccessControl] as? SecAccessControl == control)
        #expect(program.text(query("ann", [kSecAttrAccessControl: control])) == "1")
        #expect(asked.withLock { $0 } == 3)
        // An accessibility alone leaves the condition; an access control without flags takes it away.
        #expect(program.update(query("ann"), [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked]) == errSecSuccess)
        #expect(program.text(query("ann")) == "1")
        #expect(asked.withLock { $0 } == 5)
        let plain = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        #expect(program.update(query("ann"), [kSecAttrAccessControl: plain]) == errSecSuccess)
        #expect(program.text(query("ann")) == "1")
        #expect(asked.withLock { $0 } == 6)
    }

    @Test("No condition is possible without a passcode, for a certificate, or for a synchronizable item")
    func impossiblePresence() throws {
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        let open = try TestClient()
        #expect(open.add(password("ann", "1", [kSecAttrAccessControl: control])) == errSecAuthFailed)
        let program = try TestClient(hasPasscode: true)
        let synchronizable: [CFString: Any] = [kSecAttrAccessControl: control, kSecAttrSynchronizable: true]
        #expect(program.add(password("ann", "1", synchronizable)) == errSecParam)
        #expect(
            program.add([kSecClass: kSecClassCertificate, kSecAttrAccessControl: control, kSecValueData: Data()])
                != errSecSuccess)
        #expect(program.status(query("ann")) == errSecItemNotFound)
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
        let control = SecAccessControl(protection: kSecAttrAccessibleAfterFirstUnlock as String)
        func item(_ code: String) -> [CFString: Any] {
            password("ann", "1", [kSecAttrAccessControl: control, kSecAttrAccessible: code])
        }
        #expect(program.add(item(kSecAttrAccessibleWhenUnlocked as String)) == errSecParam)
        #expect(program.status(query("ann")) == errSecItemNotFound)
        #expect(program.add(item(kSecAttrAccessibleAfterFirstUnlock as String)) == errSecSuccess)
        #expect(program.delete(item(kSecAttrAccessibleWhenUnlocked as String)) == errSecParam)
        #expect(program.delete(item(kSecAttrAccessibleAfterFirstUnlock as String)) == errSecSuccess)
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

@Suite("Items that ask, with a context")
struct AuthenticationContextTests {
    /// Answers as the test says, and counts.
    private final class Context: AuthenticationContext {
        let asked = Mutex(0)
        let forgotten = Mutex(0)
        /// True if the user has given the passcode before.
        let isEvaluated = Mutex(false)
        private let answer: Result<String, AuthenticationRefusal>

        init(_ answer: Result<String, AuthenticationRefusal>) {
            self.answer = answer
        }

        func passcode(mayAsk: Bool) throws(AuthenticationRefusal) -> GivenPasscode {
            if !mayAsk, !isEvaluated.withLock({ $0 }) { throw .notInteractive }
            asked.withLock { $0 += 1 }
            return GivenPasscode(SecretBytes(copying: try answer.get().utf8))
        }

        func forget(_ passcode: GivenPasscode) { forgotten.withLock { $0 += 1 } }
    }

    @Test("The context of a call is asked for the passcode, and not the program's source")
    func context() throws {
        let program = try TestClient(hasPasscode: true)
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        #expect(program.add(password("ann", "1", [kSecAttrAccessControl: control])) == errSecSuccess)
        #expect(program.add(password("bob", "2")) == errSecSuccess)
        program.client.setPasscodeSource { fatalError("the source is asked") }
        let right = Context(.success(TestClient.passcode))
        #expect(program.text(query("ann", [kSecUseAuthenticationContext: right])) == "1")
        #expect(program.text(query("bob", [kSecUseAuthenticationContext: right])) == "2")
        #expect(right.asked.withLock { $0 } == 1)
        #expect(
            program.update(query("ann", [kSecUseAuthenticationContext: right]), [kSecValueData: Data("3".utf8)])
                == errSecSuccess)
        #expect(program.text(query("ann", [kSecUseAuthenticationContext: right])) == "3")
        for (answer, status) in [
            (Result<String, AuthenticationRefusal>.success("pecan"), errSecAuthFailed),
            (.failure(.canceled), errSecUserCanceled), (.failure(.failed), errSecAuthFailed),
            (.failure(.notInteractive), errSecInteractionNotAllowed),
        ] {
            let context = Context(answer)
            let reading = query("ann", [kSecUseAuthenticationContext: context, kSecReturnData: true])
            #expect(program.find(reading).0 == status)
            // A passcode that the keychain refused is not tried again.
            #expect(context.forgotten.withLock { $0 } == ((try? answer.get()) == nil ? 0 : 1))
        }
        let silent: [CFString: Any] = [
            kSecUseAuthenticationContext: right, kSecUseAuthenticationUI: kSecUseAuthenticationUIFail,
            kSecReturnData: true,
        ]
        #expect(program.find(query("ann", silent)).0 == errSecInteractionNotAllowed)
        // An item that an evaluated context opens is not locked, so it is not skipped either.
        let skipping = silent.merging([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) { $1 }
        #expect(program.find(query("ann", skipping)).0 == errSecItemNotFound)
        right.isEvaluated.withLock { $0 = true }
        #expect(program.find(query("ann", silent)).1 as? Data == Data("3".utf8))
        #expect(program.find(query("ann", skipping)).1 as? Data == Data("3".utf8))
        #expect(program.status(query("ann", [kSecUseAuthenticationContext: "x"])) == errSecParam)
    }

    @Test("A passcode is checked without locking or unlocking anything")
    func check() throws {
        let program = try TestClient(hasPasscode: true)
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        try program.client.check(passcode: GivenPasscode(SecretBytes(copying: TestClient.passcode.utf8)))
        #expect(throws: KeychainClientFailure.failed(errSecAuthFailed)) {
            try program.client.check(passcode: GivenPasscode(SecretBytes(copying: "pecan".utf8)))
        }
        #expect(program.text(query("ann")) == "1")
        program.lock(.locked)
        try program.client.check(passcode: GivenPasscode(SecretBytes(copying: TestClient.passcode.utf8)))
        #expect(program.status(query("ann")) == errSecInteractionNotAllowed)
    }
}
