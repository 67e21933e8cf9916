import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Concurrent calls", .waitsForPrograms)
struct ConcurrencyTests {
    @Test("Concurrent calls from ten threads lose and duplicate nothing")
    func threads() throws {
        let program = try TestClient()
        let (threads, common) = (10, 20)
        for index in 0..<common { #expect(program.add(password("doomed \(index)")) == errSecSuccess) }
        let tally = Tally<String>()
        onThreads(threads) { thread in
            for index in 0..<30 { tally.count("own: \(program.add(password("own \(thread) \(index)", "old")))") }
            for index in 0..<common { tally.count("common: \(program.add(password("common \(index)")))") }
            for index in 0..<20 {
                let secret = [kSecValueData: Data("new \(thread)".utf8)]
                tally.count("update: \(program.update(query("own \(thread) \(index)"), secret))")
            }
            for index in 20..<30 { tally.count("delete: \(program.delete(query("own \(thread) \(index)")))") }
            for index in 0..<common { tally.count("doomed: \(program.delete(query("doomed \(index)")))") }
        }
        #expect(
            tally.result == [
                "own: 0": 30 * threads, "update: 0": 20 * threads, "delete: 0": 10 * threads,
                // Only one of the threads succeeds for each of these.
                "common: 0": common, "common: \(errSecDuplicateItem)": common * (threads - 1),
                "doomed: 0": common, "doomed: \(errSecItemNotFound)": common * (threads - 1),
            ])
        for thread in 0..<threads {
            for index in 0..<20 { #expect(program.text(query("own \(thread) \(index)")) == "new \(thread)") }
        }
        #expect(program.count(generic()) == 20 * threads + common)
    }

    @Test("Waiting changes are committed together, and each returns its own status")
    func committedTogether() throws {
        let program = try TestClient()
        #expect(program.add(password("taken")) == errSecSuccess)
        let before = try program.commits()
        let answers = Tally<String>()
        let started = DispatchGroup()
        program.client.whileChangesWait {
            for number in 0..<12 {
                started.enter()
                Thread {
                    let account = number < 8 ? "free \(number)" : "taken"
                    answers.count("\(account == "taken" ? account : "free"): \(program.add(password(account)))")
                    started.leave()
                }.start()
            }
            while program.client.queuedChanges < 1 + 12 { sched_yield() }
        }
        started.wait()
        #expect(answers.result == ["free: 0": 8, "taken: \(errSecDuplicateItem)": 4])
        #expect(try program.commits() == before + 1)
        for number in 0..<8 { #expect(program.status(query("free \(number)")) == errSecSuccess) }
    }

    @Test("If nothing can be committed, every waiting change fails")
    func failTogether() throws {
        let program = try TestClient()
        let answers = Tally<OSStatus>()
        let started = DispatchGroup()
        program.client.whileChangesWait {
            for number in 0..<6 {
                started.enter()
                Thread {
                    answers.count(program.add(password("\(number)")))
                    started.leave()
                }.start()
            }
            while program.client.queuedChanges < 6 { sched_yield() }
            program.lock(.beforeFirstUnlock)
        }
        started.wait()
        #expect(answers.result == [errSecInteractionNotAllowed: 6])
        program.lock(.nobody)
        #expect(program.status(generic()) == errSecItemNotFound)
    }

    @Test("Concurrent additions and deletions of the same items add up")
    func addAndDelete() throws {
        let program = try TestClient()
        let added = Tally<OSStatus>()
        let deleted = Tally<OSStatus>()
        onThreads(8) { thread in
            for index in 0..<40 {
                // Half of the threads go in the opposite order, so that they collide.
                let account = "\(thread.isMultiple(of: 2) ? index % 5 : 4 - index % 5)"
                added.count(program.add(password(account)))
                deleted.count(program.delete(query(account)))
            }
        }
        #expect(Set(added.result.keys).isSubset(of: [errSecSuccess, errSecDuplicateItem]))
        #expect(Set(deleted.result.keys).isSubset(of: [errSecSuccess, errSecItemNotFound]))
        // Each thread deletes every account last, so nothing can be left.
        #expect(added.result[errSecSuccess] == deleted.result[errSecSuccess])
        #expect(program.status(generic()) == errSecItemNotFound)
    }

    @Test("When six processes add items concurrently, each item is added exactly once")
    func processes() throws {
        let (processes, own, common) = (6, 120, 50)
        let home = try ProgramHome()
        let outputs = try Self.race(processes, own: own, common: common, in: home)
        var added = 0
        for output in outputs {
            let lines = output.split(separator: "\n").map(String.init)
            try #require(lines.count == 2, "\(output)")
            let ofCommon = try Self.counts(lines[0])
            #expect(Set(ofCommon.keys).isSubset(of: [errSecSuccess, errSecDuplicateItem]))
            #expect(ofCommon.values.reduce(0, +) == common)
            added += ofCommon[errSecSuccess] ?? 0
            #expect(try Self.counts(lines[1]) == [errSecSuccess: own])
        }
        #expect(added == common)

        var result: AnyObject?
        let all = generic([
            kSecAttrService: "race", kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            kSecReturnData: true,
        ])
        #expect(home.client().copyMatching(all as CFDictionary, &result) == errSecSuccess)
        let found = try #require(result as? [[CFString: Any]])
        let accounts = found.compactMap { $0[kSecAttrAccount] as? String }
        let expected =
            (0..<common).map { "common \($0)" }
            + (0..<processes).flatMap { process in (0..<own).map { "own \(process) \($0)" } }
        #expect(accounts.sorted() == expected.sorted())
        for item in found {
            let account = try #require(item[kSecAttrAccount] as? String)
            let secret = try String(decoding: #require(item[kSecValueData] as? Data), as: UTF8.self)
            let owner = account.hasPrefix("own") ? account.split(separator: " ")[1] : secret.dropFirst(8)
            #expect(secret == "process \(owner)", "\(account)")
        }
    }

    /// Parses the status counts in a line such as `0=20 -25299=5`.
    private static func counts(_ line: String) throws -> [OSStatus: Int] {
        var counts: [OSStatus: Int] = [:]
        for word in line.split(separator: " ") {
            let parts = word.split(separator: "=")
            try #require(parts.count == 2)
            let status = try #require(OSStatus(parts[0]))
            let count: Int = try #require(Int(parts[1]))
            counts[status] = count
        }
        return counts
    }

    /// Starts processes at the same moment and returns what each one printed.
    private static func race(_ count: Int, own: Int, common: Int, in home: ProgramHome) throws -> [String] {
        // All processes wait for a lock, which is released after the last one has been started.
        let script = """
            exec 9>gate
            flock 9
            for number in $(seq 0 \(count - 1)); do
                flock --shared gate "$0" "$number" \(own) \(common) 9>&- >"out$number" &
            done
            flock --unlock 9
            failed=0
            for job in $(jobs -p); do wait "$job" || failed=1; done
            exit $failed
            """
        // A generous time limit, so that a hang fails instead of blocking all tests.
        let outcome = try ExternalProgram.run(
            "timeout", ["500", "bash", "-c", script, ExternalProgram.built("KCConcurrentProgram")],
            environment: home.environment, in: home.folder.path)
        #expect(outcome.status == 0)
        #expect(outcome.errorText == "")
        return try (0..<count).map { try String(decoding: home.folder.read("out\($0)"), as: UTF8.self) }
    }
}
