import KCTestSupport
import Testing

@testable import KeychainSecurity

/// Makes random calls both to the library and to a model that was written only from the reference documentation.
@Suite("The calls compared with a model")
struct PropertyTests {
    /// The number of keychains used in a run, and the number of calls made to each: 100,000 in `make proof`.
    private static let keychains = KCTestSupport.ModelRun.isWhole ? 25 : 1
    private static let callsPerKeychain = 2_000

    @Test(
        "Random calls return the same statuses and results as the model",
        .proofRow("calls of SecItem against a model", trials: keychains * callsPerKeychain),
        arguments: [1, 2] as [UInt64])
    func agreesWithModel(seed: UInt64) async throws {
        let tally = Tally<String>()
        for keychain in 0..<Self.keychains {
            let seed = seed << 32 | UInt64(keychain)
            let start = ModelRun.Start(hasPasscode: keychain.isMultiple(of: 2))
            var steps: [NumberedStep] = []
            var random = RandomSteps(random: SeededRandom(seed: seed))
            let run = try ModelRun(start, tally: tally)
            var calls = 0
            while calls < Self.callsPerKeychain {
                steps.append((steps.count, random.next(run.model, run.knownReferences)))
                let (answer, difference) = try run.perform(steps[steps.count - 1])
                if answer != nil { calls += 1 }
                // Yields to other tests, some of which have sessions that time out.
                if calls.isMultiple(of: 20) { await Task.yield() }
                guard difference != nil else { continue }
                Issue.record(Comment(rawValue: try Self.story(steps, start, seed)))
                return
            }
        }
        let result = tally.result
        for (event, least) in Self.frequencies {
            // In fewer calls, chance makes more of a difference.
            let least = KCTestSupport.ModelRun.isWhole ? least : least * Self.keychains / 25 / 6
            #expect(result[event, default: 0] >= least, "\(event): too rare to show a mistake, seed \(seed)")
        }
    }

    /// The minimum number of times that each event must occur in 50,000 calls, about half of what is typical.
    private static let frequencies: [(event: String, least: Int)] = [
        ("add", 10_000), ("copy", 10_000), ("update", 5_000), ("delete", 3_000),
        ("status \(errSecSuccess)", 10_000), ("status \(errSecItemNotFound)", 6_000),
        ("status \(errSecDuplicateItem)", 1_000), ("status \(errSecInteractionNotAllowed)", 2_000),
        ("status \(errSecMissingEntitlement)", 2_000), ("status \(errSecParam)", 1_500),
        ("status \(errSecNoSuchAttr)", 250),
        ("status \(errSecNoSuchClass)", 20), ("a return key without a place for the result", 200),
        ("synchronizable and ThisDeviceOnly", 1_000), ("status \(errSecAuthFailed)", 200),
        ("status \(errSecUnimplemented)", 50),
        ("add \(errSecSuccess)", 5_000), ("copy \(errSecSuccess)", 3_000), ("update \(errSecSuccess)", 1_000),
        ("delete \(errSecSuccess)", 1_000), ("update \(errSecDuplicateItem)", 150),
        ("update \(errSecAuthFailed)", 10), ("update \(errSecInteractionNotAllowed)", 200),
        ("a list of several", 600), ("a list with a limit", 300), ("an item without a secret", 200),
        ("a locked item is left out", 200), ("found by its reference", 500),
        ("the reference of an item that is gone", 100), ("nothing counts as the default", 4_000),
        ("a text is found by its bytes", 600), ("a tombstone is found", 120),
        ("an addition replaces a tombstone", 200), ("an update replaces a tombstone", 30),
        ("an update leaves a tombstone", 200), ("an update of several items", 600),
        ("another access group", 200), ("another accessibility", 400), ("another synchronizability", 150),
        ("a date ahead of the clock", 800), ("a passcode is removed with items that need it", 3),
        ("a synchronizable item is deleted, and a tombstone stays", 500),
        ("a synchronizable item is deleted, and nothing stays", 100),
        ("an item is deleted, and a tombstone stays", 400), ("an item is deleted, and nothing stays", 2_000),
        ("a tombstone is deleted, and a tombstone stays", 80), ("a tombstone is deleted, and nothing stays", 80),
    ]

    /// Describes a difference with the shortest history that reproduces it.
    private static func story(_ steps: [NumberedStep], _ start: ModelRun.Start, _ seed: UInt64) throws -> String {
        guard let short = try ModelShrinker.shortened(steps, from: start) else {
            return "seed \(seed): a difference after \(steps.count) steps, which a second run does not show"
        }
        let lines = short.steps.map { "  \($0.number): \($0.step)" }
        return "seed \(seed), \(start.hasPasscode ? "with" : "without") a passcode:\n"
            + lines.joined(separator: "\n") + "\n\(short.difference)"
    }
}
