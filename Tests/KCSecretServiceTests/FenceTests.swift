import KCTestSupport
import Testing

@Suite("The libsecret fence", .waitsForPrograms)
struct FenceTests {
    @Test("Every declaration matches the headers of libsecret and GLib")
    func declarations() throws {
        let folder = try TemporaryFolder()
        let check = """
            #define SECRET_API_SUBJECT_TO_CHANGE
            #include <libsecret/secret.h>
            #include "\(Project.path("Sources/Fences/CKCLibSecret/shim.h"))"
            #define SAME(result, name, arguments) result (*check_##name) arguments = name;
            CSECRET_FUNCTIONS(SAME)
            _Static_assert(offsetof(struct csecret_class, constructor) == offsetof(GObjectClass, constructor), "class");
            _Static_assert(sizeof(GTypeQuery) == 24, "query");
            """
        try folder.write("check.c", Array(check.utf8))
        func compile(_ name: String) throws -> ExternalProgram.Outcome {
            try ExternalProgram.run(
                "bash",
                [
                    "-c",
                    "cc -std=c11 -Wall -Werror -Wno-unused -fsyntax-only $(pkg-config --cflags libsecret-1) "
                        + "'\(folder.path(name))'",
                ])
        }
        let outcome = try compile("check.c")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let other = check.replacing("CSECRET_FUNCTIONS(SAME)", with: "SAME(char, g_variant_unref, (void *, int))")
        try folder.write("other.c", Array(other.utf8))
        #expect(try compile("other.c").status != 0)
    }
}
