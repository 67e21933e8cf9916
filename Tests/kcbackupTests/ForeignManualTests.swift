import KCForeignFormats
import KCItemSources
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The formats in docs/import.md")
struct ForeignManualTests {
    @Test("Each format is listed with its --from name, and all names are distinct")
    func everyFormatIsThere() throws {
        let text = try Project.text("docs/import.md")
        let names = KnownFormats.all.map(\.name)
        for name in names { #expect(text.contains("`--from \(name)`"), "\(name)") }
        #expect(Set(names).count == names.count)
    }
}
