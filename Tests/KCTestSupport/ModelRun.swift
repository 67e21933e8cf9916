/// Runs random operations on something real and on a small model of it, and shortens a run after which they differ.
package enum ModelRun {
    /// The first operation after which the two differ, and how.
    package typealias Difference = (place: Int, text: String)

    /// A run in which every operation is needed for the difference.
    package struct Failure<Operation>: CustomStringConvertible {
        /// The operations, in order.
        package let operations: [Operation]
        /// How the two differ afterwards.
        package let difference: String

        /// The operations and the difference.
        package var description: String {
            operations.map { "\($0)" }.joined(separator: "\n") + "\n" + difference
        }
    }

    /// True if `make proof` runs the models at length.
    package static let isWhole = Environment.has("MODELS", "all")

    /// Runs operations, and looks for the shortest run with a difference by leaving out more and more of them.
    ///
    /// - Parameter compare: performs operations from the start.
    /// - Returns: nil if there is no difference.
    package static func failure<Operation>(
        of operations: [Operation], _ compare: ([Operation]) throws -> Difference?
    ) rethrows -> Failure<Operation>? {
        guard var found = try compare(operations) else { return nil }
        var shortest = Array(operations.prefix(found.place + 1))
        var size = (shortest.count + 1) / 2
        while size > 0 {
            var start = 0
            while start < shortest.count {
                var shorter = shortest
                shorter.removeSubrange(start..<min(start + size, shortest.count))
                if let difference = try compare(shorter) {
                    shortest = Array(shorter.prefix(difference.place + 1))
                    found = difference
                } else {
                    start += size
                }
            }
            size = size > 1 ? (size + 1) / 2 : 0
        }
        return Failure(operations: shortest, difference: found.text)
    }
}
