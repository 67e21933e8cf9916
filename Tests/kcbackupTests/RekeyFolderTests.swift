import KCAgeEncryption
import KCArchiveForgery
import KCByteStreams
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("New keys for the archives of a folder")
struct RekeyFolderTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"x"}"# + "\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("item import items.jsonl").status == .ok)
        for name in ["old.txt", "new.txt"] { #expect(home.run("keygen -o \(name)").status == .ok) }
    }

    private func archives() throws -> [String] {
        try Path.names(in: home.path("b")).filter { $0.hasSuffix(".kcb") }.sorted()
    }

    private func recipient(_ name: String) throws -> String {
        let text = String(decoding: try home.folder.read("work/" + name), as: UTF8.self)
        return String(try #require(text.firstMatch(of: /age1\w+/)).0)
    }

    private func identities(_ name: String) throws -> [X25519Identity] {
        try IdentityFile.parse(SecretBytes(copying: home.folder.read("work/" + name))).identities
    }

    /// The file keys of both streams of each archive.
    private func fileKeys(_ paths: [String], _ identity: X25519Identity) throws -> [[UInt8]] {
        try paths.flatMap { path in
            try ["metadata.jsonl.gz.age", "secrets.jsonl.gz.age"].map { name in
                try OpenedMember(name, ofArchiveAt: path, identity).fileKey.bytesForTest()
            }
        }
    }

    @Test("After a rekey from key to key, the old key opens no archive of the folder, and the new key opens each")
    func oldKey() throws {
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<2 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        #expect(home.run("rekey b -i old.txt -r \(new)").status == .ok)
        for name in try archives() {
            for verb in ["verify", "inspect", "restore --dry-run"] {
                #expect(home.run("\(verb) b/\(name) -i old.txt").status == .wrongKey)
                #expect(home.run("\(verb) b/\(name) -i new.txt").status == .ok)
            }
        }
        #expect(home.run("verify b -i old.txt").status == .incomplete)
        #expect(home.run("rekey b -i old.txt -r \(old)").status == .wrongKey)
    }

    @Test("A rekey that was interrupted and goes on leaves no archive with a file key that another file ever had")
    func halfDone() throws {
        let (old, new) = (try recipient("old.txt"), try recipient("new.txt"))
        for _ in 0..<3 { #expect(home.run("create -r \(old) --to b").status == .ok) }
        let paths = try archives().map { home.path("b/" + $0) }
        var fileKeys = try fileKeys(paths, #require(identities("old.txt").first))
        let newIdentity = try #require(identities("new.txt").first)
        // The state left by a run that was killed before the second archive.
        #expect(home.run("rekey \(paths[0]) -i old.txt -r \(new)").status == .ok)
        fileKeys += try self.fileKeys([paths[0]], newIdentity)
        // Both keys are given, so all archives get the new key, the first one for the second time.
        #expect(home.run("rekey b -i old.txt -i new.txt -r \(new)").status == .ok)
        fileKeys += try self.fileKeys(paths, newIdentity)
        #expect(fileKeys.count == 14 && Set(fileKeys).count == 14)
    }
}
