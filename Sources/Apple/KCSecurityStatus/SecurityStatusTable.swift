extension SecurityStatus {
    package static let success = SecurityStatus("Success", 0, "No error.")
    package static let unimplemented = SecurityStatus("Unimplemented", -4, "Function or operation not implemented.")
    package static let diskFull = SecurityStatus("DiskFull", -34, "The disk is full.")
    package static let io = SecurityStatus("IO", -36, "I/O error.")
    package static let openedForWriting = SecurityStatus("OpWr", -49, "File already open with write permission.")
    package static let parameter = SecurityStatus(
        "Param", -50, "One or more parameters passed to a function were not valid.")
    package static let writePermission = SecurityStatus("WrPerm", -61, "Write permissions error.")
    package static let allocation = SecurityStatus("Allocate", -108, "Failed to allocate memory.")
    package static let userCanceled = SecurityStatus("UserCanceled", -128, "User canceled the operation.")
    package static let badRequest = SecurityStatus("BadReq", -909, "Bad parameter or invalid state for operation.")
    package static let accessListNotSimple = SecurityStatus(
        "ACLNotSimple", -25240, "The specified access control list is not in standard (simple) form.")
    package static let policyNotFound = SecurityStatus(
        "PolicyNotFound", -25241, "The specified policy cannot be found.")
    package static let invalidTrustSetting = SecurityStatus(
        "InvalidTrustSetting", -25242, "The specified trust setting is invalid.")
    package static let noAccessForItem = SecurityStatus(
        "NoAccessForItem", -25243, "The specified item has no access control.")
    package static let invalidOwnerEdit = SecurityStatus(
        "InvalidOwnerEdit", -25244, "Invalid attempt to change the owner of this item.")
    package static let trustNotAvailable = SecurityStatus(
        "TrustNotAvailable", -25245, "No trust results are available.")
    package static let unsupportedFormat = SecurityStatus(
        "UnsupportedFormat", -25256, "Import/Export format unsupported.")
    package static let unknownFormat = SecurityStatus("UnknownFormat", -25257, "Unknown format in import.")
    package static let keyIsSensitive = SecurityStatus(
        "KeyIsSensitive", -25258, "Key material must be wrapped for export.")
    package static let passphraseRequired = SecurityStatus(
        "PassphraseRequired", -25260, "Passphrase is required for import/export.")
    package static let pkcs12VerifyFailure = SecurityStatus(
        "Pkcs12VerifyFailure", -25264, "MAC verification failed during PKCS12 import (wrong password?)")
    package static let notAvailable = SecurityStatus(
        "NotAvailable", -25291, "No keychain is available. You may need to restart your computer.")
    package static let readOnly = SecurityStatus("ReadOnly", -25292, "This keychain cannot be modified.")
    package static let authFailed = SecurityStatus(
        "AuthFailed", -25293, "The user name or passphrase you entered is not correct.")
    package static let noSuchKeychain = SecurityStatus(
        "NoSuchKeychain", -25294, "The specified keychain could not be found.")
    package static let invalidKeychain = SecurityStatus(
        "InvalidKeychain", -25295, "The specified keychain is not a valid keychain file.")
    package static let duplicateKeychain = SecurityStatus(
        "DuplicateKeychain", -25296, "A keychain with the same name already exists.")
    package static let duplicateItem = SecurityStatus(
        "DuplicateItem", -25299, "The specified item already exists in the keychain.")
    package static let itemNotFound = SecurityStatus(
        "ItemNotFound", -25300, "The specified item could not be found in the keychain.")
    package static let bufferTooSmall = SecurityStatus(
        "BufferTooSmall", -25301, "There is not enough memory available to use the specified item.")
    package static let dataTooLarge = SecurityStatus(
        "DataTooLarge", -25302,
        "This item contains information which is too large or in a format that cannot be displayed.")
    package static let noSuchAttribute = SecurityStatus("NoSuchAttr", -25303, "The specified attribute does not exist.")
    package static let invalidItemReference = SecurityStatus(
        "InvalidItemRef", -25304, "The specified item is no longer valid. It may have been deleted from the keychain.")
    package static let noSuchClass = SecurityStatus(
        "NoSuchClass", -25306, "The specified item does not appear to be a valid keychain item.")
    package static let noDefaultKeychain = SecurityStatus(
        "NoDefaultKeychain", -25307, "A default keychain could not be found.")
    package static let interactionNotAllowed = SecurityStatus(
        "InteractionNotAllowed", -25308, "User interaction is not allowed.")
    package static let readOnlyAttribute = SecurityStatus(
        "ReadOnlyAttr", -25309, "The specified attribute could not be modified.")
    package static let wrongVersion = SecurityStatus(
        "WrongSecVersion", -25310,
        "This keychain was created by a different version of the system software and cannot be opened.")
    package static let interactionRequired = SecurityStatus(
        "InteractionRequired", -25315, "User interaction is required, but is currently not allowed.")
    package static let dataNotAvailable = SecurityStatus(
        "DataNotAvailable", -25316, "The contents of this item cannot be retrieved.")
    package static let dataNotModifiable = SecurityStatus(
        "DataNotModifiable", -25317, "The contents of this item cannot be modified.")
    package static let inDarkWake = SecurityStatus("InDarkWake", -25320, "In dark wake, no UI possible")
    package static let authNeeded = SecurityStatus("AuthNeeded", -25330, "The user has to authenticate first.")
    package static let notSigner = SecurityStatus(
        "NotSigner", -26267, "A certificate was not signed by its proposed parent.")
    package static let decode = SecurityStatus("Decode", -26275, "Unable to decode the provided data.")
    package static let internalError = SecurityStatus("Internal", -26276, "An internal error occurred.")
    package static let missingEntitlement = SecurityStatus(
        "MissingEntitlement", -34018, "A required entitlement isn't present.")
    package static let upgradePending = SecurityStatus(
        "UpgradePending", -34019, "An upgrade of the keychain is pending.")
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
