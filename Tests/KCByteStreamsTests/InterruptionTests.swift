import Foundation
import KCByteStreams
import KCTestSupport
import Testing

/// Each test runs in its own process because a signal affects the whole process.
@Suite("Interruption")
struct InterruptionTests {
    @Test("A caught signal is recorded and does not end the process", arguments: [SIGINT, SIGTERM])
    func catches(signal: Int32) async {
        await #expect(processExitsWith: .success) { [signal] in
            unblock(signal)
            Interruption.catchSignals()
            let before = Interruption.isRequested
            raise(signal)
            exit(!before && Interruption.isRequested && Interruption.signal == signal ? 0 : 1)
        }
    }

    @Test("After a signal, reading and writing files fails as interrupted")
    func stopsFiles() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let unnamed = try UnnamedFile(inFolder: folder.path)
            try unnamed.file.write([1].span)
            Interruption.request(SIGTERM)
            #expect(throws: StreamFailure(.writing, .interrupted)) { try unnamed.file.write([2].span) }
            #expect(throws: StreamFailure(.reading, .interrupted)) {
                try drain(FileSlice(unnamed.file, offset: 0, length: 1))
            }
            Interruption.request(0)
            #expect(try drain(FileSlice(unnamed.file, offset: 0, length: 1)) == [1])
        }
    }

    @Test("Withheld work reads and writes files although a signal has arrived, and nothing does after it")
    func withheld() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            Interruption.request(SIGTERM)
            let path = folder.path("record")
            try Interruption.withheld {
                try PrivateFile.replace(path, [1].span)
                #expect(!Interruption.isRequested)
            }
            #expect(Interruption.isRequested && Interruption.signal == SIGTERM)
            #expect(throws: FileFailure.self) { try PrivateFile.replace(path, [2].span) }
            #expect(try Interruption.withheld { try PrivateFile.read(path).bytesForTest() } == [1])
        }
    }

    @Test("The first signal during work that says how a run ended is spared, and counts if the work fails")
    func spared() async {
        await #expect(processExitsWith: .success) {
            unblock(SIGTERM)
            Interruption.catchSignals()
            Interruption.afterwards(sparingFirst: true) {
                raise(SIGTERM)
                #expect(!Interruption.isRequested)
            }
            #expect(!Interruption.isRequested)
            Interruption.afterwards(sparingFirst: true) {
                raise(SIGTERM)
                #expect(Interruption.admit() && Interruption.isRequested)
            }
            #expect(Interruption.signal == SIGTERM)
            Interruption.request(0)
            Interruption.afterwards(sparingFirst: true) {
                raise(SIGTERM)
                raise(SIGTERM)
                #expect(Interruption.isRequested)
            }
            #expect(Interruption.isRequested)
            Interruption.request(0)
            Interruption.request(SIGTERM)
            Interruption.afterwards(sparingFirst: true) { #expect(!Interruption.admit()) }
            #expect(Interruption.signal == SIGTERM)
        }
    }

    @Test("A signal interrupts a blocked write")
    func cutsWaitingShort() async {
        await #expect(processExitsWith: .success) {
            Interruption.catchSignals()
            unblock(SIGINT)
            // A write to a full pipe blocks until the other thread's signal interrupts it.
            var ends: [Int32] = [0, 0]
            guard unsafe pipe(&ends) == 0 else { exit(2) }
            let target = OpenFile(owning: ends[1], path: "pipe")
            let writer = pthread_self()
            let other = Thread {
                // Repeats until the process exits, because a signal that arrives just before the write does not
                // interrupt it.
                while true {
                    pthread_kill(writer, SIGINT)
                    sched_yield()
                }
            }
            other.start()
            let failure = #expect(throws: StreamFailure.self) {
                let block = [UInt8](repeating: 0, count: 1 << 20)
                try target.write(block.span)
            }
            #expect(failure?.kind == .interrupted)
        }
    }
}

/// Unblocks `signal` in this thread.
///
/// Threads of a pool block it, but the main thread of the program does not.
private func unblock(_ signal: Int32) {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
}
