/// A write to a target without transactions failed after something may have changed, which stays.
package struct BrokenOffWrite: Error {
    /// At least this many items were written or removed.
    package let written: Int
    /// Why it ended.
    package let cause: any Error

    package init(written: Int, cause: any Error) {
        self.written = written
        self.cause = cause
    }
}
