package import Foundation
internal import KCKeychainStore

/// What a call with `kSecUseAuthenticationContext` asks for the passcode.
package protocol AuthenticationContext: AnyObject, Sendable {
    /// Returns the passcode that the user has given for this context, and asks for it if there is none yet.
    ///
    /// - Parameter mayAsk: false to use only what was given before.
    /// - Throws: `AuthenticationRefusal`: `notInteractive` also if nothing was given before and `mayAsk` is false.
    func passcode(mayAsk: Bool) throws(AuthenticationRefusal) -> Data
}

/// Why a context gives no passcode.
package enum AuthenticationRefusal: Error, Hashable, Sendable {
    /// Nobody may be asked, or nobody is there.
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

/// Who is asked for the passcode when a call needs a locked item.
struct PasscodeRoute {
    /// False to leave locked items locked, unless the context has the passcode already.
    var mayAsk = true
    /// Asked instead of the program's passcode source.
    var context: (any AuthenticationContext)?
}

extension KeychainClient {
    /// True if the keychain that the calls use has a passcode; false also if there is no keychain.
    package static func hasPasscode() throws(KeychainClientFailure) -> Bool { try status().hasPasscode }

    /// The passcode source of this program; nil if it has none.
    package static var passcodeSource: PasscodeSource? { shared.currentPasscodeSource }

    /// Checks a passcode; locks and unlocks nothing.
    ///
    /// - Throws: `KeychainClientFailure.failed`, with `errSecAuthFailed` for a wrong passcode or too many of them.
    package static func check(passcode: Data) throws(KeychainClientFailure) { try shared.check(passcode: passcode) }
}
