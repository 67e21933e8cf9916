package import KCHomeFiles
package import KCKeychainModel

/// What bringing a state back does, before it is done.
package struct UndoPlan {
    /// The state that is brought back.
    package let state: KeptState
    /// True if commands are taken back that came after a later state.
    package let isOlder: Bool
    package let effect: Effect
    /// The number of items after it.
    package let itemsAfter: Int
    let check: (_ keepsState: Bool) throws -> Void
    let write: (_ keepsState: Bool) throws -> String?

    package enum Effect {
        case changes(UndoneChanges)
        /// The state replaces a store that does not open, for this reason.
        case repair(of: any Error)
    }

    /// Checks that the state could be brought back, as far as that can be known without doing it.
    ///
    /// - Throws: as `apply`, for what may not be written.
    package func rehearse(keepsState: Bool) throws { try check(keepsState) }

    /// Brings the state back, if the store is still as it was planned for.
    ///
    /// - Parameter keepsState: false to keep no state of what is replaced.
    /// - Returns: where the file is that did not open; nil if there was none.
    package func apply(keepsState: Bool) throws -> String? { try write(keepsState) }
}

/// The items that bringing a state back removes, changes or brings back.
package struct UndoneChanges {
    /// The number of items before it.
    package var itemsBefore = 0
    /// The items that the state does not have.
    package var vanishing: [Item] = []
    /// The items that differ in the state.
    package var changing: [Item] = []
    /// The items that only the state has.
    package var returning: [Item] = []
    /// The files of a home that stay as they are.
    package var blocked: [Blocked] = []
    /// The number of empty folders of a home that go, if no file does.
    package var emptyFolders = 0
    /// True if an earlier undo, or the user, has taken back all that there was.
    package var isFinished = false
    /// Those of `vanishing` and `changing` that the undone command did not write, or that were changed again; nil if that
    /// is unknown.
    package var since: Since?

    /// A file that cannot be taken back.
    package struct Blocked {
        /// Foreign text.
        package let path: String
        /// What keeps it; nil if something else is in its place, or on the way there.
        package let problem: HomeFile.Failure?
    }

    package struct Since {
        /// Those of `vanishing` that the undone command did not write.
        package var added: [Item]
        /// Those of `changing` that were changed again.
        package var changed: [Item]
        /// Those of `vanishing` that were changed again.
        package var rewritten: [Item] = []
    }

    /// The items that go although the undone command did not write them, as far as that is known.
    package var addedSince: [Item] { since?.added ?? vanishing }

    /// The items that are set back although the undone command did not write them, as far as that is known.
    package var changedSince: [Item] { since?.changed ?? changing }

    /// The items that go although they were changed after the undone command wrote them, as far as that is known.
    package var rewrittenSince: [Item] { since?.rewritten ?? [] }
}
