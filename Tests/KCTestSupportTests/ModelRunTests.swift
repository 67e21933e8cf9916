import KCTestSupport
import Testing

@Suite("Runs against a model")
struct ModelRunTests {
    @Test("A run that fails is shortened to the operations that it needs")
    func shortened() throws {
        var random = SeededRandom(seed: 1)
        let operations = (0..<200).map { _ in Int.random(in: 0..<10, using: &random) }
        // The model is wrong about a 7 that follows two 3s.
        func compare(_ operations: [Int]) -> ModelRun.Difference? {
            var threes = 0
            for (place, operation) in operations.enumerated() {
                if operation == 3 { threes += 1 }
                if operation == 7, threes >= 2 { return (place, "differs") }
            }
            return nil
        }
        let failure = try #require(ModelRun.failure(of: operations, compare))
        #expect(failure.operations == [3, 3, 7])
        #expect("\(failure)" == "3\n3\n7\ndiffers")
        #expect(ModelRun.failure(of: [7, 3, 3], compare) == nil)
    }
}
