extension SecurityStatus {
    /// `errSecSuccess`.
    package static let success = SecurityStatus("Success", 0, "No error.")
    /// `errSecUnimplemented`.
    package static let unimplemented = SecurityStatus("Unimplemented", -4, "Function or operation not implemented.")
    /// `errSecDiskFull`.
    package static let diskFull = SecurityStatus("DiskFull", -34, "The disk is full.")
    /// `errSecIO`.
    package static let io = SecurityStatus("IO", -36, "I/O error.")
    /// `errSecOpWr`.
    package static let openedForWriting = SecurityStatus("OpWr", -49, "File already open with write permission.")
    /// `errSecParam`.
    package static let parameter = SecurityStatus(
        "Param", -50, "One or more parameters passed to a function were not valid.")
    /// `errSecWrPerm`.
    package static let writePermission = SecurityStatus("WrPerm", -61, "Write permissions error.")
    /// `errSecAllocate`.
    package static let allocation = SecurityStatus("Allocate", -108, "Failed to allocate memory.")
    /// `errSecUserCanceled`.
    package static let userCanceled = SecurityStatus("UserCanceled", -128, "User canceled the operation.")
    /// `errSecBadReq`.
    package static let badRequest = SecurityStatus("BadReq", -909, "Bad parameter or invalid state for operation.")
    /// `errSecACLNotSimple`.
    package static let accessListNotSimple = SecurityStatus(
        "ACLNotSimple", -25240, "The specified access control list is not in standard (simple) form.")
    /// `errSecPolicyNotFound`.
    package static let policyNotFound = SecurityStatus(
        "PolicyNotFound", -25241, "The specified policy cannot be found.")
    /// `errSecInvalidTrustSetting`.
    package static let invalidTrustSetting = SecurityStatus(
        "InvalidTrustSetting", -25242, "The specified trust setting is invalid.")
    /// `errSecNoAccessForItem`.
    package static let noAccessForItem = SecurityStatus(
        "NoAccessForItem", -25243, "The specified item has no access control.")
    /// `errSecInvalidOwnerEdit`.
    package static let invalidOwnerEdit = SecurityStatus(
        "InvalidOwnerEdit", -25244, "Invalid attempt to change the owner of this item.")
    /// `errSecTrustNotAvailable`.
    package static let trustNotAvailable = SecurityStatus(
        "TrustNotAvailable", -25245, "No trust results are available.")
    /// `errSecUnsupportedFormat`.
    package static let unsupportedFormat = SecurityStatus(
        "UnsupportedFormat", -25256, "Import/Export format unsupported.")
    /// `errSecUnknownFormat`.
    package static let unknownFormat = SecurityStatus("UnknownFormat", -25257, "Unknown format in import.")
    /// `errSecKeyIsSensitive`.
    package static let keyIsSensitive = SecurityStatus(
        "KeyIsSensitive", -25258, "Key material must be wrapped for export.")
    /// `errSecPassphraseRequired`.
    package static let passphraseRequired = SecurityStatus(
        "PassphraseRequired", -25260, "Passphrase is required for import/export.")
    /// `errSecPkcs12VerifyFailure`.
    package static let pkcs12VerifyFailure = SecurityStatus(
        "Pkcs12VerifyFailure", -25264, "MAC verification failed during PKCS12 import (wrong password?)")
    /// `errSecNotAvailable`.
    package static let notAvailable = SecurityStatus(
        "NotAvailable", -25291, "No keychain is available. You may need to restart your computer.")
    /// `errSecReadOnly`.
    package static let readOnly = SecurityStatus("ReadOnly", -25292, "This keychain cannot be modified.")
    /// `errSecAuthFailed`.
    package static let authFailed = SecurityStatus(
        "AuthFailed", -25293, "The user name or passphrase you entered is not correct.")
    /// `errSecNoSuchKeychain`.
    package static let noSuchKeychain = SecurityStatus(
        "NoSuchKeychain", -25294, "The specified keychain could not be found.")
    /// `errSecInvalidKeychain`.
    package static let invalidKeychain = SecurityStatus(
        "InvalidKeychain", -25295, "The specified keychain is not a valid keychain file.")
    /// `errSecDuplicateKeychain`.
    package static let duplicateKeychain = SecurityStatus(
        "DuplicateKeychain", -25296, "A keychain with the same name already exists.")
    /// `errSecDuplicateItem`.
    package static let duplicateItem = SecurityStatus(
        "DuplicateItem", -25299, "The specified item already exists in the keychain.")
    /// `errSecItemNotFound`.
    package static let itemNotFound = SecurityStatus(
        "ItemNotFound", -25300, "The specified item could not be found in the keychain.")
    /// `errSecBufferTooSmall`.
    package static let bufferTooSmall = SecurityStatus(
        "BufferTooSmall", -25301, "There is not enough memory available to use the specified item.")
    /// `errSecDataTooLarge`.
    package static let dataTooLarge = SecurityStatus(
        "DataTooLarge", -25302,
        "This item contains information which is too large or in a format that cannot be displayed.")
    /// `errSecNoSuchAttr`.
    package static let noSuchAttribute = SecurityStatus("NoSuchAttr", -25303, "The specified attribute does not exist.")
    /// `errSecInvalidItemRef`.
    package static let invalidItemReference = SecurityStatus(
        "InvalidItemRef", -25304, "The specified item is no longer valid. It may have been deleted from the keychain.")
    /// `errSecNoSuchClass`.
    package static let noSuchClass = SecurityStatus(
        "NoSuchClass", -25306, "The specified item does not appear to be a valid keychain item.")
    /// `errSecNoDefaultKeychain`.
    package static let noDefaultKeychain = SecurityStatus(
        "NoDefaultKeychain", -25307, "A default keychain could not be found.")
    /// `errSecInteractionNotAllowed`.
    package static let interactionNotAllowed = SecurityStatus(
        "InteractionNotAllowed", -25308, "User interaction is not allowed.")
    /// `errSecReadOnlyAttr`.
    package static let readOnlyAttribute = SecurityStatus(
        "ReadOnlyAttr", -25309, "The specified attribute could not be modified.")
    /// `errSecWrongSecVersion`.
    package static let wrongVersion = SecurityStatus(
        "WrongSecVersion", -25310,
        "This keychain was created by a different version of the system software and cannot be opened.")
    /// `errSecInteractionRequired`.
    package static let interactionRequired = SecurityStatus(
        "InteractionRequired", -25315, "User interaction is required, but is currently not allowed.")
    /// `errSecDataNotAvailable`.
    package static let dataNotAvailable = SecurityStatus(
        "DataNotAvailable", -25316, "The contents of this item cannot be retrieved.")
    /// `errSecDataNotModifiable`.
    package static let dataNotModifiable = SecurityStatus(
        "DataNotModifiable", -25317, "The contents of this item cannot be modified.")
    /// `errSecInDarkWake`.
    package static let inDarkWake = SecurityStatus("InDarkWake", -25320, "In dark wake, no UI possible")
    /// `errSecAuthNeeded`.
    package static let authNeeded = SecurityStatus("AuthNeeded", -25330, "The user has to authenticate first.")
    /// `errSecNotSigner`.
    package static let notSigner = SecurityStatus(
        "NotSigner", -26267, "A certificate was not signed by its proposed parent.")
    /// `errSecDecode`.
    package static let decode = SecurityStatus("Decode", -26275, "Unable to decode the provided data.")
    /// `errSecInternal`.
    package static let internalError = SecurityStatus("Internal", -26276, "An internal error occurred.")
    /// `errSecMissingEntitlement`.
    package static let missingEntitlement = SecurityStatus(
        "MissingEntitlement", -34018, "A required entitlement isn't present.")
    /// `errSecUpgradePending`.
    package static let upgradePending = SecurityStatus(
        "UpgradePending", -34019, "An upgrade of the keychain is pending.")
    /// `errSecRestrictedAPI`.
    package static let restrictedAPI = SecurityStatus(
        "RestrictedAPI", -34020, "Client is restricted and is not permitted to perform this operation.")

    /// Every status, in the order of Apple's header: from 0 down.
    package static let all: [SecurityStatus] = (common + further).sorted { $0.code > $1.code }

    /// Statuses that this project returns or explains, with Apple's messages.
    private static let common: [SecurityStatus] = [
        .success, .unimplemented, .diskFull, .io, .openedForWriting, .parameter, .writePermission, .allocation,
        .userCanceled, .badRequest, .accessListNotSimple, .policyNotFound, .invalidTrustSetting,
        .noAccessForItem, .invalidOwnerEdit, .trustNotAvailable, .unsupportedFormat, .unknownFormat,
        .keyIsSensitive, .passphraseRequired, .pkcs12VerifyFailure, .notAvailable, .readOnly, .authFailed,
        .noSuchKeychain, .invalidKeychain, .duplicateKeychain, .duplicateItem, .itemNotFound, .bufferTooSmall,
        .dataTooLarge, .noSuchAttribute, .invalidItemReference, .noSuchClass, .noDefaultKeychain,
        .interactionNotAllowed, .readOnlyAttribute, .wrongVersion, .interactionRequired, .dataNotAvailable,
        .dataNotModifiable, .inDarkWake, .authNeeded, .notSigner, .decode, .internalError, .missingEntitlement,
        .upgradePending, .restrictedAPI,
    ]
}
