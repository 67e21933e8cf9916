/// When, and on which device, an item may be read; the raw value is Apple's `pdmn` code.
package enum Accessibility: String, CaseIterable, Hashable, Sendable {
    case whenUnlocked = "ak"
    case afterFirstUnlock = "ck"
    case always = "dk"
    case whenUnlockedThisDeviceOnly = "aku"
    case afterFirstUnlockThisDeviceOnly = "cku"
    case alwaysThisDeviceOnly = "dku"
    case whenPasscodeSetThisDeviceOnly = "akpu"

    /// The class with a code, given as bytes; nil for anything else.
    init?(code: borrowing Span<UInt8>) {
        guard code.count <= 4 else { return nil }
        var packed: UInt32 = 0
        for index in code.indices { packed = packed << 8 | UInt32(code[index]) }
        guard let position = Self.packedCodes.firstIndex(of: packed) else { return nil }
        self = Self.allCases[position]
    }

    private static let packedCodes = allCases.map { $0.rawValue.utf8.reduce(0 as UInt32) { $0 << 8 | UInt32($1) } }

    /// The suffix of Apple's constant `kSecAttrAccessible…`.
    package var name: String {
        switch self {
        case .whenUnlocked: "WhenUnlocked"
        case .afterFirstUnlock: "AfterFirstUnlock"
        case .always: "Always"
        case .whenUnlockedThisDeviceOnly: "WhenUnlockedThisDeviceOnly"
        case .afterFirstUnlockThisDeviceOnly: "AfterFirstUnlockThisDeviceOnly"
        case .alwaysThisDeviceOnly: "AlwaysThisDeviceOnly"
        case .whenPasscodeSetThisDeviceOnly: "WhenPasscodeSetThisDeviceOnly"
        }
    }

    /// True for the four classes whose items never open on another device.
    package var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: false
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly:
            true
        }
    }

    /// True for the classes whose key is wrapped under the device key only, so that no passcode is needed.
    package var isReadableWithoutPasscode: Bool {
        self == .always || self == .alwaysThisDeviceOnly
    }
}
