import Dispatch
import Foundation
import KCByteStreams
import KCConsole
import KCTestSupport
import KeychainSecurity
import Synchronization
import Testing

@testable import LocalAuthentication

@Suite("Contexts of authentication")
struct ContextTests {
    /// The keychain that the program uses.
    private final class SharedPlace: Sendable {
        private let path = Mutex("login")
        var current: String { path.withLock { $0 } }
        func choose(_ other: String) { path.withLock { $0 = other } }
    }

    /// A keychain whose passcode is "walnut", and a terminal.
    private static func context(
        _ answers: [String]?, hasPasscode: Bool = true, source: KeychainClient.PasscodeSource? = nil,
        place: SharedPlace = SharedPlace()
    ) -> (LAContext, ScriptedTerminal) {
        let terminal = ScriptedTerminal(answers: answers)
        let authority = PasscodeAuthority(
            keychain: { () throws(KeychainClientFailure) in (place.current, hasPasscode) },
            source: { source }, terminal: terminal,
            check: { (passcode) throws(KeychainClientFailure) in
                if passcode.bytes.data != Data("walnut".utf8) { throw .failed(errSecAuthFailed) }
            })
        return (LAContext(asking: authority), terminal)
    }

    private func evaluate(_ context: LAContext, _ policy: LAPolicy = .deviceOwnerAuthentication) async -> LAError.Code?
    {
        do {
            return try await context.evaluatePolicy(policy, localizedReason: "show your notes") ? nil : .systemCancel
        } catch let error as LAError {
            return error.code
        } catch {
            return .invalidDimensions
        }
    }

    @Test("The passcode is asked for with the program's reason, up to three times, and then not again")
    func passcode() async throws {
        let (context, terminal) = Self.context(["pecan", "walnut"])
        #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        #expect(await evaluate(context) == nil)
        #expect(terminal.asked.count == 2)
        #expect(terminal.asked.allSatisfy { $0.contains(": show your notes\nPasscode of the keychain: ") })
        #expect(await evaluate(context) == nil)
        #expect(terminal.asked.count == 2)
        #expect(try context.passcode(mayAsk: false).bytes.data == Data("walnut".utf8))
        // Between the tries, nothing that is typed is shown.
        #expect(terminal.timesQuiet == 1)
    }

    @Test(
        "An answer that is wrong, empty or missing fails with its reason, and the context stays without a passcode",
        arguments: [
            (["a", "b", "c", "walnut"], LAError.Code.authenticationFailed), ([""], .userCancel), ([], .userCancel),
            (nil, .notInteractive),
        ] as [([String]?, LAError.Code)])
    func failures(answers: [String]?, expected: LAError.Code) async {
        let (context, _) = Self.context(answers)
        #expect(await evaluate(context) == expected)
        #expect(throws: AuthenticationRefusal.notInteractive) { _ = try context.passcode(mayAsk: false) }
    }

    @Test("What this system does not have is said before anybody is asked")
    func impossible() async {
        let (context, terminal) = Self.context(["walnut"])
        for (policy, reason) in [
            (LAPolicy.deviceOwnerAuthenticationWithBiometrics, LAError.Code.biometryNotAvailable),
            (.deviceOwnerAuthenticationWithBiometricsOrWatch, .biometryNotAvailable),
            (.deviceOwnerAuthenticationWithWatch, .watchNotAvailable),
        ] {
            var error: NSError?
            #expect(!context.canEvaluatePolicy(policy, error: &error))
            #expect(error?.domain == LAErrorDomain && error?.code == reason.rawValue)
            #expect(await evaluate(context, policy) == reason)
        }
        #expect(terminal.asked.isEmpty && context.biometryType == .none)
        let (open, _) = Self.context(["walnut"], hasPasscode: false)
        #expect(await evaluate(open) == .passcodeNotSet)
        #expect(!open.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        #expect(!open.setCredential(Data(), type: .applicationPassword) && !open.isCredentialSet(.applicationPassword))
    }

    @Test("The passcode source of the program is asked instead of the terminal")
    func source() async {
        for (given, expected) in [("walnut", nil), ("pecan", LAError.Code.authenticationFailed), (nil, .userCancel)] {
            let (context, terminal) = Self.context(nil, source: { given.map { Data($0.utf8) } })
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
            #expect(await evaluate(context) == expected)
            #expect(terminal.asked.isEmpty)
        }
    }

    @Test("A context that may not interact asks nobody, and one that is invalidated forgets the passcode")
    func settings() async throws {
        let (context, terminal) = Self.context(["walnut"])
        context.interactionNotAllowed = true
        #expect(await evaluate(context) == .notInteractive)
        #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        context.interactionNotAllowed = false
        #expect(await evaluate(context) == nil)
        context.interactionNotAllowed = true
        #expect(await evaluate(context) == nil)
        context.invalidate()
        #expect(await evaluate(context) == .invalidContext)
        #expect(throws: AuthenticationRefusal.failed) { _ = try context.passcode(mayAsk: true) }
        #expect(terminal.asked.count == 1)
    }

    @Test("A passcode counts for the keychain that it was given for, and not after that has refused it")
    func otherKeychain() async throws {
        let place = SharedPlace()
        let (context, terminal) = Self.context(["walnut", "walnut", "walnut"], place: place)
        #expect(await evaluate(context) == nil)
        place.choose("work")
        #expect(throws: AuthenticationRefusal.notInteractive) { _ = try context.passcode(mayAsk: false) }
        #expect(await evaluate(context) == nil)
        #expect(terminal.asked.count == 2)
        context.forget(try context.passcode(mayAsk: false))
        #expect(throws: AuthenticationRefusal.notInteractive) { _ = try context.passcode(mayAsk: false) }
        #expect(await evaluate(context) == nil)
        #expect(terminal.asked.count == 3)
    }

    @Test("A call that may not ask does not wait for a question that is being asked")
    func noWaiting() async throws {
        let (asked, answered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (context, _) = Self.context(
            nil,
            source: {
                asked.signal()
                answered.wait()
                return Data("walnut".utf8)
            })
        let evaluation = Task { await self.evaluate(context) }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                asked.wait()
                continuation.resume()
            }
        }
        #expect(throws: AuthenticationRefusal.notInteractive) { _ = try context.passcode(mayAsk: false) }
        answered.signal()
        #expect(await evaluation.value == nil)
    }

    @Test("An answer that comes after the context was invalidated is not used")
    func late() async {
        let invalidated = Mutex<LAContext?>(nil)
        let (context, _) = Self.context(
            nil,
            source: {
                invalidated.withLock { $0?.invalidate() }
                return Data("walnut".utf8)
            })
        invalidated.withLock { $0 = context }
        #expect(await evaluate(context) == .appCancel)
        invalidated.withLock { $0 = nil }
    }

    @Test("Everyone who waits for one context gets the answer to one question")
    func together() async {
        let (context, terminal) = Self.context(["walnut"])
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { #expect(await self.evaluate(context) == nil) } }
        }
        #expect(terminal.asked.count == 1)
    }

    @Test("An access control asks for what it demands")
    func accessControl() async throws {
        let plain = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil))
        let asking = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        for (control, questions) in [(plain, 0), (asking, 1)] {
            let (context, terminal) = Self.context(["walnut"])
            await confirmation { done in
                await withCheckedContinuation { continuation in
                    context.evaluateAccessControl(control, operation: .useItem, localizedReason: "x") {
                        isThere, error in
                        #expect(isThere && error == nil)
                        done()
                        continuation.resume()
                    }
                }
            }
            #expect(terminal.asked.count == questions)
        }
    }
}
