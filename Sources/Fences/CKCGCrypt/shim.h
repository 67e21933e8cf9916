#pragma once

#include <dlfcn.h>
#include <gcrypt.h>
#include <stdbool.h>

/* libgcrypt as function pointers that are looked up on demand: only old KeePass files and Password Safe databases need
   it. The types are those of its header. */

#define CGCRYPT_FUNCTIONS(F) \
    F(gcry_check_version) \
    F(gcry_cipher_close) \
    F(gcry_cipher_decrypt) \
    F(gcry_cipher_encrypt) \
    F(gcry_cipher_open) \
    F(gcry_cipher_setiv) \
    F(gcry_cipher_setkey)

struct cgcrypt_functions {
#define CGCRYPT_FIELD(name) __typeof__(name) *name;
    CGCRYPT_FUNCTIONS(CGCRYPT_FIELD)
#undef CGCRYPT_FIELD
};

/* Initializes the library, unless another one in this process has; gcry_control is variadic, which Swift cannot call.
   Keys are in the caller's memory, so libgcrypt's pool of secure memory is not created. */
static inline bool cgcrypt_start(const struct cgcrypt_functions *table, void *handle) {
    __typeof__(gcry_control) *control = (__typeof__(gcry_control) *)dlsym(handle, "gcry_control");
    if (!control) return false;
    if (control(GCRYCTL_INITIALIZATION_FINISHED_P)) return true;
    if (!table->gcry_check_version("1.8.0")) return false;
    control(GCRYCTL_DISABLE_SECMEM, 0);
    control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return true;
}

/* Fills the table and starts the library; false if it or a function is missing, or if it is too old. */
static inline bool cgcrypt_load(struct cgcrypt_functions *table, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return false;
#define CGCRYPT_FIND(name) \
    if (!(table->name = (__typeof__(name) *)dlsym(handle, #name))) return false;
    CGCRYPT_FUNCTIONS(CGCRYPT_FIND)
#undef CGCRYPT_FIND
    return cgcrypt_start(table, handle);
}
