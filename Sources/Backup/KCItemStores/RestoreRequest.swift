package import KCBackupEngine
package import KCKeychainModel
package import KCLocalKeychains

/// The items to restore into a store, and how.
package struct RestoreRequest {
    let source: RestoreSource
    package var options: RestoreOptions
    let keepsState: Bool
    /// The change that the user makes, for the list of states.
    package var change: KeptStates.Change = .restore
    let openArchive: (_ isNeeded: Bool) throws -> Void

    /// - Parameters:
    ///   - keepsState: false to keep no state before the restore.
    ///   - openArchive: opens the secrets of an unencrypted archive with the passcode that its keychain had, for which the
    ///     user may be asked if that is needed.
    package init(
        _ source: RestoreSource, _ options: RestoreOptions, keepsState: Bool,
        openArchive: @escaping (_ isNeeded: Bool) throws -> Void = { _ in }
    ) {
        self.source = source
        self.options = options
        self.keepsState = keepsState
        self.openArchive = openArchive
    }

    /// The same as a dry run.
    package var rehearsal: RestoreRequest {
        var rehearsal = self
        rehearsal.options.isDryRun = true
        return rehearsal
    }
}

/// A store that a restore makes.
package struct NewStore: Hashable, Sendable {
    /// True if the user is asked for its passcode.
    package let needsPasscode: Bool
}

/// The parts of an item that a store does not hold.
package struct ItemLoss: Hashable, Sendable {
    package let attributes: [AttributeCode]
    /// Names of attributes that have no code.
    package let extra: [String]
    /// True if the item has no secret, and the store gives it an empty one.
    package let hasSecretMade: Bool
}
