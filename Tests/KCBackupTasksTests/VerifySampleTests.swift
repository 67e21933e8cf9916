import KCKeychainModel
import Testing

@testable import KCBackupTasks

@Suite("A sample of archives")
struct VerifySampleTests {
    private func archive(_ series: String, _ second: Int, isOfFolder: Bool = true) -> PlacedArchive {
        PlacedArchive(
            path: "b/\(series)-KC-ABCDEFGH-20261121T03000\(second)Z.kcb", source: .nowhere, isOfFolder: isOfFolder)
    }

    @Test("It has the newest of each keychain, the share of the others rounded up, and what was named itself")
    func share() throws {
        let archives =
            (0..<8).map { archive("a", $0) } + (0..<3).map { archive("b", $0) }
            + [
                archive("a", 0, isOfFolder: false),
                PlacedArchive(path: "b/other.kcb", source: .nowhere, isOfFolder: true),
            ]
        let now = try #require(Timestamp("2026-11-21T04:00:00.000000Z"))
        for _ in 0..<20 {
            let chosen = VerifySample(percent: 10).choose(archives, now: now)
            let paths = chosen.map(\.path)
            #expect(chosen.count == 2 + 1 + 1, "two newest, the named one, and one of ten others")
            #expect(paths.contains(archive("a", 7).path) && paths.contains(archive("b", 2).path))
            #expect(chosen.contains { !$0.isOfFolder })
        }
        #expect(VerifySample(percent: 100).choose(archives, now: now).count == archives.count)
    }
}
