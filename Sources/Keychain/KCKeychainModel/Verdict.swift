/// How an archive was created, in Apple's terms.
package enum ArchiveMode: String, CaseIterable, Hashable, Sendable {
    /// Protected by a passphrase or public keys; restores anywhere except ThisDeviceOnly items.
    case encrypted
    /// No passphrase; the secrets stay under keys that only the device has, so it can be restored only there.
    case unencrypted
}

/// Where the secret of an item can be restored, as stated in its metadata line.
package enum Travel: String, CaseIterable, Hashable, Sendable {
    case anyDevice = "any-device"
    case thisDevice = "this-device"
    /// The item is in no archive.
    case nowhere

    /// The index in `allCases`.
    var position: Int {
        switch self {
        case .anyDevice: 0
        case .thisDevice: 1
        case .nowhere: 2
        }
    }

    /// The destination of items of `accessibility`.
    package init(_ accessibility: Accessibility) {
        self =
            switch accessibility {
            case .whenUnlocked, .afterFirstUnlock, .always: .anyDevice
            case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: .thisDevice
            case .whenPasscodeSetThisDeviceOnly: .nowhere
            }
    }
}

/// Whether an item may be restored here, and if not, why.
///
/// A verdict explains; it does not protect. Secrets that must not travel are sealed under keys that other devices lack.
package enum Verdict: Hashable, Sendable {
    case restores
    case staysBehind(Reason)

    /// Why an item stays behind.
    package enum Reason: String, CaseIterable, Hashable, Sendable {
        /// A ThisDeviceOnly item, on a device other than the one that made the archive.
        case thisDeviceOnly = "this-device-only"
        /// An unencrypted archive, on another device.
        case unencryptedElsewhere = "unencrypted-elsewhere"
        /// A WhenPasscodeSetThisDeviceOnly item, which is in no archive.
        case inNoArchive = "in-no-archive"
        /// A ThisDeviceOnly item, and a target that cannot bind it to this device.
        case notBoundThere = "not-bound-there"
        /// An item with a constraint, and a target that cannot ask for anything.
        case asksForPasscode = "asks-for-passcode"

        /// The reason, to follow "stays behind: ".
        package var words: String {
            switch self {
            case .thisDeviceOnly: "ThisDeviceOnly: opens only on the device that made the archive"
            case .unencryptedElsewhere: "an unencrypted archive restores only on the device that made it"
            case .inNoArchive: "WhenPasscodeSetThisDeviceOnly: is in no archive"
            case .notBoundThere: "ThisDeviceOnly: the keyring of the desktop cannot bind it to this device"
            case .asksForPasscode: Passage.Reason.asksForPasscode.words
            }
        }
    }

    /// Decides by the travel rules (README, "The rules"); a pure function.
    package static func decide(_ accessibility: Accessibility, in mode: ArchiveMode, onSameDevice: Bool) -> Verdict {
        switch (Travel(accessibility), mode, onSameDevice) {
        case (.nowhere, _, _): .staysBehind(.inNoArchive)
        case (_, _, true): .restores
        case (_, .unencrypted, false): .staysBehind(.unencryptedElsewhere)
        case (.thisDevice, .encrypted, false): .staysBehind(.thisDeviceOnly)
        case (.anyDevice, .encrypted, false): .restores
        }
    }
}

/// Whether an item may be exported to another program, and if not, why.
///
/// The export is made by the very device that can open the item, so no key can enforce the rule. This function is the
/// rule: every export asks it, and no option overrides it.
package enum Departure: Hashable, Sendable {
    case leaves
    case stays(Reason)

    /// Why an item is not exported.
    package enum Reason: String, CaseIterable, Hashable, Sendable {
        /// A ThisDeviceOnly item.
        case thisDeviceOnly = "this-device-only"
        /// A WhenPasscodeSetThisDeviceOnly item.
        case passcodeBound = "passcode-bound"
        /// A key that its owner marked as not extractable.
        case notExtractable = "not-extractable"
        /// An item whose secret is on a token, not in the keychain.
        case onToken = "on-token"
        /// An item that states that there is no password.
        case negative = "negative"

        /// The reason, to follow "stays: ".
        package var words: String {
            switch self {
            case .thisDeviceOnly: "ThisDeviceOnly: never leaves its device"
            case .passcodeBound: "WhenPasscodeSetThisDeviceOnly: never leaves its keychain"
            case .notExtractable: "a key that may not be extracted"
            case .onToken: "its secret is on a token"
            case .negative: "says that there is no password, and has none"
            }
        }
    }

    /// Decides by the export rules (docs/export.md); a pure function.
    package static func decide(_ item: Item) -> Departure {
        switch Passage.decide(item, from: .keychain, to: .export) {
        case .moves: break
        case .stays(.passcodeBound): return .stays(.passcodeBound)
        case .givesUpBinding, .stays(.thisDeviceOnly), .stays(.boundElsewhere), .stays(.asksForPasscode):
            return .stays(.thisDeviceOnly)
        }
        if case .text(let token) = item.attributes[.tkid], !token.isEmpty { return .stays(.onToken) }
        if item.itemClass == .key, item.attributes.number(.extr) == 0 { return .stays(.notExtractable) }
        let isNegative = item.attributes.number(.nega).map { $0 != 0 } ?? false
        if isNegative, item.secretSize == nil { return .stays(.negative) }
        return .leaves
    }
}
