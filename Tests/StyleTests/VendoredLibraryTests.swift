import Foundation
import KCTestSupport
import Testing

/// The library of others whose sources are part of this package.
enum VendoredLibrary {
    static let folder = "Sources/Fences/CKCMLKEM"
    /// The folder inside, which has nothing but upstream's files.
    static let upstream = "mlkem-native"
}

@Suite("The library of others that is part of the package", .waitsForPrograms)
struct VendoredLibraryTests {
    @Test("It has exactly the files that the list names, each unchanged")
    func unchanged() throws {
        let list = try Project.text("\(VendoredLibrary.folder)/SHA256SUMS")
        let listed = list.split(separator: "\n").map { String($0.dropFirst(64 + 2)) }
        let folder = Project.path("\(VendoredLibrary.folder)/\(VendoredLibrary.upstream)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
            let kind = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.type]
            return kind as? FileAttributeType != .typeDirectory
        }
        #expect(listed.sorted() == names.map { "\(VendoredLibrary.upstream)/\($0)" }.sorted())
        let outcome = try ExternalProgram.run(
            "sha256sum", ["--check", "--quiet", "--strict", "SHA256SUMS"], in: Project.path(VendoredLibrary.folder))
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errorText)")
    }

    @Test("Its README names the version, and its license is with it and in the package's list")
    func origin() throws {
        let readme = try Project.text("\(VendoredLibrary.folder)/README.md")
        #expect(readme.firstMatch(of: /\| version \| v[0-9.]+, commit `[0-9a-f]{40}` \|/) != nil)
        #expect(Repository.exists("\(VendoredLibrary.folder)/\(VendoredLibrary.upstream)/LICENSE"))
        let copyright = try Project.text(".ci/package/copyright")
        #expect(copyright.contains("Files: \(VendoredLibrary.folder)/\(VendoredLibrary.upstream)/*\n"))
    }
}
