internal import Glibc
internal import KCKeychainStore
internal import Synchronization

/// The pending changes of this process's threads.
///
/// The thread whose turn it is commits all of them in one transaction. A thread therefore waits for at most two
/// commits: the one in progress, and the one that contains its own change.
final class ChangeQueue: Sendable {
    private let waiting = Mutex<(changes: [PendingChange], total: Int)>(([], 0))

    /// How many changes were ever queued.
    var total: Int { waiting.withLock { $0.total } }

    func append(_ change: PendingChange) {
        waiting.withLock { waiting in
            waiting.changes.append(change)
            waiting.total += 1
        }
    }

    /// Removes and returns all changes queued by this process.
    ///
    /// After a fork, changes queued by the parent's threads are dropped, because the parent commits them.
    func takeAll() -> [PendingChange] {
        let all = waiting.withLock { waiting in
            defer { waiting.changes = [] }
            return waiting.changes
        }
        return all.filter(\.isOfThisProcess)
    }
}

/// A change that one thread waits for and another thread may carry out.
///
/// From when it is queued until it has an outcome, only the thread whose turn it is may access it.
final class PendingChange: @unchecked Sendable {
    private let body: (ItemCall, KeychainWriter) throws -> Void
    private let process = getpid()
    /// Nil until the change has been tried; a success only after the commit.
    private(set) var outcome: Result<Void, any Error>?

    /// - Parameter body: called at most once, while the thread that queued it waits.
    init(_ body: @escaping (ItemCall, KeychainWriter) throws -> Void) {
        self.body = body
    }

    fileprivate var isOfThisProcess: Bool { process == getpid() }

    /// Tries the change as part of a batch.
    func run(_ call: ItemCall, in batch: KeychainBatch) {
        do {
            outcome = .success(try batch.change { writer in try body(call, writer) })
        } catch {
            outcome = .failure(error)
        }
    }

    /// Records why the batch was not committed, unless the change already failed on its own.
    func fail(_ error: any Error) {
        if case .failure = outcome { return }
        outcome = .failure(error)
    }
}
