import KCTestSupport
import Testing

@Suite("The libfido2 fence", .waitsForPrograms)
struct TokenFenceTests {
    @Test("Every declaration matches the headers of libfido2")
    func declarations() throws {
        let folder = try TemporaryFolder()
        let check = """
            #include <fido.h>
            #include <fido/es256.h>
            #include <fido/es384.h>
            #include "\(Project.path("Sources/Fences/CKCFIDO2/shim.h"))"
            #define SAME(result, name, arguments) result (*check_##name) arguments = name;
            CFIDO2_FUNCTIONS(SAME)
            _Static_assert(FIDO_OPT_OMIT == 0 && FIDO_OPT_FALSE == 1 && FIDO_OPT_TRUE == 2, "options");
            struct io {
                void *(*open)(const char *);
                void (*close)(void *);
                int (*read)(void *, unsigned char *, size_t, int);
                int (*write)(void *, const unsigned char *, size_t);
            };
            _Static_assert(sizeof(struct io) == sizeof(fido_dev_io_t), "functions");
            #define PLACE(name) _Static_assert(offsetof(struct io, name) == offsetof(fido_dev_io_t, name), #name);
            PLACE(open) PLACE(close) PLACE(read) PLACE(write)
            int main(void) {
                return !(cfido2_no_u2f == FIDO_DISABLE_U2F_FALLBACK && cfido2_es256 == COSE_ES256
                    && cfido2_hmac_secret == FIDO_EXT_HMAC_SECRET && cfido2_present == CTAP_AUTHDATA_USER_PRESENT
                    && cfido2_verified == CTAP_AUTHDATA_USER_VERIFIED);
            }
            """
        func compile(_ text: String) throws -> ExternalProgram.Outcome {
            try folder.write("check.c", Array(text.utf8))
            let script =
                "cd \"$1\" && cc -std=c11 -Wall -Werror -Wno-unused -o check check.c "
                + "$(pkg-config --cflags --libs libfido2) -ldl && ./check"
            return try ExternalProgram.run("bash", ["-c", script, "bash", folder.path])
        }
        let outcome = try compile(check)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let other = check.replacing("CFIDO2_FUNCTIONS(SAME)", with: "SAME(char, fido_dev_open, (void *, int))")
        #expect(try compile(other).status != 0)
    }
}
