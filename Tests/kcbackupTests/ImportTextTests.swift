import KCTestSupport
import Testing

@testable import kcbackup

@Suite("What an import says of a file")
struct ImportTextTests {
    @Test("Of many kinds that are left out, the first ones are named, and all with -v")
    func manyKinds() throws {
        let home = try TestHome()
        let others = (0..<3_000).map { #"{"apiVersion":"v1","kind":"Kind\#($0)"}"# }
        let secret = #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":"dg=="}}"#
        let items = ([secret] + others).joined(separator: ",")
        try home.write("kinds.json", #"{"apiVersion":"v1","kind":"List","items":[\#(items)]}"#)
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let few = home.run("import kinds.json -n")
        #expect(few.status == .ok)
        #expect(few.text.contains("Kind0 object") && few.text.contains("… and 2980 more (-v shows all)"))
        #expect(few.text.split(separator: "\n").count < 30)
        let all = home.run("import kinds.json -n -v")
        #expect(all.text.contains("Kind2999 object"))
    }
}
