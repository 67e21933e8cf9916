package import KCLocalKeychains

/// Keeps the state of a store before a change, so that it can be taken back.
package protocol StateKeeping {
    /// Runs `change`, which calls `keep` once, before it changes anything.
    ///
    /// If the change fails, the state that was kept for it is removed again.
    ///
    /// - Parameters:
    ///   - command: what changes the store, for the list of states.
    ///   - isKept: false to keep nothing.
    func keeping<Result>(
        before command: KeptStates.Change, isKept: Bool,
        _ change: (_ keep: @escaping () throws -> Void) throws -> Result
    ) throws -> Result
}
