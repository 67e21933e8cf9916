import Foundation
import KCByteStreams
import KCTestSupport
import Synchronization
import Testing

@testable import KCRemotes

/// Machines that write different files under one name, to a remote that replaces a file when another one is renamed.
@Suite("Copies of several machines under one name", .waitsForPrograms)
struct RemoteRaceTests {
    private let local: TemporaryFolder
    private let paths: [String]

    init() throws {
        local = try TemporaryFolder()
        let local = local
        paths = try (0..<3).map { number in
            try FileManager.default.createDirectory(atPath: local.path("\(number)"), withIntermediateDirectories: true)
            return try local.write("\(number)/a.kcb", [UInt8](repeating: UInt8(number), count: 10))
        }
    }

    @Test("One wins, whatever the order of their calls, and what it wrote stays", arguments: 0..<8)
    func onlyOneWins(group: UInt64) throws {
        for seed in (group * 25)..<(group * 25 + 25) {
            let turns = Turns(seed: seed, count: paths.count)
            let outcomes = turns.run(paths, isCrashing: false)
            let winners = outcomes.indices.filter { outcomes[$0] == "copied" }
            #expect(winners.count == 1 && outcomes.filter { $0 == "exists" }.count == 2, "\(seed): \(outcomes)")
            #expect(
                turns.files == ["backups/a.kcb": [UInt8](repeating: UInt8(winners.first ?? 9), count: 10)], "\(seed)")
            #expect(turns.violations.isEmpty, "\(seed)")
        }
    }

    @Test("On a host of OpenSSH too, of four writers one wins, and killed ones leave nothing that stays")
    func hosts() throws {
        for seed in 3_000..<3_040 as Range<UInt64> {
            let isCrashing = seed % 2 == 1
            let turns = Turns(seed: seed, count: paths.count, isHost: true)
            let outcomes = turns.run(paths, isCrashing: isCrashing)
            if !isCrashing {
                #expect(outcomes.sorted() == ["copied", "exists", "exists"], "\(seed): \(outcomes)")
                #expect(turns.files.count == 1, "\(seed)")
            }
            for _ in 0..<2 { for path in paths { _ = turns.put(path) } }
            #expect(turns.files.count == 1 && turns.files["backups/a.kcb"]?.count == 10, "\(seed): \(turns.files.keys)")
            #expect(turns.violations.isEmpty, "\(seed)")
        }
    }

    @Test("Of two runs with one file, none spoils what the other writes, and a later one finds it complete")
    func twins() throws {
        for seed in 2_000..<2_050 as Range<UInt64> {
            let turns = Turns(seed: seed, count: 2)
            let outcomes = turns.run([paths[1], paths[1]], isCrashing: seed % 2 == 0)
            if seed % 2 == 1 { #expect(outcomes.contains("copied"), "\(seed): \(outcomes)") }
            // A run that waits in vain says so; none takes the other for a conflict.
            let isKnown = outcomes.allSatisfy { $0 == "copied" || $0 == "present" || $0.hasPrefix("busy") }
            if seed % 2 == 1 { #expect(isKnown, "\(seed): \(outcomes)") }
            #expect(["copied", "present"].contains(turns.put(paths[1])), "\(seed): \(outcomes)")
            #expect(turns.files == ["backups/a.kcb": [UInt8](repeating: 1, count: 10)], "\(seed)")
            #expect(turns.violations.isEmpty && turns.writers == 1, "\(seed)")
        }
    }

    @Test("If some are killed at any call, no complete file changes, and later runs end with one and nothing else")
    func killed() throws {
        for seed in 1_000..<1_100 as Range<UInt64> {
            let turns = Turns(seed: seed, count: paths.count)
            _ = turns.run(paths, isCrashing: true)
            var outcomes: [String] = []
            // A part of one that was killed stops others until their own names come first, or it is run again.
            for _ in 0..<2 { outcomes = paths.map { turns.put($0) } }
            #expect(turns.files.count == 1 && turns.files["backups/a.kcb"]?.count == 10, "\(seed): \(turns.files.keys)")
            #expect(outcomes.filter { $0 == "present" }.count == 1, "\(seed): \(outcomes)")
            #expect(turns.violations.isEmpty, "\(seed)")
        }
    }
}

/// Lets several threads call one remote by turns, in an order that a seed decides.
private final class Turns: Sendable {
    private struct Killed: Error {}

    private struct State {
        let remote = FakeRemote()
        var random: SeededRandom
        /// The threads that wait for their turns.
        var waiting: Set<Int> = []
        var turn: Int?
        var running: Int
    }

    private let state: Mutex<State>
    private let isHost: Bool
    private let changes = NSCondition()

    init(seed: UInt64, count: Int, isHost: Bool = false) {
        self.isHost = isHost
        state = Mutex(State(random: SeededRandom(seed: seed), running: count))
    }

    var files: [String: [UInt8]] { state.withLock { $0.remote.files } }
    var violations: [String] { state.withLock { $0.remote.violations } }
    /// How many uploads had one name, at most.
    var writers: Int { state.withLock { $0.remote.uploads.values.max() ?? 0 } }

    /// Copies all files at the same time, and returns the outcome for each.
    func run(_ paths: [String], isCrashing: Bool) -> [String] {
        let outcomes = Mutex([String](repeating: "", count: paths.count))
        onThreads(paths.count) { number in
            let outcome = self.put(paths[number]) { try self.awaitTurn(number, isCrashing) }
            outcomes.withLock { $0[number] = outcome }
            self.change { state in
                state.running -= 1
                if state.turn == number { state.turn = nil }
            }
        }
        return outcomes.withLock { $0 }
    }

    /// Copies a file, and returns the outcome; `wait` is called before each call of rclone.
    func put(_ path: String, _ wait: @escaping () throws -> Void = {}) -> String {
        do {
            let rclone = Rclone(environment: [:]) { arguments, receive in
                try wait()
                // The received span may not leave the lock, and is short.
                var pieces: [UInt8] = []
                let ending = try self.state.withLock { state in
                    try state.remote.answer(arguments) { piece in pieces += piece.indices.map { piece[$0] } }
                }
                try receive(pieces.span)
                return ending
            }
            let folder = Path.split(path).folder
            let sftp = Sftp(temporaryFolder: folder) { arguments, input, receive in
                try wait()
                var pieces: [UInt8] = []
                let ending = try self.state.withLock { state in
                    try state.remote.answer(arguments, input) { piece in pieces += piece.indices.map { piece[$0] } }
                }
                try receive(pieces.span)
                return ending
            }
            let mover: any RemoteMover = isHost ? sftp : rclone
            let place = try #require(RemoteLocation(isHost ? "sftp:nas:backups" : "nas:backups"))
            return "\(try RemoteFolder(place, mover).put(OpenFile.reading(path)))"
        } catch RemoteFailure.exists {
            return "exists"
        } catch {
            return "\(error)"
        }
    }

    private func change(_ body: (inout State) -> Void) {
        changes.lock()
        state.withLock { state in
            body(&state)
            // When nobody is between two calls, one of those that wait goes on.
            if state.turn == nil, state.waiting.count == state.running {
                state.turn = state.waiting.sorted().randomElement(using: &state.random)
            }
        }
        changes.broadcast()
        changes.unlock()
    }

    private func awaitTurn(_ number: Int, _ isCrashing: Bool) throws {
        change { state in
            state.waiting.insert(number)
            if state.turn == number { state.turn = nil }
        }
        changes.lock()
        while state.withLock({ $0.turn != number }) { changes.wait() }
        let isKilled = state.withLock { state in
            state.waiting.remove(number)
            return isCrashing && Int.random(in: 0..<12, using: &state.random) == 0
        }
        changes.unlock()
        if isKilled { throw Killed() }
    }
}
