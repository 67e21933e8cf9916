package import KCBackupEngine
package import KCKeychainModel

/// Where a store of items is, or will be: what archives are restored into, and where changes are taken back.
///
/// Unlike an `ItemStore`, it need not exist, and need not open: undo mends a damaged file.
///
/// ```swift
/// let plan = try store.planUndo(to: nil)
/// print(plan.state.name, plan.itemsAfter)
/// _ = try plan.apply(keepsState: true)
/// ```
package protocol RestorableStore {
    /// Returns the store that a restore of `source` makes; nil if the store is there, or judges itself what it can
    /// make.
    func newStore(for source: RestoreSource) throws -> NewStore?

    /// Restores an archive, after keeping the state, or rehearses that.
    ///
    /// A rehearsal, and then the restore itself, ask for each secret once. A store that does not exist is made only if
    /// something is written to it; see `RestoreReport.makesKeychain`.
    ///
    /// - Throws: `StateFailure.notKept`, the errors of opening the store, and what `Bring` throws.
    func restore(_ request: RestoreRequest, _ observer: RestoreObserver) throws -> RestoreReport

    /// Returns the parts of a restored item that the store does not hold; nil if it holds all items as they are.
    func loss(of item: Item) -> ItemLoss?

    /// Lists the states that are kept, also if the store itself does not open.
    func states() throws -> StateList

    /// Finds what bringing a state back changes.
    ///
    /// - Parameter name: the name of a state; nil for the newest one that differs from the present one.
    /// - Throws: `StateFailure`, and the errors of opening the store.
    func planUndo(to name: String?) throws -> UndoPlan

    /// Finds a state that can replace a store that does not open.
    ///
    /// - Parameters:
    ///   - error: why the store could not be opened or read.
    ///   - name: the name of a state; nil for the newest one.
    /// - Returns: nil if no state can mend that, or if none is kept.
    /// - Throws: `StateFailure`.
    func planRepair(after error: any Error, to name: String?) throws -> UndoPlan?
}
