/// A hint about a failure, with the means that it takes, so that a run which lacks them can leave the hint out.
package struct Remedy: Hashable, Sendable {
    /// The means that a remedy takes.
    package enum Means: Hashable, Sendable {
        /// The passcode of a keychain, or the password of the desktop keyring, given with the command.
        case passcode
        /// Somebody at the desktop, who answers its prompt.
        case desktopPrompt
        /// Nothing that a run decides by.
        case other
    }

    package let means: Means
    /// The hint: in lower case, without a period.
    package let text: String

    private init(_ means: Means, _ text: String) {
        self.means = means
        self.text = text
    }

    package init(_ text: String) { self.init(.other, text) }

    package static func passcode(_ text: String) -> Remedy { Remedy(.passcode, text) }

    /// A remedy that gives the source of a secret with an option.
    package static func source(_ option: OptionName, _ text: String) -> Remedy {
        Remedy(option == .passcode ? .passcode : .other, text)
    }

    package static func desktopPrompt(_ text: String) -> Remedy { Remedy(.desktopPrompt, text) }
}
