import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Importing the output of 'item find --reveal --json'")
struct RevealedItemsTests {
    @Test("Items of every class are imported exactly: bytes, dates, UUIDs, extra attributes, keys and certificates")
    func roundTrip() throws {
        let home = try TestHome()
        try home.write("passcode", "walnut lantern velvet\n")
        let samples = try Data(contentsOf: URL(filePath: Project.path("Samples/keychain.jsonl")))
        let more =
            #"{"class":"genp","attributes":{"svce":"x"},"extra":{"url.1":"é\n","a":""},"secret":{"base64":"AP8="}}"#
        try home.write("samples.jsonl", [UInt8](samples) + Array(more.utf8))
        for name in ["login", "copy"] {
            #expect(home.run("keychain create \(name) --passcode file:passcode").status == .ok)
        }
        #expect(home.run("import samples.jsonl --passcode file:passcode").status == .ok)
        var revealed: [String: String] = [:]
        for itemClass in ["genp", "inet", "cert", "keys"] {
            let found = home.run("item find --class \(itemClass) --reveal --json --passcode file:passcode")
            #expect(found.status == .ok && found.text.contains("\"secret\""))
            revealed[itemClass] = found.text
        }
        for part in ["\"base64\"", "\"extra\""] { #expect(revealed.values.contains { $0.contains(part) }, "\(part)") }
        try home.write("all.jsonl", revealed.values.joined())
        #expect(home.run("import all.jsonl --into copy --passcode file:passcode").status == .ok)
        for (itemClass, expected) in revealed {
            let found = home.run(
                "item find --keychain copy --class \(itemClass) --reveal --json --passcode file:passcode")
            #expect(found.text == expected, "\(itemClass)")
        }
    }
}
