import KCTestSupport
import Testing

@Suite("Seeded defects", .waitsForPrograms)
struct SeededDefectTests {
    @Test(
        "Each defect of Tests/SeededDefects can be made in the sources as they are",
        .enabled(
            if: ExternalProgram.locate("git") != nil && ExternalProgram.locate("python3") != nil,
            "git and python3 are needed"))
    func patchesApply() throws {
        let outcome = try ExternalProgram.run(
            "python3", ["-B", Project.path("Tests/SeededDefects/run.py"), "--check"])
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errorText)")
    }
}
