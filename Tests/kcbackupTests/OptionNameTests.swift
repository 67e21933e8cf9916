import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Options")
struct OptionNameTests {
    @Test("An option is recognized in each of its spellings")
    func spellings() {
        #expect(OptionName(argument: "--keychain") == .keychain)
        #expect(OptionName(argument: "--keychain=work") == .keychain)
        #expect(OptionName(argument: "-o") == .output)
        #expect(OptionName(argument: "keychain") == nil)
        #expect(OptionName(argument: "--nope") == nil)
        #expect(OptionName(argument: "-") == nil)
    }

    @Test("No two options have the same letter")
    func lettersAreUnique() {
        let letters = OptionName.allCases.compactMap(\.letter)
        #expect(Set(letters).count == letters.count)
    }

    @Test("An option with one value is refused if it is given twice, however it is spelled")
    func repetition() throws {
        let home = try TestHome()
        for line in ["item list -v --verbose", "item list --keychain=a --keychain b", "keygen -o a --output b"] {
            let outcome = home.run(line)
            #expect(outcome.status == .usage && outcome.messages.contains("given twice"), "\(line)")
        }
        #expect(try home.folder.list().filter { $0.hasPrefix("home/") || $0.hasPrefix("work/") } == [])
    }
}
