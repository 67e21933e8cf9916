import Foundation
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Reads beside changes, and changes together", .waitsForPrograms)
struct GroupCommitTests {
    /// Adds items on as many threads while another program has its turn to change the keychain.
    ///
    /// - Parameter meanwhile: called while all calls wait.
    /// - Returns: how often each status was returned.
    private func adding(
        _ accounts: [String], to program: TestClient, meanwhile: () throws -> Void = {}
    ) throws -> [OSStatus: Int] {
        let answers = Tally<OSStatus>()
        let done = DispatchGroup()
        let expected = program.client.queuedChanges + accounts.count
        try program.openStore().exclusively {
            for account in accounts {
                done.enter()
                Thread {
                    answers.count(program.add(password(account)))
                    done.leave()
                }.start()
            }
            while program.client.queuedChanges < expected { sched_yield() }
            try meanwhile()
        }
        done.wait()
        return answers.result
    }

    @Test("A read does not wait for the changes of its own process")
    func readBesideChanges() throws {
        let program = try TestClient()
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        program.client.whileChangesWait {
            #expect(program.text(query("ann")) == "1")
            #expect(program.status(query("bob")) == errSecItemNotFound)
        }
        // Nor for those of another program, until it writes the file itself.
        try program.openStore().exclusively {
            #expect(program.text(query("ann")) == "1")
        }
    }

    @Test("Every thread finds what it has added, changed and deleted")
    func ownChanges() throws {
        let program = try TestClient()
        let seen = Tally<String>()
        onThreads(8) { thread in
            for number in 0..<10 {
                let account = "\(thread) \(number)"
                seen.count("add \(program.add(password(account, "1"))) \(program.text(query(account)) ?? "none")")
                let update = program.update(query(account), [kSecValueData: Data("2".utf8)])
                seen.count("update \(update) \(program.text(query(account)) ?? "none")")
                seen.count("delete \(program.delete(query(account))) \(program.status(query(account)))")
            }
        }
        #expect(seen.result == ["add 0 1": 80, "update 0 2": 80, "delete 0 \(errSecItemNotFound)": 80])
    }

    @Test("Changes that come while another program has its turn are committed together")
    func joinedLate() throws {
        let program = try TestClient()
        #expect(program.add(password("taken")) == errSecSuccess)
        let before = try program.commits()
        let accounts = (0..<10).map { "free \($0)" } + ["taken", "taken"]
        #expect(try adding(accounts, to: program) == [errSecSuccess: 10, errSecDuplicateItem: 2])
        #expect(try program.commits() == before + 1)
        #expect(program.count(generic()) == 11)
    }

    @Test("A keychain that is locked while changes wait is locked for them")
    func lockedMeanwhile() throws {
        let program = try TestClient()
        let before = try program.commits()
        let answers = try adding(["1", "2", "3"], to: program) { program.lock(.beforeFirstUnlock) }
        #expect(answers == [errSecInteractionNotAllowed: 3])
        #expect(try program.commits() == before)
    }

    @Test("A keychain that is replaced while changes wait gets them in its new file")
    func replacedMeanwhile() throws {
        let program = try TestClient()
        #expect(program.add(password("ann", "1")) == errSecSuccess)
        let answers = try adding(["bob", "eve"], to: program) {
            // By another process, since closing the file in this one would release SQLite's locks.
            let script = "cp -p \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\""
            let outcome = try ExternalProgram.run("sh", ["-c", script, program.keychainPath])
            #expect(outcome.status == 0)
        }
        #expect(answers == [errSecSuccess: 2])
        #expect(program.count(generic()) == 3)
        #expect(try SQLiteFile(program.keychainPath).run("SELECT count(*) FROM genp") == [[.integer(3)]])
    }

    @Test("A keychain that is deleted while changes wait is missing for them, and does not come back")
    func deletedMeanwhile() throws {
        let program = try TestClient()
        let answers = try adding(["1", "2", "3"], to: program) {
            try FileManager.default.removeItem(atPath: program.keychainPath)
        }
        #expect(answers == [errSecNoDefaultKeychain: 3])
        #expect(program.status(generic()) == errSecNoDefaultKeychain)
        #expect(!FileManager.default.fileExists(atPath: program.keychainPath))
    }

    @Test("Killed processes have lost nothing that they were told was added")
    func killed() throws {
        let home = try ProgramHome()
        let script = """
            mkfifo lines
            "$0" threads 0 4 1000000 >lines & first=$!
            "$0" threads 1 4 1000000 >lines & second=$!
            {
                for ((line = 0; line < 400; line++)); do read -r told; echo "$told"; done
                kill -KILL $first $second
                cat
            } <lines
            wait
            exit 0
            """
        let told = try Self.run(script, in: home)
        #expect(told.count >= 400)
        #expect(told.allSatisfy { $0.hasSuffix(" 0") })
        try expectAll(told.map { String($0.dropLast(2)) }, in: home)
    }

    @Test("If a commit finds no room, all its changes fail and none is there")
    func noRoom() throws {
        let home = try ProgramHome()
        // Files of at most 160 KiB; without the signal, a write beyond that fails.
        let script = "trap '' XFSZ; ulimit -f 160; \"$0\" threads 0 8 200"
        let told = try Self.run(script, in: home)
        #expect(told.count == 1600)
        let added = told.filter { $0.hasSuffix(" 0") }
        #expect(added.count > 8 && added.count < 1600)
        #expect(!told.contains { $0.hasSuffix(" lost") })
        #expect(try expectAll(added.map { String($0.dropLast(2)) }, in: home) == added.count)
    }

    /// Expects that the keychain is sound and has these accounts, each of them once.
    ///
    /// - Returns: the number of items.
    @discardableResult
    private func expectAll(_ accounts: [String], in home: ProgramHome) throws -> Int {
        var result: AnyObject?
        let all = generic([kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnData: true])
        #expect(home.client().copyMatching(all as CFDictionary, &result) == errSecSuccess)
        let found = try #require(result as? [[CFString: Any]]).compactMap { $0[kSecAttrAccount] as? String }
        #expect(Set(found).count == found.count)
        #expect(Set(accounts).count == accounts.count)
        #expect(Set(accounts).subtracting(found) == [])
        #expect(try SQLiteFile(home.keychainPath).run("PRAGMA integrity_check") == [[.text("ok")]])
        return found.count
    }

    /// Runs a script with `KCConcurrentProgram` as `$0`; the lines that it prints.
    private static func run(_ script: String, in home: ProgramHome) throws -> [String] {
        let outcome = try ExternalProgram.run(
            "timeout", ["500", "bash", "-c", script, ExternalProgram.built("KCConcurrentProgram")],
            environment: home.environment, in: home.folder.path)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return outcome.text.split(separator: "\n").map(String.init)
    }
}
