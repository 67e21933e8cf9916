public import Foundation

/// Why an authentication failed, or was not possible.
///
/// ```swift
/// do {
///     _ = try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "show your notes")
/// } catch LAError.userCancel {
///     print("canceled")
/// } catch let error as LAError {
///     print(error.code, error.localizedDescription)
/// }
/// ```
public struct LAError: _BridgedStoredNSError {
    /// The same error as an object.
    public let _nsError: NSError

    /// Wraps an error of this domain.
    public init(_nsError: NSError) { self._nsError = _nsError }

    /// The domain of these errors.
    public static var _nsErrorDomain: String { LAErrorDomain }

    /// The reasons, with Apple's numbers.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The type of the error.
        public typealias _ErrorType = LAError

        /// The passcode was wrong, or too many were tried.
        case authenticationFailed = -1
        /// The user refused.
        case userCancel = -2
        /// Never the case here: the user chose another way.
        case userFallback = -3
        /// The keychain cannot be used; the description says why.
        case systemCancel = -4
        /// There is no keychain, or it has no passcode.
        case passcodeNotSet = -5
        /// There are no fingerprints and faces on this system.
        case biometryNotAvailable = -6
        /// Never the case here.
        case biometryNotEnrolled = -7
        /// Never the case here.
        case biometryLockout = -8
        /// The program invalidated the context while it was asking.
        case appCancel = -9
        /// The context was invalidated before.
        case invalidContext = -10
        /// There are no watches on this system.
        case watchNotAvailable = -11
        /// Never the case here.
        case biometryNotPaired = -12
        /// Never the case here.
        case biometryDisconnected = -13
        /// Never the case here.
        case invalidDimensions = -14
        /// A prompt is not allowed, or there is no terminal and no passcode source.
        case notInteractive = -1004

        /// The older name of `biometryNotAvailable`.
        public static let touchIDNotAvailable = Code.biometryNotAvailable
        /// The older name of `biometryNotEnrolled`.
        public static let touchIDNotEnrolled = Code.biometryNotEnrolled
        /// The older name of `biometryLockout`.
        public static let touchIDLockout = Code.biometryLockout

        fileprivate var message: String {
            switch self {
            case .authenticationFailed: "The passcode is wrong, or too many were tried."
            case .userCancel: "Canceled by the user."
            case .userFallback: "The user chose another way."
            case .systemCancel: "Canceled by the system."
            case .passcodeNotSet: "The keychain has no passcode."
            case .biometryNotAvailable: "Biometry is not available on this system."
            case .biometryNotEnrolled: "No biometry is enrolled."
            case .biometryLockout: "Biometry is locked out."
            case .appCancel: "Canceled by the program."
            case .invalidContext: "The context has been invalidated."
            case .watchNotAvailable: "No watch is available on this system."
            case .biometryNotPaired: "The accessory is not paired."
            case .biometryDisconnected: "The accessory is not connected."
            case .invalidDimensions: "The dimensions are invalid."
            case .notInteractive: "There is no way to ask for the passcode."
            }
        }
    }

    /// - Parameter cause: what went wrong, if the code does not say it.
    init(reason: Code, because cause: String? = nil) {
        let text = cause.map { "\(reason.message.dropLast()): \($0)" } ?? reason.message
        _nsError = NSError(
            domain: LAErrorDomain, code: reason.rawValue, userInfo: [NSLocalizedDescriptionKey: text])
    }
}

extension LAError {
    /// See `Code`.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// See `Code`.
    public static var userCancel: Code { .userCancel }
    /// See `Code`.
    public static var userFallback: Code { .userFallback }
    /// See `Code`.
    public static var systemCancel: Code { .systemCancel }
    /// See `Code`.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// See `Code`.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// See `Code`.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// See `Code`.
    public static var biometryLockout: Code { .biometryLockout }
    /// See `Code`.
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }
    /// See `Code`.
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
    /// See `Code`.
    public static var touchIDLockout: Code { .biometryLockout }
    /// See `Code`.
    public static var appCancel: Code { .appCancel }
    /// See `Code`.
    public static var invalidContext: Code { .invalidContext }
    /// See `Code`.
    public static var watchNotAvailable: Code { .watchNotAvailable }
    /// See `Code`.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// See `Code`.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// See `Code`.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// See `Code`.
    public static var notInteractive: Code { .notInteractive }
}

/// The domain of `LAError`.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// A place for an error, which Foundation on Linux does not name.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
