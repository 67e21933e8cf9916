#pragma once

#include <gcrypt.h>

// Initializes the library once; gcry_control is variadic, which Swift cannot call. Keys are in the caller's memory, so
// libgcrypt's pool of secure memory, which would cost every process, is not created.
static inline int kcb_gcrypt_start(void) {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return 1;
    if (gcry_check_version("1.8.0") == NULL) return 0;
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return 1;
}
