package import KCHomeFiles
package import KCItemSources
internal import KCKeychainModel

/// The plan for bringing a state back.
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
    /// The items that the state does not have, each with the number of its `Since`.
    package private(set) var vanishing = ListedItems.none
    /// The items that differ in the state, each with the number of its `Since`.
    package private(set) var changing = ListedItems.none
    /// The items that only the state has.
    package private(set) var returning = ListedItems.none
    /// The files of a home that stay as they are.
    package var blocked: [Blocked] = []
    /// The number of empty folders of a home that go, if no file does.
    package var emptyFolders = 0
    /// True if an earlier undo, or the user, has taken back all that there was.
    package var isFinished = false
    /// How many of `vanishing` and `changing` the undone command did not write, or were changed again; nil if that is
    /// unknown.
    package private(set) var since: Counts?

    /// A file that cannot be taken back.
    package struct Blocked {
        /// Foreign text.
        package let path: String
        /// The failure that keeps it; nil if something else is in its place, or on the way there.
        package let problem: HomeFile.Failure?
    }

    /// The history of an item after the undone command, as far as it is known.
    package enum Since: Int {
        /// The command did not write it.
        case added = 1
        /// The item was changed again.
        case changed
        /// The item goes, and was changed again.
        case rewritten
    }

    package struct Counts {
        package fileprivate(set) var added = 0
        package fileprivate(set) var changed = 0
        package fileprivate(set) var rewritten = 0
    }

    /// The number of items that go although the undone command did not write them, as far as that is known.
    package var addedSince: Int { since?.added ?? vanishing.count }

    /// The number of items that are set back although the undone command did not write them, as far as that is known.
    package var changedSince: Int { since?.changed ?? changing.count }

    /// The number of items that go although they were changed after the undone command wrote them, as far as that is known.
    package var rewrittenSince: Int { since?.rewritten ?? 0 }

    /// Collects the items.
    final class Log {
        private let vanishing: ItemLog
        private let changing: ItemLog
        private let returning: ItemLog
        private var since: Counts?

        /// - Parameters:
        ///   - folder: where items wait that are too many or too large for the memory.
        ///   - knowsSince: true if it is known what the undone command did not write.
        init(spoolingIn folder: String, knowsSince: Bool) {
            vanishing = ItemLog(spoolingIn: folder)
            changing = ItemLog(spoolingIn: folder)
            returning = ItemLog(spoolingIn: folder)
            since = knowsSince ? Counts() : nil
        }

        func remove(_ item: Item, _ since: Since? = nil) throws {
            try vanishing.add(item, number: since?.rawValue ?? 0)
            count(since)
        }

        func change(_ item: Item, _ since: Since? = nil) throws {
            try changing.add(item, number: since?.rawValue ?? 0)
            count(since)
        }

        func bringBack(_ item: Item) throws { try returning.add(item) }

        private func count(_ since: Since?) {
            switch since {
            case .added: self.since?.added += 1
            case .changed: self.since?.changed += 1
            case .rewritten: self.since?.rewritten += 1
            case nil: break
            }
        }

        /// Adds what was collected to the changes.
        func finish(_ changes: inout UndoneChanges) throws {
            changes.vanishing = try vanishing.finish()
            changes.changing = try changing.finish()
            changes.returning = try returning.finish()
            changes.since = since
        }
    }
}
