import Foundation
import KCTestSupport
import Testing

/// Runs what `make fuzz` runs guided by coverage: a few random changes here, and every input that once broke a decoder.
@Suite("Decoders of foreign bytes")
struct FuzzTargetTests {
    private static let regressions = Project.folder.appending(path: "Tests/KCFuzzingTests/Regressions")

    @Test("Every decoder accepts a seed of its own, and no name is taken twice")
    func seeds() throws {
        #expect(Set(FuzzTarget.all.map(\.name)).count == FuzzTarget.all.count)
        for target in FuzzTarget.all {
            #expect(!target.seeds.isEmpty && !target.seeds.contains([]), "\(target)")
            #expect(try target.seeds.contains { try target.run($0) }, "\(target)")
        }
    }

    @Test("Changed, shortened and lengthened seeds are read or refused", arguments: FuzzTarget.all)
    func changed(target: FuzzTarget) throws {
        var random = SeededRandom(seed: 1)
        for seed in target.seeds {
            for _ in 0..<(seed.count > 10_000 ? 40 : 400) {
                var bytes = seed
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    let index = Int.random(in: 0...bytes.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: bytes.removeSubrange(index...)
                    case 1: bytes.insert(contentsOf: random.bytes(Int.random(in: 1...8, using: &random)), at: index)
                    case 2: bytes.removeSubrange(index..<min(bytes.count, index + 4))
                    default: if index < bytes.count { bytes[index] = UInt8.random(in: .min ... .max, using: &random) }
                    }
                }
                #expect(throws: Never.self, "\(bytes)") { try target.run(bytes) }
            }
        }
    }

    @Test("What once broke a decoder is read or refused")
    func regressions() throws {
        let manager = FileManager.default
        for target in FuzzTarget.all {
            let folder = Self.regressions.appending(path: target.name)
            guard manager.fileExists(atPath: folder.path) else { continue }
            for name in try manager.contentsOfDirectory(atPath: folder.path) {
                try target.run([UInt8](Data(contentsOf: folder.appending(path: name))))
            }
        }
    }
}
