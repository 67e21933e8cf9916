import KCTestSupport
import Testing

@Suite("The libqrencode fence", .waitsForPrograms)
struct QRFenceTests {
    @Test("Every declaration matches the header of libqrencode")
    func declarations() throws {
        let folder = try TemporaryFolder()
        let shim = Project.path("Sources/Fences/CKCQRencode/shim.h")
        let check = """
            #include <qrencode.h>
            #include "\(shim)"
            #define SAME(result, name, arguments) result (*check_##name) arguments = name;
            CQRENCODE_FUNCTIONS(SAME)
            _Static_assert(QR_MODE_8 == 2 && QR_ECLEVEL_H == 3, "constants");
            _Static_assert(sizeof(QRcode) == 2 * sizeof(int) + sizeof(void *), "code");
            """
        func compile(_ text: String) throws -> ExternalProgram.Outcome {
            try folder.write("check.c", Array(text.utf8))
            return try ExternalProgram.run(
                "cc", ["-std=c11", "-Wall", "-Werror", "-Wno-unused", "-fsyntax-only", folder.path("check.c")])
        }
        let outcome = try compile(check)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let other = check.replacing("CQRENCODE_FUNCTIONS(SAME)", with: "SAME(char, QRcode_free, (QRcode *, int))")
        #expect(try compile(other).status != 0)
    }
}
