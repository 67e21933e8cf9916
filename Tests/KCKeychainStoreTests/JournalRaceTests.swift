import Foundation
import KCTestSupport
import Synchronization
import Testing

@testable import KCKeychainStore

@Suite("A journal that comes and goes")
struct JournalRaceTests {
    @Test("A journal that another process removes while it is examined is no journal of another program")
    func removedMeanwhile() throws {
        let folder = try TemporaryFolder()
        try folder.write("a.keychain", [])
        let path = KeychainPath(folder.path("a.keychain"))
        let journal = folder.path("a.keychain-journal")
        let isDone = Flag()
        let isOver = DispatchSemaphore(value: 0)
        Thread {
            while !isDone.value.load(ordering: .relaxed) {
                close(unsafe open(journal, O_CREAT | O_RDWR | O_CLOEXEC, 0o600))
                _ = unsafe unlink(journal)
            }
            isOver.signal()
        }.start()
        defer {
            isDone.value.store(true, ordering: .relaxed)
            isOver.wait()
        }
        // The system finds a name and examines its file in two steps; of so many attempts, a few fall between them.
        for _ in 0..<20_000 { try path.examine() }
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }
}
