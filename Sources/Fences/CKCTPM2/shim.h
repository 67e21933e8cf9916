#pragma once

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* The enhanced system API of tpm2-tss (ESAPI), as function pointers that are looked up on demand. So the program starts
   without the library and is built without its headers. A test compiles this file after those headers, which verifies
   that the declarations match.

   The structures of the library are not declared here. Each is converted from and to its wire format (TPM 2.0 Library,
   part 2) by the library itself, in memory of CTPM2_ROOM bytes. */

typedef struct ESYS_CONTEXT ESYS_CONTEXT;
typedef struct TSS2_TCTI_OPAQUE_CONTEXT_BLOB TSS2_TCTI_CONTEXT;
typedef struct TSS2_ABI_VERSION TSS2_ABI_VERSION;
typedef struct TPM2B_NAME TPM2B_NAME;
typedef struct TPM2B_DIGEST TPM2B_DIGEST;
typedef struct TPM2B_DATA TPM2B_DATA;
typedef struct TPM2B_PUBLIC TPM2B_PUBLIC;
typedef struct TPM2B_PRIVATE TPM2B_PRIVATE;
typedef struct TPM2B_SENSITIVE_CREATE TPM2B_SENSITIVE_CREATE;
typedef struct TPM2B_SENSITIVE_DATA TPM2B_SENSITIVE_DATA;
typedef struct TPM2B_CREATION_DATA TPM2B_CREATION_DATA;
typedef struct TPMT_TK_CREATION TPMT_TK_CREATION;
typedef struct TPMT_SYM_DEF TPMT_SYM_DEF;
typedef struct TPML_PCR_SELECTION TPML_PCR_SELECTION;
typedef struct TPMS_CAPABILITY_DATA TPMS_CAPABILITY_DATA;

/* No structure that is used here is larger; the test compares. */
#define CTPM2_ROOM 2048

/* The handles of ESAPI, and what the TPM calls itself. */
static const uint32_t ctpm2_none = 0xfff, ctpm2_password = 0xff, ctpm2_owner = 0x101;
static const uint8_t ctpm2_hmac_session = 0x00;
static const uint8_t ctpm2_continue_session = 0x01, ctpm2_decrypt = 0x20, ctpm2_encrypt = 0x40;
static const uint16_t ctpm2_sha256 = 0x000b;
static const uint32_t ctpm2_cap_commands = 2, ctpm2_cap_properties = 6;

#define CTPM2_ESYS_FUNCTIONS(F) \
    F(uint32_t, Esys_Initialize, (ESYS_CONTEXT **, TSS2_TCTI_CONTEXT *, TSS2_ABI_VERSION *)) \
    F(void, Esys_Finalize, (ESYS_CONTEXT **)) \
    F(void, Esys_Free, (void *)) \
    F(uint32_t, Esys_TR_FromTPMPublic, (ESYS_CONTEXT *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t *)) \
    F(uint32_t, Esys_TR_Close, (ESYS_CONTEXT *, uint32_t *)) \
    F(uint32_t, Esys_TR_GetName, (ESYS_CONTEXT *, uint32_t, TPM2B_NAME **)) \
    F(uint32_t, Esys_TR_SetAuth, (ESYS_CONTEXT *, uint32_t, const TPM2B_DIGEST *)) \
    F(uint32_t, Esys_FlushContext, (ESYS_CONTEXT *, uint32_t)) \
    F(uint32_t, Esys_CreatePrimary, \
        (ESYS_CONTEXT *, uint32_t, uint32_t, uint32_t, uint32_t, const TPM2B_SENSITIVE_CREATE *, \
         const TPM2B_PUBLIC *, const TPM2B_DATA *, const TPML_PCR_SELECTION *, uint32_t *, TPM2B_PUBLIC **, \
         TPM2B_CREATION_DATA **, TPM2B_DIGEST **, TPMT_TK_CREATION **)) \
    F(uint32_t, Esys_StartAuthSession, \
        (ESYS_CONTEXT *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, const TPM2B_DIGEST *, uint8_t, \
         const TPMT_SYM_DEF *, uint16_t, uint32_t *)) \
    F(uint32_t, Esys_TRSess_SetAttributes, (ESYS_CONTEXT *, uint32_t, uint8_t, uint8_t)) \
    F(uint32_t, Esys_Create, \
        (ESYS_CONTEXT *, uint32_t, uint32_t, uint32_t, uint32_t, const TPM2B_SENSITIVE_CREATE *, \
         const TPM2B_PUBLIC *, const TPM2B_DATA *, const TPML_PCR_SELECTION *, TPM2B_PRIVATE **, TPM2B_PUBLIC **, \
         TPM2B_CREATION_DATA **, TPM2B_DIGEST **, TPMT_TK_CREATION **)) \
    F(uint32_t, Esys_Load, \
        (ESYS_CONTEXT *, uint32_t, uint32_t, uint32_t, uint32_t, const TPM2B_PRIVATE *, const TPM2B_PUBLIC *, \
         uint32_t *)) \
    F(uint32_t, Esys_Unseal, (ESYS_CONTEXT *, uint32_t, uint32_t, uint32_t, uint32_t, TPM2B_SENSITIVE_DATA **)) \
    F(uint32_t, Esys_GetCapability, \
        (ESYS_CONTEXT *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint8_t *, \
         TPMS_CAPABILITY_DATA **))

#define CTPM2_MU_FUNCTIONS(F) \
    F(uint32_t, Tss2_MU_TPM2B_PUBLIC_Marshal, (const TPM2B_PUBLIC *, uint8_t *, size_t, size_t *)) \
    F(uint32_t, Tss2_MU_TPM2B_PUBLIC_Unmarshal, (const uint8_t *, size_t, size_t *, TPM2B_PUBLIC *)) \
    F(uint32_t, Tss2_MU_TPM2B_PRIVATE_Marshal, (const TPM2B_PRIVATE *, uint8_t *, size_t, size_t *)) \
    F(uint32_t, Tss2_MU_TPM2B_PRIVATE_Unmarshal, (const uint8_t *, size_t, size_t *, TPM2B_PRIVATE *)) \
    F(uint32_t, Tss2_MU_TPM2B_SENSITIVE_CREATE_Unmarshal, \
        (const uint8_t *, size_t, size_t *, TPM2B_SENSITIVE_CREATE *)) \
    F(uint32_t, Tss2_MU_TPM2B_DIGEST_Unmarshal, (const uint8_t *, size_t, size_t *, TPM2B_DIGEST *)) \
    F(uint32_t, Tss2_MU_TPM2B_NAME_Marshal, (const TPM2B_NAME *, uint8_t *, size_t, size_t *)) \
    F(uint32_t, Tss2_MU_TPMT_SYM_DEF_Unmarshal, (const uint8_t *, size_t, size_t *, TPMT_SYM_DEF *)) \
    F(uint32_t, Tss2_MU_TPMS_CAPABILITY_DATA_Marshal, (const TPMS_CAPABILITY_DATA *, uint8_t *, size_t, size_t *))

#define CTPM2_TCTI_FUNCTIONS(F) \
    F(uint32_t, Tss2_TctiLdr_Initialize, (const char *, TSS2_TCTI_CONTEXT **)) \
    F(void, Tss2_TctiLdr_Finalize, (TSS2_TCTI_CONTEXT **))

struct ctpm2_functions {
#define CTPM2_FIELD(result, name, arguments) result (*name) arguments;
    CTPM2_ESYS_FUNCTIONS(CTPM2_FIELD)
    CTPM2_MU_FUNCTIONS(CTPM2_FIELD)
    CTPM2_TCTI_FUNCTIONS(CTPM2_FIELD)
#undef CTPM2_FIELD
};

/* Fills the table; returns NULL, or the name of the missing library or function. */
static inline const char *ctpm2_load(struct ctpm2_functions *table) {
    const int mode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    void *handle;
#define CTPM2_OPEN(library) if (!(handle = dlopen(library, mode))) return library;
#define CTPM2_FIND(result, name, arguments) \
    if (!(table->name = (result (*) arguments)dlsym(handle, #name))) return #name;
    CTPM2_OPEN("libtss2-esys.so.0")
    CTPM2_ESYS_FUNCTIONS(CTPM2_FIND)
    CTPM2_OPEN("libtss2-mu.so.0")
    CTPM2_MU_FUNCTIONS(CTPM2_FIND)
    CTPM2_OPEN("libtss2-tctildr.so.0")
    CTPM2_TCTI_FUNCTIONS(CTPM2_FIND)
#undef CTPM2_FIND
#undef CTPM2_OPEN
    return NULL;
}
