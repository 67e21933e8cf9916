import Testing

@testable import KCExportFormats

@Suite("Groups of a KeePass database that is written")
struct KDBXGroupTests {
    @Test("The names of a folder become nested groups, unless one is empty or they are many")
    func paths() {
        #expect(KDBXGroup.path(of: "Work/Mail") == ["Work", "Mail"])
        #expect(KDBXGroup.path(of: nil) == [])
        #expect(KDBXGroup.path(of: "") == [])
        #expect(KDBXGroup.path(of: "a//b") == ["a//b"])
        #expect(KDBXGroup.path(of: "trail/") == ["trail/"])
        let deep = (1...40).map { "\($0)" }.joined(separator: "/")
        #expect(KDBXGroup.path(of: deep).count == 16)
        #expect(KDBXGroup.path(of: deep).joined(separator: "/") == deep)
        #expect(KDBXGroup.path(of: "\u{1}") == [])
    }
}
