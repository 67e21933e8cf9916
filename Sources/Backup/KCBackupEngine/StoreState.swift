/// A state of a store, which a later run can compare with.
package struct StoreState {
    /// 32 bytes that are equal only if nothing of the store was changed.
    package let digest: [UInt8]
    /// True if the store is still in this state.
    package let isCurrent: () throws -> Bool

    package init(digest: [UInt8], isCurrent: @escaping () throws -> Bool) {
        self.digest = digest
        self.isCurrent = isCurrent
    }
}
