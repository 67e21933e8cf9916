import Foundation
import KCTerminal
import KCTestSupport
import Synchronization
import Testing

@testable import kcbackup

@Suite("Progress")
struct ProgressTests {
    private let home: TestHome
    private static let erasing = "\r\u{1b}[2K"

    init() throws {
        home = try TestHome()
    }

    /// The texts that are drawn if progress is reported at these times.
    private func drawn(
        _ looks: [(milliseconds: Int, done: UInt64)], of total: UInt64?, width: Int? = 80, showsMessages: Bool = true,
        style: OutputStyle = OutputStyle()
    ) -> [String] {
        let messages = CollectedOutput()
        var world = home.world(ScriptedTerminal(showsMessages: showsMessages, width: width))
        world.messages = messages
        let time = Mutex(Duration.zero)
        world.stopwatch = { time.withLock { $0 } }
        let done = Mutex<UInt64>(1_000)
        do {
            let session = Session(world, style)
            let progress = Progress("importing items", of: total, in: session) { done.withLock { $0 } }
            progress.step()
            for look in looks {
                time.withLock { $0 = .milliseconds(look.milliseconds) }
                done.withLock { $0 = 1_000 + look.done }
                progress.step()
            }
        }
        return Array(messages.text.components(separatedBy: Self.erasing).dropFirst())
    }

    @Test("Work of less than a second shows no progress; longer work shows it and erases it at the end")
    func patience() {
        #expect(drawn([(0, 0), (999, 90)], of: 100) == [])
        #expect(drawn([(1_000, 25)], of: 100) == ["importing items: 25%, 4 s left", ""])
        #expect(drawn([(60_000, 10)], of: 100) == ["importing items: 10%, 10 min left", ""])
        #expect(drawn([(1_000, 0)], of: 100) == ["importing items: 0%", ""])
        // More was read than expected.
        #expect(
            drawn([(1_000, 100), (1_100, 130)], of: 100) == ["importing items: 100%", "importing items: 100%", ""])
    }

    @Test("If the total is unknown, the steps are counted")
    func unknownTotal() {
        #expect(drawn([(0, 5), (1_000, 70)], of: nil) == ["importing items: 3", ""])
        #expect(drawn([(1_000, 0)], of: 0) == ["importing items: 2", ""])
    }

    @Test("There are at most ten updates a second, and the line never fills the terminal")
    func updates() {
        let looks = (0..<3_000).map { (milliseconds: $0, done: UInt64($0)) }
        #expect(drawn(looks, of: 3_000).count == 21)
        #expect(drawn([(1_000, 25)], of: 100, width: 20) == ["importing items: 25", ""])
        #expect(drawn([(1_000, 25)], of: 100, width: nil) == ["importing items: 25%, 4 s left", ""])
        #expect(drawn([(1_000, 25)], of: 100, width: 1) == ["i", ""])
    }

    @Test("No progress is shown without a terminal, with --quiet or with --json")
    func unwatched() {
        #expect(drawn([(1_000, 25)], of: 100, showsMessages: false) == [])
        #expect(drawn([(1_000, 25)], of: 100, style: OutputStyle(isQuiet: true)) == [])
        #expect(drawn([(1_000, 25)], of: 100, style: OutputStyle(isJSON: true)) == [])
    }

    /// Runs a command on a terminal of 40 columns, with a clock that advances by 0.4 seconds at each reading; `lines`
    /// is what the screen showed, and a line that follows an erased one begins with "~".
    private func run(_ line: String, showsMessages: Bool = true) -> (
        status: KCTerminal.ExitStatus, lines: [String], text: String
    ) {
        let looks = Mutex(0)
        let outcome = TestHome.Outcome(at: ScriptedTerminal(showsMessages: showsMessages, width: 40)) {
            output, messages in
            var world = home.world(ScriptedTerminal(showsMessages: showsMessages, width: 40))
            world.output = output
            world.messages = messages
            world.stopwatch = {
                looks.withLock { looks in
                    looks += 1
                    return .milliseconds(400 * looks)
                }
            }
            return CommandLineTool.program.run(line.split(separator: " ").map(String.init), in: world)
        }
        let lines = outcome.messages.replacing(Self.erasing, with: "\n~").split(separator: "\n").map(String.init)
        return (outcome.status, lines, outcome.messages)
    }

    @Test("All long work shows its progress in one line of 40 columns, and erases it at the end")
    func commands() throws {
        // Incompressible secrets, so that the archive is read in more than one piece.
        var random = SeededRandom(seed: 9)
        let lines = (0..<300).map {
            let secret = Data(random.bytes(2_000)).base64EncodedString()
            return #"{"class":"genp","attributes":{"svce":"service \#($0)"},"secret":"\#(secret)"}"#
        }
        try home.write("items.jsonl", lines.joined(separator: "\n"))
        try home.write("passcode", "orbit lantern velvet\n")
        #expect(home.run("keygen -o key.txt").status == .ok)
        let recipient = try #require(
            String(decoding: home.folder.read("work/key.txt"), as: UTF8.self).firstMatch(of: /age1\w+/)
        ).output
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("keychain create other --no-passcode").status == .ok)
        let commands = [
            ("import items.jsonl", "importing items"), ("create a.kcb -r \(recipient)", "archiving items"),
            ("create b.kcb --unencrypted", "archiving items"), ("verify a.kcb -i key.txt", "verifying items"),
            ("create c.kcb --keychain file:items.jsonl -r \(recipient)", "archiving items"),
            ("inspect a.kcb -i key.txt", "reading items"), ("inspect a.kcb -i key.txt --html a.html", "reading items"),
            ("restore a.kcb -i key.txt --keychain other --dry-run", "restoring items"),
            ("restore a.kcb -i key.txt --keychain other", "restoring items"),
            ("keychain set-passcode other --new-passcode file:passcode", "sealing items again"),
        ]
        for (command, what) in commands {
            let (status, lines, text) = run(command)
            #expect(status == .ok, "\(command): \(text)")
            let drawn = lines.filter { $0.contains("\(what): ") }
            #expect(drawn.count > 10, "\(command): \(text)")
            #expect(drawn.allSatisfy { $0.hasPrefix("~") && $0.count <= 40 }, "\(command): \(text)")
            let percents = drawn.compactMap { $0.firstMatch(of: /: (\d+)%/).flatMap { Int($0.1) } }
            #expect(percents.count == drawn.count, "\(command): \(text)")
            #expect(percents == percents.sorted(), "\(command): \(percents)")
            // The last one is near 100%. The metadata alone is read in one piece here.
            #expect(percents.last.map { $0 > 85 } == true, "\(command): \(percents)")
            #expect(Set(percents).count > (command.hasPrefix("inspect") ? 0 : 5), "\(command): \(percents)")
            #expect(command.hasPrefix("inspect") || percents.count { $0 == 100 } < 100, "\(command): \(percents)")
            let last = try #require(text.range(of: (drawn.last ?? "").dropFirst(), options: .backwards))
            #expect(text[last.upperBound...].contains(Self.erasing), "\(command)")
        }
    }

    @Test("No progress is shown with --json, with --quiet or without a terminal, and an error has a clean line")
    func clean() throws {
        let lines = (0..<20).map { #"{"class":"genp","attributes":{"svce":"service \#($0)"},"secret":"s"}"# }
        try home.write("items.jsonl", (lines + [#"{"class":"nonsense"}"#]).joined(separator: "\n"))
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let failed = run("import items.jsonl")
        #expect(failed.status != .ok)
        #expect(failed.text.contains("reading items: "))
        #expect(failed.text.contains("\(Self.erasing)kcbackup: error: "))
        for line in ["import items.jsonl --json", "import items.jsonl --quiet"] {
            #expect(!run(line).text.contains("\r"), "\(line)")
        }
        #expect(!run("import items.jsonl", showsMessages: false).text.contains("\r"))
    }
}
