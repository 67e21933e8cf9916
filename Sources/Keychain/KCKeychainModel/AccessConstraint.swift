/// The requirement of each read of an item's secret, beyond its accessibility; the raw value is that of `accc`.
///
/// The secret is sealed to a key pair. The private half is wrapped under the passcode and is not part of a session, so
/// each command that reads the secret needs the passcode.
package enum AccessConstraint: String, CaseIterable, Hashable, Sendable {
    /// The passcode, and nothing else.
    case devicePasscode = "device-passcode"
    /// The passcode, or a security token that was enrolled for the keychain.
    case userPresence = "user-presence"
}

/// Which keys the secret of an item needs.
package struct Protection: Hashable, Sendable {
    /// Names the class key.
    package let accessibility: Accessibility
    /// Names the presence key that is needed as well; nil for none.
    package let constraint: AccessConstraint?

    /// The protection of `accessibility`, with a constraint or without.
    package init(_ accessibility: Accessibility, _ constraint: AccessConstraint? = nil) {
        self.accessibility = accessibility
        self.constraint = constraint
    }

    /// The protections without a constraint: what an unlocked keychain can read.
    package static let unconstrained = Set(Accessibility.allCases.map { Protection($0) })
}

extension Item {
    /// The protection of its secret; an item without one has nothing that a constraint could protect.
    package var protection: Protection { Protection(sealingAccessibility, secretSize == nil ? nil : constraint) }
}
