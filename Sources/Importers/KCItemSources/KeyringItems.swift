internal import KCByteStreams
package import KCKeychainModel

/// The items of a keyring that open files of other programs.
package enum KeyringItems: Hashable, Sendable {
    /// The items whose labels end with this text.
    case labeled(ending: String)
    /// The items that the portal of the desktop keeps for the app with this ID; nil for any app.
    case ofApp(String?)

    /// The end of the labels of the items that hold the keys of browsers made from Chromium.
    package static let browserEnding = "Safe Storage"

    // Of xdg-desktop-portal's back ends; those of GNOME Keyring and oo7 keep it under this name.
    private static let appAttribute = "app_id"

    /// True for an item that is one of these, and has a secret.
    package func includes(_ item: Item) -> Bool {
        if item.secretSize == nil { return false }
        switch self {
        case .labeled(let ending): return item.attributes.text(.labl)?.exact.hasSuffix(ending) == true
        case .ofApp(let app):
            guard let found = Self.app(of: item) else { return false }
            return app == nil || found.exact == app?.exact
        }
    }

    /// The ID of the app for which the portal keeps an item; nil if it is none of the portal's.
    package static func app(of item: Item) -> String? {
        item.extra.first { $0.name.exact == appAttribute.exact }?.value
    }
}
