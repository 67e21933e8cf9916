import Foundation
import KCTerminal
import KCTestSupport
import Testing

/// A home with one of everything that kcbackup keeps in files, packed by an earlier version.
///
/// `Compatibility/home.sh` makes it, and runs the commands that every later version must understand it by.
@Suite("Homes of earlier versions", .waitsForPrograms)
struct CompatibilityTests {
    private static let folder = "Tests/kcbackupTests/Compatibility"

    @Test(
        "Keychains, archives, catalogues, kept states, jobs, kits and protected files of version 1 are read and continued",
        .enabled(if: MountNamespace.isAvailable, "mounting takes root"))
    func version1() throws {
        let outcome = try ExternalProgram.run(
            Project.path(Self.folder + "/home.sh"),
            ["open", ExternalProgram.built("kcbackup"), Project.path(Self.folder)],
            environment: ["HOME": "/", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        try Golden.compare(outcome.text, with: Self.folder + "/v1-home.txt")
    }
}
