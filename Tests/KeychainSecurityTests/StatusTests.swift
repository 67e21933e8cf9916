import Foundation
import KCKeychainModel
import KCKeychainStore
import KCSecurityStatus
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Statuses")
struct StatusTests {
    @Test("Every errSec constant is the status with its name, code and message", arguments: constants)
    func constant(name: String, code: OSStatus) throws {
        let status = try #require(SecurityStatus(code: code))
        #expect(status.name == name)
        #expect(SecCopyErrorMessageString(code, nil) as String? == status.message)
    }

    @Test("The other constants are the statuses with their names and codes")
    func furtherConstants() throws {
        let further = try Self.furtherConstants
        for (name, code) in further {
            let status = try #require(SecurityStatus(code: code), "\(name)")
            #expect(status.name == name)
            #expect(SecCopyErrorMessageString(code, nil) as String? == status.message)
        }
        #expect(errSecInvalidCRL == -67830 && errSecDuplicateCallback == -25297)
        #expect(SecCopyErrorMessageString(errSecInvalidCRLAuthority, nil) == "Invalid CRL authority.")
    }

    @Test("Every status has a constant, including all 381 in Apple's public header")
    func completeness() throws {
        let names = try Self.constants.map(\.0) + Self.furtherConstants.map(\.0)
        #expect(names.sorted() == SecurityStatus.all.map(\.name).sorted())
        // Three that Apple's server returns are in a private header.
        #expect(names.count == 381 + 3)
    }

    /// The constants whose code is a literal in the source.
    private static var furtherConstants: [(String, OSStatus)] {
        get throws {
            let folder = Project.folder.appending(path: "Sources/Apple/KeychainSecurity/Constants")
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            let text = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
            return text.matches(of: /public let (errSec\w+): OSStatus = (-\d+)/).compactMap { match in
                OSStatus(match.output.2).map { (String(match.output.1), $0) }
            }
        }
    }

    @Test("An unknown code is shown as a number", arguments: [1, -1, -252980, .min, .max] as [OSStatus])
    func unknown(code: OSStatus) {
        #expect(SecCopyErrorMessageString(code, nil) as String? == "OSStatus \(code)")
    }

    @Test("Every failure of the layers below maps to a specific status, never to success")
    func failures() {
        let expected: [(any Error, OSStatus)] = [
            (KeychainStoreError.busy, errSecNotAvailable), (KeychainStoreError.diskFull, errSecNotAvailable),
            (KeychainStoreError.damaged("x"), errSecInvalidKeychain),
            (KeychainStoreError.notAKeychain(.otherSchema), errSecInvalidKeychain),
            (KeychainStoreError.newerFormat(found: 2, known: 1), errSecWrongSecVersion),
            (KeychainStoreError.readOnly, errSecReadOnly), (KeychainStoreError.interrupted, errSecIO),
            (KeychainStoreError.locked(.whenUnlocked), errSecInteractionNotAllowed),
            (KeychainStoreError.passcodeNotSet, errSecAuthFailed), (KeychainStoreError.sqlite(7), errSecAllocate),
            (KeychainStoreError.sqlite(10 | 3 << 8), errSecIO), (KeychainStoreError.sqlite(20), errSecNoSuchAttr),
            (KeychainStoreError.sqlite(1), errSecNotAvailable), (CocoaError(.fileReadUnknown), errSecInternal),
            (KeychainStoreError.limit("x", found: 2, allowed: 1), errSecDataTooLarge),
            (KeychainStoreError.item(.thisDeviceOnlySynchronizable), errSecParam),
            (KeychainStoreError.unchangeable(.musr), errSecParam),
        ]
        for (failure, status) in expected { #expect(CallFailure(failure).status == status, "\(failure)") }
    }

    private static let constants: [(String, OSStatus)] = [
        ("errSecSuccess", errSecSuccess), ("errSecUnimplemented", errSecUnimplemented),
        ("errSecDiskFull", errSecDiskFull), ("errSecIO", errSecIO), ("errSecOpWr", errSecOpWr),
        ("errSecParam", errSecParam), ("errSecWrPerm", errSecWrPerm), ("errSecAllocate", errSecAllocate),
        ("errSecUserCanceled", errSecUserCanceled), ("errSecBadReq", errSecBadReq),
        ("errSecACLNotSimple", errSecACLNotSimple), ("errSecPolicyNotFound", errSecPolicyNotFound),
        ("errSecInvalidTrustSetting", errSecInvalidTrustSetting), ("errSecNoAccessForItem", errSecNoAccessForItem),
        ("errSecInvalidOwnerEdit", errSecInvalidOwnerEdit), ("errSecTrustNotAvailable", errSecTrustNotAvailable),
        ("errSecUnsupportedFormat", errSecUnsupportedFormat), ("errSecUnknownFormat", errSecUnknownFormat),
        ("errSecKeyIsSensitive", errSecKeyIsSensitive), ("errSecPassphraseRequired", errSecPassphraseRequired),
        ("errSecPkcs12VerifyFailure", errSecPkcs12VerifyFailure), ("errSecNotAvailable", errSecNotAvailable),
        ("errSecReadOnly", errSecReadOnly), ("errSecAuthFailed", errSecAuthFailed),
        ("errSecNoSuchKeychain", errSecNoSuchKeychain), ("errSecInvalidKeychain", errSecInvalidKeychain),
        ("errSecDuplicateKeychain", errSecDuplicateKeychain), ("errSecDuplicateItem", errSecDuplicateItem),
        ("errSecItemNotFound", errSecItemNotFound), ("errSecBufferTooSmall", errSecBufferTooSmall),
        ("errSecDataTooLarge", errSecDataTooLarge), ("errSecNoSuchAttr", errSecNoSuchAttr),
        ("errSecInvalidItemRef", errSecInvalidItemRef), ("errSecNoSuchClass", errSecNoSuchClass),
        ("errSecNoDefaultKeychain", errSecNoDefaultKeychain),
        ("errSecInteractionNotAllowed", errSecInteractionNotAllowed), ("errSecReadOnlyAttr", errSecReadOnlyAttr),
        ("errSecWrongSecVersion", errSecWrongSecVersion), ("errSecInteractionRequired", errSecInteractionRequired),
        ("errSecDataNotAvailable", errSecDataNotAvailable), ("errSecDataNotModifiable", errSecDataNotModifiable),
        ("errSecInDarkWake", errSecInDarkWake), ("errSecAuthNeeded", errSecAuthNeeded),
        ("errSecNotSigner", errSecNotSigner), ("errSecDecode", errSecDecode), ("errSecInternal", errSecInternal),
        ("errSecMissingEntitlement", errSecMissingEntitlement), ("errSecUpgradePending", errSecUpgradePending),
        ("errSecRestrictedAPI", errSecRestrictedAPI),
    ]
}

@Suite("SecRandomCopyBytes")
struct RandomTests {
    @Test("Exactly the requested number of bytes is filled", arguments: [0, 1, 16, 32, 4_096, 100_000])
    func fills(count: Int) {
        // Bytes that must not change keep this value. Bytes that must change differ from it at least once in 64 calls.
        let untouched: UInt8 = 0xa5
        var changed = [Bool](repeating: false, count: count)
        for _ in 0..<(count > 4_096 ? 8 : 64) {
            var bytes = [UInt8](repeating: untouched, count: count + 8)
            #expect(SecRandomCopyBytes(kSecRandomDefault, count, &bytes) == errSecSuccess)
            #expect(bytes.suffix(8).allSatisfy { $0 == untouched })
            for index in 0..<count where bytes[index] != untouched { changed[index] = true }
        }
        #expect(changed.allSatisfy { $0 })
    }

    @Test("Two calls return different bytes")
    func differs() {
        var first = [UInt8](repeating: 0, count: 32)
        var second = first
        #expect(SecRandomCopyBytes(nil, 32, &first) == errSecSuccess)
        #expect(SecRandomCopyBytes(nil, 32, &second) == errSecSuccess)
        #expect(first != second)
    }

    @Test("A negative count is refused and the memory is unchanged")
    func negative() {
        var bytes: [UInt8] = [1, 2, 3]
        #expect(SecRandomCopyBytes(nil, -1, &bytes) == errSecParam)
        #expect(bytes == [1, 2, 3])
    }
}
