internal import Synchronization

/// Files that have their final name but whose directory entry could not be synced, so that a power cut may lose them.
///
/// Removing such a file could fail as well, so the operation counts as done and the run ends with a warning.
package enum Durability {
    private static let collected = Mutex<[FileFailure]>([])

    /// Returns and clears the failures recorded since the last call.
    package static func takeDoubts() -> [FileFailure] {
        collected.withLock { doubts in
            defer { doubts = [] }
            return doubts
        }
    }

    /// Records a failure.
    package static func doubt(_ failure: FileFailure) {
        collected.withLock { doubts in
            if !doubts.contains(failure) { doubts.append(failure) }
        }
    }
}
