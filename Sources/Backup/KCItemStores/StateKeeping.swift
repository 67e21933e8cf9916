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

    /// The number of states that are kept of earlier changes.
    func count() throws -> Int

    /// Removes the states that were kept, since they have what must not be read there.
    ///
    /// - Returns: how many there were; a failure is a warning, as the change has been made.
    func removeAll() -> Int
}

extension StateKeeping {
    /// Removes none: the items of this store ask for nothing.
    package func removeAll() -> Int { 0 }
}
