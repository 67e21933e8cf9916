internal import Foundation
package import KCByteStreams
internal import KCKeychainKeys
internal import KCKeychainStore

/// The source of the passcode for a call with `kSecUseAuthenticationContext`.
package protocol AuthenticationContext: AnyObject, Sendable {
    /// Returns the passcode that the user has given for this context, and asks for it if there is none yet.
    ///
    /// - Parameter mayAsk: false to use only what was given before; then nothing waits.
    /// - Throws: `AuthenticationRefusal`: `notInteractive` also if nothing was given before and `mayAsk` is false.
    func passcode(mayAsk: Bool) throws(AuthenticationRefusal) -> GivenPasscode

    /// Forgets a passcode that the keychain has refused, so that it is not tried again.
    func forget(_ passcode: GivenPasscode)
}

/// Why a context gives no passcode.
package enum AuthenticationRefusal: Error, Hashable, Sendable {
    /// A prompt is not allowed, or there is no terminal and no passcode source.
    case notInteractive
    /// The user refused.
    case canceled
    /// The passcode was wrong, or the context is no longer valid.
    case failed

    /// The status of a call.
    var status: OSStatus {
        switch self {
        case .notInteractive: errSecInteractionNotAllowed
        case .canceled: errSecUserCanceled
        case .failed: errSecAuthFailed
        }
    }
}

/// A passcode that was given, in memory that is wiped.
package final class GivenPasscode: Sendable {
    /// The passcode in UTF-8.
    package let bytes: SecretBytes
    /// The memory of what was derived from it, so that a context waits for the derivation once.
    let memory = PasscodeMemory()

    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }
}

/// Who is asked for the passcode when a call needs a locked item.
struct PasscodeRoute {
    /// False to leave locked items locked, unless the context has the passcode already.
    var mayAsk = true
    /// Asked instead of the program's passcode source.
    var context: (any AuthenticationContext)?
    /// True if locked items are skipped, so that no call fails because of one.
    var skipsLocked = false
}

extension KeychainClient {
    /// The place of the keychain that the calls use, and whether it has a passcode; it has none if it does not exist.
    package static func keychainForContexts() throws(KeychainClientFailure) -> (path: String, hasPasscode: Bool) {
        (try shared.keychainPath(), try status().hasPasscode)
    }

    /// The passcode source of this program; nil if it has none.
    package static var passcodeSource: PasscodeSource? { shared.currentPasscodeSource }

    /// Checks a passcode; locks and unlocks nothing.
    ///
    /// - Throws: `KeychainClientFailure.failed`, with `errSecAuthFailed` for a wrong passcode or too many of them.
    package static func check(passcode: GivenPasscode) throws(KeychainClientFailure) {
        try shared.check(passcode: passcode)
    }
}
