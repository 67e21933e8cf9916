package import KCKeychainModel

/// Receives what happens while a restore plans and writes.
///
/// The calls are meaningful only if the restore returns.
package struct RestoreObserver {
    /// Called for each item during planning, and again during writing.
    package var step: () -> Void
    /// Called during planning with each item and the decision about it, in archive order, and last with those that depend
    /// on others; for `keep`, with the keychain's own version.
    package var observe: (Item, RestoreAction) throws -> Void
    /// Called when the plan is complete, before anything is written: whatever a report needs that can fail belongs here.
    package var planned: () throws -> Void = {}

    package init(
        step: @escaping () -> Void = {}, observe: @escaping (Item, RestoreAction) throws -> Void = { _, _ in }
    ) {
        self.step = step
        self.observe = observe
    }

    /// The same, which also passes each decision to `body` first.
    package func observing(_ body: @escaping (Item, RestoreAction) throws -> Void) -> RestoreObserver {
        var observer = self
        observer.observe = { [observe] item, action in
            try body(item, action)
            try observe(item, action)
        }
        return observer
    }
}
