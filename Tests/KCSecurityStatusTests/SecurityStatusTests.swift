import KCSecurityStatus
import Testing

@Suite("Apple's status codes")
struct SecurityStatusTests {
    /// Written out by hand from Apple's header, so that a mistake in the table is detected.
    static let published: [(name: String, code: Int32, message: String)] = [
        ("errSecSuccess", 0, "No error."),
        ("errSecUnimplemented", -4, "Function or operation not implemented."),
        ("errSecDiskFull", -34, "The disk is full."),
        ("errSecIO", -36, "I/O error."),
        ("errSecOpWr", -49, "File already open with write permission."),
        ("errSecParam", -50, "One or more parameters passed to a function were not valid."),
        ("errSecWrPerm", -61, "Write permissions error."),
        ("errSecAllocate", -108, "Failed to allocate memory."),
        ("errSecUserCanceled", -128, "User canceled the operation."),
        ("errSecBadReq", -909, "Bad parameter or invalid state for operation."),
        ("errSecACLNotSimple", -25240, "The specified access control list is not in standard (simple) form."),
        ("errSecPolicyNotFound", -25241, "The specified policy cannot be found."),
        ("errSecInvalidTrustSetting", -25242, "The specified trust setting is invalid."),
        ("errSecNoAccessForItem", -25243, "The specified item has no access control."),
        ("errSecInvalidOwnerEdit", -25244, "Invalid attempt to change the owner of this item."),
        ("errSecTrustNotAvailable", -25245, "No trust results are available."),
        ("errSecUnsupportedFormat", -25256, "Import/Export format unsupported."),
        ("errSecUnknownFormat", -25257, "Unknown format in import."),
        ("errSecKeyIsSensitive", -25258, "Key material must be wrapped for export."),
        ("errSecPassphraseRequired", -25260, "Passphrase is required for import/export."),
        ("errSecPkcs12VerifyFailure", -25264, "MAC verification failed during PKCS12 import (wrong password?)"),
        ("errSecNotAvailable", -25291, "No keychain is available. You may need to restart your computer."),
        ("errSecReadOnly", -25292, "This keychain cannot be modified."),
        ("errSecAuthFailed", -25293, "The user name or passphrase you entered is not correct."),
        ("errSecNoSuchKeychain", -25294, "The specified keychain could not be found."),
        ("errSecInvalidKeychain", -25295, "The specified keychain is not a valid keychain file."),
        ("errSecDuplicateKeychain", -25296, "A keychain with the same name already exists."),
        ("errSecDuplicateItem", -25299, "The specified item already exists in the keychain."),
        ("errSecItemNotFound", -25300, "The specified item could not be found in the keychain."),
        ("errSecBufferTooSmall", -25301, "There is not enough memory available to use the specified item."),
        (
            "errSecDataTooLarge", -25302,
            "This item contains information which is too large or in a format that cannot be displayed."
        ),
        ("errSecNoSuchAttr", -25303, "The specified attribute does not exist."),
        (
            "errSecInvalidItemRef", -25304,
            "The specified item is no longer valid. It may have been deleted from the keychain."
        ),
        ("errSecNoSuchClass", -25306, "The specified item does not appear to be a valid keychain item."),
        ("errSecNoDefaultKeychain", -25307, "A default keychain could not be found."),
        ("errSecInteractionNotAllowed", -25308, "User interaction is not allowed."),
        ("errSecReadOnlyAttr", -25309, "The specified attribute could not be modified."),
        (
            "errSecWrongSecVersion", -25310,
            "This keychain was created by a different version of the system software and cannot be opened."
        ),
        ("errSecInteractionRequired", -25315, "User interaction is required, but is currently not allowed."),
        ("errSecDataNotAvailable", -25316, "The contents of this item cannot be retrieved."),
        ("errSecDataNotModifiable", -25317, "The contents of this item cannot be modified."),
        ("errSecInDarkWake", -25320, "In dark wake, no UI possible"),
        ("errSecNotSigner", -26267, "A certificate was not signed by its proposed parent."),
        ("errSecDecode", -26275, "Unable to decode the provided data."),
        ("errSecMissingEntitlement", -34018, "A required entitlement isn't present."),
        ("errSecRestrictedAPI", -34020, "Client is restricted and is not permitted to perform this operation."),
    ]

    @Test("Every published code has its name and message", arguments: published.indices)
    func publishedCodes(index: Int) throws {
        let (name, code, message) = Self.published[index]
        let status = try #require(SecurityStatus(code: code))
        #expect(status.name == name)
        #expect(status.message == message)
        #expect(SecurityStatus.message(for: code) == message)
    }

    @Test("Codes and names are unique, and codes descend from 0")
    func tableIsUnambiguous() {
        #expect(Set(SecurityStatus.all.map(\.code)).count == SecurityStatus.all.count)
        #expect(Set(SecurityStatus.all.map(\.name)).count == SecurityStatus.all.count)
        #expect(SecurityStatus.all.map(\.code) == SecurityStatus.all.map(\.code).sorted(by: >))
        #expect(SecurityStatus.all.allSatisfy { !$0.message.isEmpty })
    }

    @Test("A number without a status is shown as a number")
    func unknownCodes() {
        #expect(SecurityStatus(code: -1) == nil)
        #expect(SecurityStatus.message(for: -1) == "OSStatus -1")
        #expect(SecurityStatus.message(for: .min) == "OSStatus -2147483648")
    }

    @Test(
        "The exit status is the low eight bits of the code",
        arguments: [
            (-25299, 45), (-25300, 44), (-25308, 36), (-25293, 51), (-25294, 50), (-25295, 49), (-128, 128), (-50, 206),
            (-34018, 30), (0, 0),
        ] as [(Int32, Int32)])
    func exitStatuses(code: Int32, exit: Int32) throws {
        #expect(try #require(SecurityStatus(code: code)).exitStatus == exit)
    }

    @Test("No failure has the exit status of success")
    func failuresAreSeen() {
        for status in SecurityStatus.all where status != .success { #expect(status.exitStatus != 0, "\(status.name)") }
    }
}
