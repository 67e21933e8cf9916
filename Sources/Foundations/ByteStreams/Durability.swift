internal import Synchronization

/// What was done and may yet be lost: names that were given in a folder whose entries could not be forced to the disk.
///
/// By then the file has its name, and taking it away again could fail as well. So the work counts as done, and the
/// end of the run reports the doubt.
package enum Durability {
    private static let collected = Mutex<[FileFailure]>([])

    /// What happened since the last call.
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
