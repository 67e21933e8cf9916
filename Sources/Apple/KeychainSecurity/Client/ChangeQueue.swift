internal import Glibc
internal import KeychainStore
internal import Synchronization

/// The changes that threads of this process wait for.
///
/// Whichever thread has its turn commits them all in one transaction, so that with many threads nobody waits for the disk
/// more often than twice: for the commit that is under way, and for the one with its own change.
final class ChangeQueue: Sendable {
    private let waiting = Mutex<[PendingChange]>([])

    /// How many changes wait.
    var count: Int { waiting.withLock { $0.count } }

    /// Adds a change.
    func append(_ change: PendingChange) {
        waiting.withLock { $0.append(change) }
    }

    /// Takes all changes of this process; after a fork, those of the parent's threads are the parent's.
    func takeAll() -> [PendingChange] {
        let all = waiting.withLock { changes in
            defer { changes = [] }
            return changes
        }
        return all.filter(\.isOfThisProcess)
    }
}

/// A change that one thread waits for, and another one may make.
///
/// Only the thread whose turn it is touches it between its being queued and its outcome being there.
final class PendingChange: @unchecked Sendable {
    private let body: (ItemCall, KeychainWriter) throws -> Void
    private let process = getpid()
    /// Nil until it was tried; success only after the commit.
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

    /// Sets why it was not committed, unless it failed for a reason of its own.
    func fail(_ error: any Error) {
        if case .failure = outcome { return }
        outcome = .failure(error)
    }
}
