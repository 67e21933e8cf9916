import ForeignFormats
import ItemSources
import TestSupport
import Testing

@testable import kcbackup

@Suite("What docs/import.md says of the formats")
struct ForeignManualTests {
    @Test("Each format has a section, which names it as --from does, and no two have one name")
    func everyFormatIsThere() throws {
        let text = try Project.text("docs/import.md")
        let names = KnownFormats.all.map(\.name)
        for name in names { #expect(text.contains("`--from \(name)`"), "\(name)") }
        #expect(Set(names).count == names.count)
    }
}
