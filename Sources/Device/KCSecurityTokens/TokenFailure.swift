/// Why a security token gives no credential, or no secret.
package enum TokenFailure: Error, Hashable, Sendable {
    /// The named library or function cannot be loaded: libfido2 is missing, or is older than 1.12.
    case libraryMissing(String)
    /// No token is connected.
    case noToken
    /// This user may not use the token at the path.
    case noAccess(path: String)
    /// The token does not answer in time, or is gone.
    case noAnswer
    /// Another program uses the token.
    case busy
    /// The token was not touched in time, or the request was declined on it.
    case notTouched
    /// The token has none of its secrets to give (`hmac-secret`).
    case noSecrets
    /// The credential was made by another token, or this one was reset since.
    case otherToken
    /// The token insists on its PIN, and gives another secret with it than without.
    case pinNeeded
    /// The token has no PIN.
    case pinNotSet
    /// The PIN is wrong; the token accepts this many more tries, if it says so.
    case wrongPIN(triesLeft: Int?)
    /// After several wrong PINs, the token has to be taken out and put in again.
    case pinPaused
    /// After too many wrong PINs, the token has to be reset, which destroys its credentials.
    case pinBlocked
    /// The token has verified the user in another way than is agreed on, and so gives another secret.
    case otherPresence
    /// The answer is none, or does not prove that the credential is the token's.
    case wrongAnswer
    /// A signal has asked the process to stop.
    case interrupted
    /// The token, or the library, refuses a call for another reason.
    case refused(call: String, code: Int32)
}

extension TokenFailure {
    /// The failure of a call, by its code (CTAP 2.1, section 8.2; negative ones are of libfido2).
    init(_ code: Int32, of call: String) {
        self =
            switch code {
            // FIDO_ERR_TX, FIDO_ERR_RX, CTAP1_ERR_TIMEOUT
            case -1, -2, 0x05: .noAnswer
            // FIDO_ERR_RX_NOT_CBOR, FIDO_ERR_RX_INVALID_CBOR, FIDO_ERR_INVALID_PARAM, FIDO_ERR_INVALID_SIG,
            // FIDO_ERR_USER_PRESENCE_REQUIRED
            case -3, -4, -5, -6, -8: .wrongAnswer
            // CTAP1_ERR_CHANNEL_BUSY
            case 0x06: .busy
            // CTAP2_ERR_UNSUPPORTED_EXTENSION
            case 0x16: .noSecrets
            // CTAP2_ERR_INVALID_CREDENTIAL, CTAP2_ERR_NO_CREDENTIALS
            case 0x22, 0x2e: .otherToken
            // CTAP2_ERR_OPERATION_DENIED, _KEEPALIVE_CANCEL, _USER_ACTION_TIMEOUT, _ACTION_TIMEOUT
            case 0x27, 0x2d, 0x2f, 0x3a: .notTouched
            // CTAP2_ERR_PIN_INVALID, _PIN_BLOCKED, _PIN_AUTH_BLOCKED, _PIN_NOT_SET, _PUAT_REQUIRED
            case 0x31: .wrongPIN(triesLeft: nil)
            case 0x32: .pinBlocked
            case 0x34: .pinPaused
            case 0x35: .pinNotSet
            case 0x36: .pinNeeded
            default: .refused(call: call, code: code)
            }
    }
}
