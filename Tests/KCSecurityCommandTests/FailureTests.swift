import Foundation
import KCByteStreams
import KCConsole
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCKeychainStore
import KCLocalKeychains
import KCSecurityStatus
import KCTestSupport
import Testing

@testable import KCSecurityCommand

@Suite("Errors in Apple's terms")
struct FailureMappingTests {
    @Test(
        "The errors that scripts act on have the same codes as on a Mac",
        arguments: [
            (KeychainStoreError.itemNotFound, 44), (.duplicateItem, 45), (.locked(.whenUnlocked), 36),
            (.wrongPasscode, 51), (.tooManyAttempts(retryAfter: 2), 51), (.notFound("/x"), 50),
            (.notAKeychain(.notADatabase), 49), (.damaged("a rule"), 49), (.exists("/x"), 48),
            (.passcodeNotSet, 51), (.readOnly, 52), (.diskFull, 222), (.busy, 207), (.passcodeEmpty, 206),
            (.item(.thisDeviceOnlySynchronizable), 206), (.item(.unknownAttribute("x")), 41),
            (.unchangeable(.cdat), 35), (.newerFormat(found: 9, known: 1), 34),
            (.itemDamaged(ItemUUID(high: 1, low: 2)), 40),
        ] as [(KeychainStoreError, Int32)])
    func storeErrors(error: KeychainStoreError, exit: Int32) {
        #expect(Failure(error, api: "SecX").exit.code == exit)
    }

    @Test("Every failure has a nonzero exit status and prints at least one line")
    func nothingIsSuccess() {
        let file = FileFailure("/p", .exposed(mode: 0o644))
        let errors: [any Error] = [
            KeychainStoreError.file(file), KeychainStoreError.sqlite(11),
            KeychainStoreError.limit("x", found: 2, allowed: 1),
            KeychainStoreError.cryptography(.authentication),
            KeychainStoreError.duplicateUUID(ItemUUID(high: 1, low: 2)),
            ItemProblem.wrongKind(.acct), ItemProblem.attributeTooLarge(.acct), LocalKeychainFailure.emptyName,
            LocalKeychainFailure.invalidName, LocalKeychainFailure.deviceKeyMissing(keychains: 2),
            LocalKeychainFailure.listsDamaged(path: "/p"), LocalKeychainFailure.file(file),
            DeviceKeyFailure.notFound(path: "/p"), DeviceKeyFailure.damaged(path: "/p", rule: "r"),
            DeviceKeyFailure.file(file), FileFailure("/p", .notFound), FileFailure("/p", .system(13, doing: "opening")),
            StreamFailure(.reading, .truncated), StreamFailure(.writing, .system(28)), TerminalFailure.unavailable,
            TerminalFailure.closed, TerminalFailure.lineTooLong(limit: 1), TerminalFailure.interrupted,
            DeviceKeyFailure.cryptography(.chip(.otherChip)), KeychainStoreError.cryptography(.chip(.noAnswer)),
            CryptographyFailure.library("x"), SecurityStatus.readOnly, CocoaError(.fileNoSuchFile),
        ]
        for error in errors {
            let failure = Failure(error, api: "SecX /p")
            #expect(failure.exit != .ok, "\(error)")
            #expect(failure.lines { $0 }.hasPrefix("security: SecX /p: "), "\(error)")
            #expect(failure.lines { $0 }.hasSuffix("\n"))
        }
    }

    @Test("An unforeseen error prints its type and nothing of its contents")
    func unforeseenErrorsAreSilent() {
        struct Surprise: Error { let secret = "swordfish" }
        let lines = Failure(Surprise(), api: nil).lines { $0 }
        #expect(lines.contains("Surprise") && !lines.contains("swordfish"))
    }

    @Test("A failure to write results is an error, and a closed pipe ends the run with the status of SIGPIPE")
    func lostResults() throws {
        let home = try TestHome()
        home.run("-q create-keychain -p x login")
        for (code, status) in [(28, 222), (5, 220), (32, 141)] as [(Int32, Int32)] {
            for line in [["default-keychain"], ["help"], ["-h"], ["error", "0"], ["dump-keychain", "-h"]] {
                var world = home.world()
                world.output = FailingOutput(code: code)
                #expect(KCSecurityCommand.run(line, in: world).code == status, "\(line)")
            }
        }
        // With -g, the password goes to standard error.
        try home.keychain("open")
        home.run("-q add-generic-password -a a -s s -w x open")
        var world = home.world()
        world.messages = FailingOutput(code: 28)
        #expect(KCSecurityCommand.run(["find-generic-password", "-g", "open"], in: world).code == 222)
    }

    @Test("Foreign text cannot control a terminal, and is written to a file unchanged")
    func foreignText() throws {
        let home = try TestHome()
        home.run(["create-keychain", "-p", "", "./a\u{202e}b\u{1b}[2J.keychain"])
        let terminal = ScriptedTerminal(answers: [], showsOutput: true, showsMessages: true)
        for line in [
            ["list-keychains"], ["dump-keychain"], ["dump-keychain", "\u{1b}[2J/x"], ["\u{1b}\u{7}frob"],
            ["create-keychain", "-p", "", "\u{1b}\u{202e}"], ["list-keychains", "-\u{1b}"],
            ["-i"], ["delete-keychain", "\u{202e}/x"],
        ] {
            let outcome = home.run(line, terminal: terminal, input: "\u{1b}\u{202e}\n")
            for character in "\u{1b}\u{202e}\u{7}".unicodeScalars {
                #expect(!outcome.text.unicodeScalars.contains(character), "\(line)")
                #expect(!outcome.messages.unicodeScalars.contains(character), "\(line)")
            }
        }
        #expect(home.run("list-keychains").text.contains("a\u{202e}b\u{1b}[2J.keychain"))
    }
}
