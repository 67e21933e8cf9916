import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCHomeFiles
import KCItemStores
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCTaskSupport
import KCTestSupport
import Testing

@testable import KCStoreTasks

@Suite("Keychains by name")
struct KeychainOpeningTests {
    private let scratch: ScratchMachine
    private var machine: Machine { scratch.machine }
    private var folder: TemporaryFolder { scratch.folder }

    init() throws { scratch = try ScratchMachine() }

    private func make(_ name: String, passcode: String? = nil) throws { _ = try scratch.make(name, passcode: passcode) }

    @Test("Each failure to open a keychain has its name")
    func named() throws {
        try make("work")
        let missing = try LocalKeychain("home", in: machine)
        #expect(throws: KeychainFailure("home", .notFound(missing.path))) { _ = try missing.open(in: machine) }
        _ = try folder.write(".local/share/kcbackup/keychains/work.keychain", [UInt8](repeating: 7, count: 4_096))
        let failure = #expect(throws: KeychainFailure.self) {
            _ = try LocalKeychain("work", in: machine).open(in: machine)
        }
        #expect(failure?.name == "work")
    }

    @Test("Only keychains that open count as ones with a passcode")
    func passcodes() throws {
        try make("a", passcode: "walnut")
        try make("b")
        try make("c", passcode: "walnut")
        _ = try folder.write(".local/share/kcbackup/keychains/c.keychain", [1, 2, 3])
        #expect(try machine.keychainsWithPasscode() == ["a"])
    }

    @Test(
        "The name of another store is none of a keychain",
        arguments: [
            ("file:a.csv", KeychainNameProblem.fileOfItems), ("secret-service:", .desktopKeyring),
            ("home:", .files(.home)), ("SecretService:x", .misnamed("SecretService:x", .keyring("secret-service:x"))),
        ])
    func otherStores(name: String, problem: KeychainNameProblem) {
        #expect(throws: problem) { _ = try LocalKeychain(name, in: machine) }
    }

    @Test("A store that was chosen is used where none is named, and files cannot be chosen")
    func chosen() throws {
        try make("work")
        #expect(try StandardStore(in: machine) == .keychain(LocalKeychain("login", in: machine)))
        try StandardStore.remember(#require(try StandardStore(choosing: "work", in: machine)), in: machine)
        let store = try StandardStore(in: machine)
        #expect(try store == .keychain(LocalKeychain("work", in: machine)))
        #expect(try store.doubt(in: machine) == nil)
        for name in ["file:a.csv", "home:", "secret-service:Work"] {
            #expect(try StandardStore(choosing: name, in: machine) == nil, "\(name)")
        }
    }

    @Test("What a missing keychain resembles is a keyring, its file, or a keychain with other capital letters")
    func resemblances() {
        #expect(MeantStore("Secret-Service") == .keyring("secret-service:"))
        #expect(MeantStore("login.keyring") == .keyringFile("login.keyring"))
        #expect(MeantStore("Login", keychains: ["work", "login"]) == .keychain("login"))
        #expect(MeantStore("./secret-service", keychains: ["work"]) == nil)
    }
}
