#pragma once

#include <gcrypt.h>

// Starts the library once; gcry_control takes a variable list of arguments, which Swift does not see. Keys lie in
// memory of the caller, so the pool of secure memory, which every process would pay for, is not made.
static inline int kcb_gcrypt_start(void) {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return 1;
    if (gcry_check_version("1.8.0") == NULL) return 0;
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return 1;
}
