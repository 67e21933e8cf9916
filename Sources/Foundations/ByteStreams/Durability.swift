internal import Synchronization

/// Files that were named but whose directory entry could not be synced to disk, so that a power cut may lose them.
///
/// By then the file has its name, and removing it could fail as well. So the operation counts as done, and the run ends
/// with a warning.
package enum Durability {
    private static let collected = Mutex<[FileFailure]>([])

    /// The failures since the last call.
    package static func takeDoubts() -> [FileFailure] {
        collected.withLock { doubts in
            defer { doubts = [] }
            return doubts
        }
    }

    static func doubt(_ failure: FileFailure) {
        collected.withLock { doubts in
            if !doubts.contains(failure) { doubts.append(failure) }
        }
    }
}
