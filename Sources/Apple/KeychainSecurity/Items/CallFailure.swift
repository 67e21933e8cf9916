internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKernelKeyring
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains

/// Why a call failed: the status that its caller gets.
struct CallFailure: Error, Hashable {
    /// A status `errSec…`, never `errSecSuccess`.
    let status: OSStatus

    init(_ status: OSStatus) {
        self.status = status
    }

    /// Converts the errors of the layers below.
    init(_ error: any Error) {
        switch error {
        case let failure as CallFailure: self = failure
        case let error as KeychainStoreError: status = Self.status(of: error)
        case let problem as ItemProblem: status = Self.status(of: problem)
        case is DeviceKeyFailure: status = errSecNotAvailable
        case let failure as LocalKeychainFailure: status = Self.status(of: failure)
        case is FileFailure: status = errSecIO
        case CryptographyFailure.chip: status = errSecNotAvailable
        case is CryptographyFailure: status = errSecInternal
        default: status = errSecInternal
        }
    }

    private static func status(of error: KeychainStoreError) -> OSStatus {
        switch error {
        case .notFound: errSecNoSuchKeychain
        case .exists: errSecDuplicateKeychain
        case .notAKeychain, .severalNames, .foreignJournal, .damaged: errSecInvalidKeychain
        case .newerFormat: errSecWrongSecVersion
        case .otherDevice, .busy, .diskFull: errSecNotAvailable
        case .locked, .presenceNeeded: errSecInteractionNotAllowed
        case .wrongPasscode, .tooManyAttempts, .passcodeNotSet, .passcodeEmpty, .itemsAskForPasscode: errSecAuthFailed
        case .escrow, .token: errSecInvalidKeychain
        case .duplicateItem, .duplicateUUID: errSecDuplicateItem
        case .itemNotFound: errSecItemNotFound
        case .itemDamaged: errSecDecode
        case .unchangeable: errSecParam
        case .item(let problem): status(of: problem)
        case .file(let failure): status(of: failure)
        case .limit: errSecDataTooLarge
        case .readOnly: errSecReadOnly
        case .sqlite(let code): status(ofSQLite: code)
        case .cryptography(.chip(.lockedOut)): errSecAuthFailed
        case .cryptography(.chip): errSecNotAvailable
        case .cryptography: errSecInternal
        case .kernelKeys: errSecNotAvailable
        case .interrupted: errSecIO
        }
    }

    private static func status(of problem: ItemProblem) -> OSStatus {
        switch problem {
        case .unknownAttribute, .notInClass: errSecNoSuchAttr
        case .attributeTooLarge, .attributesTooLarge, .secretTooLarge, .tooManyExtra, .extraTooLarge:
            errSecDataTooLarge
        case .wrongKind, .missing, .unknownAccessibility, .unknownConstraint, .extraOutOfOrder,
            .reservedExtra, .thisDeviceOnlySynchronizable, .synchronizableAsks:
            errSecParam
        }
    }

    private static func status(of failure: LocalKeychainFailure) -> OSStatus {
        switch failure {
        case .emptyName, .invalidName: errSecNoSuchKeychain
        case .deviceKeyMissing, .borrowedRights: errSecNotAvailable
        case .listsDamaged: errSecNoDefaultKeychain
        case .file(let failure): status(of: failure)
        }
    }

    private static func status(of failure: FileFailure) -> OSStatus {
        switch failure.problem {
        case .notFound: errSecNoSuchKeychain
        case .exists, .notFolder, .notRegular, .exposed, .foreignOwner, .sharedFolder, .foreignFolder, .busy, .changed,
            .tooLarge:
            errSecNotAvailable
        case .displaced, .remains, .noSafeNaming, .system: errSecIO
        }
    }

    // SQLite's result codes (sqlite.org/rescode.html), and the statuses that Apple's keychain returns for them.
    private static func status(ofSQLite code: Int32) -> OSStatus {
        switch code & 0xff {
        case 7: errSecAllocate
        case 10: errSecIO
        case 20: errSecNoSuchAttr
        default: errSecNotAvailable
        }
    }
}
