/// Whether an item may pass from one kind of place to another on this device.
///
/// A `Verdict` says what an archive gives to which device; its keys enforce that. Between places of one device no key
/// can enforce a rule, because the device can open the item. The table in `decide` is the rule, and every way in and out
/// asks it: restore, import, create, export, `security export`.
package enum Passage: Hashable, Sendable {
    case moves
    /// The target cannot bind it to this device: only with the user's consent to give that up.
    case givesUpBinding
    case stays(Reason)

    /// Where an item comes from.
    package enum Source: String, CaseIterable, Hashable, Sendable {
        /// A keychain of this device, or an archive of one.
        case keychain
        /// The keyring of the desktop, or an archive of it. A keyring has only a mark on items that are bound to this
        /// device.
        case desktopKeyring
        /// Items that were written down for kcbackup, where the accessibility is an instruction for new items.
        case itemList
        /// A file of another program, which does not say which device its items are bound to.
        case foreignFile
    }

    /// Where an item goes.
    package enum Target: String, CaseIterable, Hashable, Sendable {
        /// A keychain, which seals items under keys of this device.
        case keychain
        /// An archive, which seals items that are bound to this device under its key.
        case archive
        /// A state that is kept for undo, which seals items as an archive does and never leaves this device.
        case keptState
        /// The keyring of the desktop, which is not bound to this device.
        case desktopKeyring
        /// A file for another program, or a listing in the clear.
        case export
    }

    /// Why an item does not move, whatever the user says.
    package enum Reason: CaseIterable, Hashable, Sendable {
        /// A ThisDeviceOnly item, which is in no export.
        case thisDeviceOnly
        /// A WhenPasscodeSetThisDeviceOnly item.
        case passcodeBound
        /// A ThisDeviceOnly item of a file that may come from another device.
        case boundElsewhere
        /// An item with a constraint, and a target that cannot ask for anything when it is read.
        case asksForPasscode

        /// The reason, to follow "stays behind: ".
        package var words: String {
            switch self {
            case .thisDeviceOnly: "ThisDeviceOnly: never leaves its device"
            case .passcodeBound: "WhenPasscodeSetThisDeviceOnly: never leaves its keychain"
            case .boundElsewhere: "ThisDeviceOnly: it is bound to the device that the file comes from"
            case .asksForPasscode: "it asks for the passcode each time, which the keyring of the desktop cannot do"
            }
        }

        /// The stable name in JSON.
        package var name: String {
            switch self {
            case .thisDeviceOnly: "this-device-only"
            case .passcodeBound: "passcode-bound"
            case .boundElsewhere: "bound-elsewhere"
            case .asksForPasscode: "asks-for-passcode"
            }
        }
    }

    /// Decides by the rules of docs/threat-model.md ("Items that are bound to this device"); a pure function.
    ///
    /// An item with a constraint goes nowhere where it would be without.
    ///
    /// An export is made by someone who gave the passcode for it.
    package static func decide(_ item: Item, from source: Source, to target: Target) -> Passage {
        if item.constraint != nil, target == .desktopKeyring { return .stays(.asksForPasscode) }
        return switch (Travel(item.accessibility), source, target) {
        case (.anyDevice, _, _): .moves

        case (.thisDevice, .foreignFile, _): .stays(.boundElsewhere)
        case (.thisDevice, _, .export): .stays(.thisDeviceOnly)
        case (.thisDevice, .desktopKeyring, .desktopKeyring): .moves
        case (.thisDevice, .keychain, .desktopKeyring), (.thisDevice, .itemList, .desktopKeyring): .givesUpBinding
        case (.thisDevice, _, .keychain), (.thisDevice, _, .archive), (.thisDevice, _, .keptState): .moves

        // A change of the keyring, or its undo, which only puts back what was there.
        case (.nowhere, .desktopKeyring, .keptState), (.nowhere, .desktopKeyring, .desktopKeyring): .moves
        // A new item, which is bound from now on.
        case (.nowhere, .itemList, .keychain): .moves
        case (.nowhere, _, _): .stays(.passcodeBound)
        }
    }
}
