import KCAsking
import KCByteStreams
import KCItemStores
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCTaskSupport
import KCTestSupport
import Testing

@testable import KCStoreTasks

@Suite("Unlocking keychains")
struct KeychainUnlockingTests {
    private let scratch: ScratchMachine
    private let local: LocalKeychain

    init() throws {
        scratch = try ScratchMachine()
        local = try scratch.make("work", passcode: "walnut")
        _ = try scratch.folder.write("right", Array("walnut\n".utf8), mode: 0o600)
        _ = try scratch.folder.write("wrong", Array("maple\n".utf8), mode: 0o600)
    }

    @discardableResult
    private func unlock(_ file: String?, _ asking: ScriptedAsking = ScriptedAsking()) throws -> Keychain {
        let context = scratch.context(asking)
        let passcode = file.map { SecretSource.file($0) }
        let keychain = try context.open(local, passcode: passcode)
        try context.unlock(keychain, of: local, for: .all, passcode: passcode)
        return keychain
    }

    @Test("A passcode from a file unlocks the keychain for this run alone")
    func given() throws {
        #expect(try unlock("right").isUnlocked)
        #expect(scratch.events.isEmpty)
        #expect(throws: PasscodeNeeded(keychain: "work", .locked)) { try unlock(nil) }
    }

    @Test("A wrong passcode is named with its keychain, and has one try")
    func wrong() throws {
        #expect(throws: KeychainFailure("work", .wrongPasscode)) { try unlock("wrong") }
        #expect(try local.open(in: scratch.machine).wrongPasscodeCount() == 1)
    }

    @Test("A typed passcode has three tries")
    func typed() throws {
        let asking = ScriptedAsking(["a", "b", "c", "walnut"])
        #expect(throws: KeychainFailure("work", .wrongPasscode)) { try unlock(nil, asking) }
        #expect(asking.asked == Array(repeating: .passcode(keychain: "work"), count: 3))
    }

    @Test("Why a wrong passcode may look right is a value, beside the failure of the keychain")
    func doubts() throws {
        _ = try scratch.folder.write("accents", Array("cafe\u{301}\n".utf8), mode: 0o600)
        let wrong = try #require(throws: WrongSecret.self) { try unlock("accents") }
        #expect(wrong.doubts == [.decomposed])
        #expect(wrong.error as? KeychainFailure == KeychainFailure("work", .wrongPasscode))
    }

    @Test("A passcode that the keychain does not need is not read, and that is told")
    func unneeded() throws {
        let open = try scratch.make("open")
        let context = scratch.context()
        let keychain = try context.open(open, passcode: .file("missing"))
        try context.unlock(keychain, of: open, for: .all, passcode: .file("missing"))
        #expect(keychain.isUnlocked)
        guard case KeychainEvent.passcodeUnneeded("open")? = scratch.events.first, scratch.events.count == 1 else {
            Issue.record("\(scratch.events)")
            return
        }
    }
}
