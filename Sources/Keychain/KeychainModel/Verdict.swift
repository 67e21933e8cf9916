/// How an archive was created, in Apple's terms.
package enum ArchiveMode: String, CaseIterable, Hashable, Sendable {
    /// Protected by a passphrase or public keys; restores anywhere except ThisDeviceOnly items.
    case encrypted
    /// No passphrase; the secrets stay under keys that only the device has, so it restores only there.
    case unencrypted
}

/// Where the secret of an item can be restored, as stated in its metadata line.
package enum Travel: String, CaseIterable, Hashable, Sendable {
    case anyDevice = "any-device"
    case thisDevice = "this-device"
    /// The item is in no archive.
    case nowhere

    /// Where items of `accessibility` can go.
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
/// A verdict explains; it does not protect. What must not travel is sealed under keys that other devices lack.
package enum Verdict: Hashable, Sendable {
    case restores
    case staysBehind(Reason)

    /// Why an item stays behind.
    package enum Reason: String, CaseIterable, Hashable, Sendable {
        /// A ThisDeviceOnly item, on a device other than the one that made the archive.
        case thisDeviceOnly = "this-device-only"
        /// An unencrypted archive, on another device.
        case unencryptedElsewhere = "unencrypted-elsewhere"
        /// A WhenPasscodeSetThisDeviceOnly item: it is in no archive.
        case inNoArchive = "in-no-archive"

        /// The reason, to follow "stays behind: ".
        package var words: String {
            switch self {
            case .thisDeviceOnly: "ThisDeviceOnly: opens only on the device that made the archive"
            case .unencryptedElsewhere: "an unencrypted archive restores only on the device that made it"
            case .inNoArchive: "WhenPasscodeSetThisDeviceOnly: is in no archive"
            }
        }
    }

    /// The travel rules as one pure function (README, "The rules").
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
