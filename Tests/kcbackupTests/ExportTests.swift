import Foundation
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Exports of keychains and of other programs' files")
struct ExportTests {
    private let home: TestHome

    init() throws { home = try TestHome() }

    @Test("A KeePass database that opens with a password and a key file is exported")
    func keyFile() throws {
        for (name, kind) in [("a.kdbx", "kdbx"), ("a.key", "key")] {
            let path = Project.path("Tests/KCForeignFormatsTests/Fixtures/KeePass/pykeepass-4.0.\(kind)")
            try home.write(name, [UInt8](Data(contentsOf: URL(filePath: path))))
        }
        try home.write("password", "pw one\n")
        try home.write("other.key", [UInt8](repeating: 4, count: 32))
        let command = "export --keychain file:a.kdbx --passcode file:password --to csv --plaintext -o a.csv"
        #expect(home.run(command).status == .wrongKey)
        let wrong = home.run("\(command) --key-file other.key")
        #expect(wrong.status == .wrongKey)
        #expect(wrong.messages.contains("the password and the key file do not open"))
        let right = home.run("\(command) --key-file a.key")
        #expect(right.status == .ok, "\(right.messages)")
        let file = try home.folder.read("work/a.csv")
        #expect(String(decoding: file, as: UTF8.self).contains("neu"))
    }
}
