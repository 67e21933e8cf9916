internal import KCSecurityStatus

// Apple's constants, with the numbers and messages of `SecurityStatus`.

/// No error.
public let errSecSuccess: OSStatus = SecurityStatus.success.code
/// Function or operation not implemented.
public let errSecUnimplemented: OSStatus = SecurityStatus.unimplemented.code
/// The disk is full.
public let errSecDiskFull: OSStatus = SecurityStatus.diskFull.code
/// I/O error.
public let errSecIO: OSStatus = SecurityStatus.io.code
/// File already open with write permission.
public let errSecOpWr: OSStatus = SecurityStatus.openedForWriting.code
/// At least one parameter passed to a function was not valid.
public let errSecParam: OSStatus = SecurityStatus.parameter.code
/// Write permissions error.
public let errSecWrPerm: OSStatus = SecurityStatus.writePermission.code
/// Failed to allocate memory.
public let errSecAllocate: OSStatus = SecurityStatus.allocation.code
/// User canceled the operation.
public let errSecUserCanceled: OSStatus = SecurityStatus.userCanceled.code
/// Bad parameter or invalid state for operation.
public let errSecBadReq: OSStatus = SecurityStatus.badRequest.code
/// The specified access control list is not in standard (simple) form.
public let errSecACLNotSimple: OSStatus = SecurityStatus.accessListNotSimple.code
/// The specified policy cannot be found.
public let errSecPolicyNotFound: OSStatus = SecurityStatus.policyNotFound.code
/// The specified trust setting is invalid.
public let errSecInvalidTrustSetting: OSStatus = SecurityStatus.invalidTrustSetting.code
/// The specified item has no access control.
public let errSecNoAccessForItem: OSStatus = SecurityStatus.noAccessForItem.code
/// Invalid attempt to change the owner of this item.
public let errSecInvalidOwnerEdit: OSStatus = SecurityStatus.invalidOwnerEdit.code
/// No trust results are available.
public let errSecTrustNotAvailable: OSStatus = SecurityStatus.trustNotAvailable.code
/// Import/Export format unsupported.
public let errSecUnsupportedFormat: OSStatus = SecurityStatus.unsupportedFormat.code
/// Unknown format in import.
public let errSecUnknownFormat: OSStatus = SecurityStatus.unknownFormat.code
/// Key material must be wrapped for export.
public let errSecKeyIsSensitive: OSStatus = SecurityStatus.keyIsSensitive.code
/// Passphrase is required for import/export.
public let errSecPassphraseRequired: OSStatus = SecurityStatus.passphraseRequired.code
/// The MAC of a PKCS #12 file does not match; the passphrase may be wrong.
public let errSecPkcs12VerifyFailure: OSStatus = SecurityStatus.pkcs12VerifyFailure.code
/// No keychain is available.
public let errSecNotAvailable: OSStatus = SecurityStatus.notAvailable.code
/// This keychain cannot be modified.
public let errSecReadOnly: OSStatus = SecurityStatus.readOnly.code
/// The user name or passphrase you entered is not correct.
public let errSecAuthFailed: OSStatus = SecurityStatus.authFailed.code
/// The specified keychain could not be found.
public let errSecNoSuchKeychain: OSStatus = SecurityStatus.noSuchKeychain.code
/// The specified keychain is not a valid keychain file.
public let errSecInvalidKeychain: OSStatus = SecurityStatus.invalidKeychain.code
/// A keychain with the same name already exists.
public let errSecDuplicateKeychain: OSStatus = SecurityStatus.duplicateKeychain.code
/// The specified item already exists in the keychain.
public let errSecDuplicateItem: OSStatus = SecurityStatus.duplicateItem.code
/// The specified item could not be found in the keychain.
public let errSecItemNotFound: OSStatus = SecurityStatus.itemNotFound.code
/// There is not enough memory available to use the specified item.
public let errSecBufferTooSmall: OSStatus = SecurityStatus.bufferTooSmall.code
/// This item contains information which is too large or in a format that cannot be displayed.
public let errSecDataTooLarge: OSStatus = SecurityStatus.dataTooLarge.code
/// The specified attribute does not exist.
public let errSecNoSuchAttr: OSStatus = SecurityStatus.noSuchAttribute.code
/// The specified item is no longer valid.
public let errSecInvalidItemRef: OSStatus = SecurityStatus.invalidItemReference.code
/// The specified item does not appear to be a valid keychain item.
public let errSecNoSuchClass: OSStatus = SecurityStatus.noSuchClass.code
/// A default keychain could not be found.
public let errSecNoDefaultKeychain: OSStatus = SecurityStatus.noDefaultKeychain.code
/// User interaction is not allowed.
public let errSecInteractionNotAllowed: OSStatus = SecurityStatus.interactionNotAllowed.code
/// The specified attribute could not be modified.
public let errSecReadOnlyAttr: OSStatus = SecurityStatus.readOnlyAttribute.code
/// This keychain was created by a different version of the system software and cannot be opened.
public let errSecWrongSecVersion: OSStatus = SecurityStatus.wrongVersion.code
/// User interaction is required, but is currently not allowed.
public let errSecInteractionRequired: OSStatus = SecurityStatus.interactionRequired.code
/// The contents of this item cannot be retrieved.
public let errSecDataNotAvailable: OSStatus = SecurityStatus.dataNotAvailable.code
/// The contents of this item cannot be modified.
public let errSecDataNotModifiable: OSStatus = SecurityStatus.dataNotModifiable.code
/// In dark wake, no UI possible.
public let errSecInDarkWake: OSStatus = SecurityStatus.inDarkWake.code
/// The user has to authenticate first.
public let errSecAuthNeeded: OSStatus = SecurityStatus.authNeeded.code
/// A certificate was not signed by its proposed parent.
public let errSecNotSigner: OSStatus = SecurityStatus.notSigner.code
/// Unable to decode the provided data.
public let errSecDecode: OSStatus = SecurityStatus.decode.code
/// An internal error occurred.
public let errSecInternal: OSStatus = SecurityStatus.internalError.code
/// A required entitlement isn't present.
public let errSecMissingEntitlement: OSStatus = SecurityStatus.missingEntitlement.code
/// An upgrade of the keychain is pending.
public let errSecUpgradePending: OSStatus = SecurityStatus.upgradePending.code
/// Client is restricted and is not permitted to perform this operation.
public let errSecRestrictedAPI: OSStatus = SecurityStatus.restrictedAPI.code
