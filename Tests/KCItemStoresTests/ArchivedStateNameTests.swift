import KCKeychainModel
import KCLocalKeychains
import Testing

@testable import KCItemStores

@Suite("Names of the kept states of the desktop keyring")
struct ArchivedStateNameTests {
    @Test("Kept states are in order, even within a second and after the clock was set back")
    func names() throws {
        let now = try #require(Timestamp(microseconds: 1_700_000_000_000_000))
        var names: [ArchivedStateName] = []
        for _ in 0..<12 { names.append(ArchivedStateName(at: now, after: names.last, before: .restore)) }
        names.append(ArchivedStateName(at: now.advanced(byMicroseconds: -5_000_000), after: names.last, before: .undo))
        names.append(ArchivedStateName(at: now.advanced(byMicroseconds: 5_000_000), after: names.last, before: .undo))
        #expect(names.map(\.file).compactMap { ArchivedStateName(file: $0) }.shuffled().sorted() == names)
        #expect(Set(names.map(\.file)).count == names.count)
        #expect(names[1].file == "20231114T221320Z-2-restore.kcb")
        #expect(names[1].text == "20231114T221320Z-2" && names[1].date == now)
        #expect(names[1].before == .restore && ArchivedStateName(file: names[0].file)?.before == .restore)
        #expect(ArchivedStateName(file: "20231114T221320Z.kcb")?.before == nil)
        #expect(ArchivedStateName(file: "20231114T221320Z-2-other.kcb") == nil)
        #expect(ArchivedStateName(file: "x.kcb") == nil)
        #expect(ArchivedStateName(file: "20231114T221320Z-0.kcb") == nil)
        #expect(ArchivedStateName(file: "20231314T221320Z.kcb") == nil)
        #expect(ArchivedStateName(file: "20231114T221320Z-02.kcb") == nil)
    }
}
