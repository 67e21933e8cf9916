import KCTestSupport
import Testing

@Suite("The tpm2-tss fence", .waitsForPrograms)
struct FenceTests {
    @Test("Every declaration matches the headers of tpm2-tss, and every structure has room")
    func declarations() throws {
        let folder = try TemporaryFolder()
        let check = """
            #include <tss2/tss2_esys.h>
            #include <tss2/tss2_mu.h>
            #include <tss2/tss2_tctildr.h>
            #include "\(Project.path("Sources/Fences/CKCTPM2/shim.h"))"
            #define SAME(result, name, arguments) result (*check_##name) arguments = name;
            CTPM2_ESYS_FUNCTIONS(SAME)
            CTPM2_MU_FUNCTIONS(SAME)
            CTPM2_TCTI_FUNCTIONS(SAME)
            #define FITS(type) _Static_assert(sizeof(type) <= CTPM2_ROOM, #type);
            FITS(TPM2B_PUBLIC) FITS(TPM2B_PRIVATE) FITS(TPM2B_SENSITIVE_CREATE) FITS(TPM2B_DATA)
            FITS(TPML_PCR_SELECTION) FITS(TPMT_SYM_DEF) FITS(TPM2B_NAME) FITS(TPMS_CAPABILITY_DATA)
            _Static_assert(offsetof(TPM2B_SENSITIVE_DATA, buffer) == 2, "sensitive data");
            _Static_assert(sizeof(((TPM2B_SENSITIVE_DATA *)0)->buffer) == 256, "sensitive data");
            int main(void) {
                return !(ctpm2_none == ESYS_TR_NONE && ctpm2_password == ESYS_TR_PASSWORD
                    && ctpm2_owner == ESYS_TR_RH_OWNER && ctpm2_hmac_session == TPM2_SE_HMAC
                    && ctpm2_continue_session == TPMA_SESSION_CONTINUESESSION && ctpm2_decrypt == TPMA_SESSION_DECRYPT
                    && ctpm2_encrypt == TPMA_SESSION_ENCRYPT && ctpm2_sha256 == TPM2_ALG_SHA256
                    && ctpm2_cap_commands == TPM2_CAP_COMMANDS && ctpm2_cap_properties == TPM2_CAP_TPM_PROPERTIES);
            }
            """
        try folder.write("check.c", Array(check.utf8))
        func compile(_ name: String) throws -> ExternalProgram.Outcome {
            let script =
                "cd \"$1\" && cc -std=c11 -Wall -Werror -Wno-unused -o check \"$2\" "
                + "$(pkg-config --cflags --libs tss2-esys tss2-mu tss2-tctildr) -ldl && ./check"
            return try ExternalProgram.run("bash", ["-c", script, "bash", folder.path, name])
        }
        let outcome = try compile("check.c")
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let other = check.replacing("CTPM2_TCTI_FUNCTIONS(SAME)", with: "SAME(char, Esys_Free, (void *, int))")
        try folder.write("other.c", Array(other.utf8))
        #expect(try compile("other.c").status != 0)
    }
}
