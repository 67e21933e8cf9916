#pragma once

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libfido2 as function pointers that are looked up on demand. So the program starts without the library and is built
   without its headers. A test compiles this file after those headers, which verifies that the declarations match. */

#ifndef _FIDO_H
typedef struct fido_assert fido_assert_t;
typedef struct fido_cbor_info fido_cbor_info_t;
typedef struct fido_cred fido_cred_t;
typedef struct fido_dev fido_dev_t;
typedef struct fido_dev_info fido_dev_info_t;
typedef struct es256_pk es256_pk_t;
typedef struct es384_pk es384_pk_t;
typedef struct fido_dev_io {
    void *(*open)(const char *);
    void (*close)(void *);
    int (*read)(void *, unsigned char *, size_t, int);
    int (*write)(void *, const unsigned char *, size_t);
} fido_dev_io_t;
typedef enum { FIDO_OPT_OMIT = 0, FIDO_OPT_FALSE = 1, FIDO_OPT_TRUE = 2 } fido_opt_t;
#endif

static const int cfido2_no_u2f = 0x02, cfido2_es256 = -7, cfido2_hmac_secret = 0x01;
static const uint8_t cfido2_present = 0x01, cfido2_verified = 0x04;

#define CFIDO2_FUNCTIONS(F) \
    F(void, fido_init, (int)) \
    F(fido_dev_info_t *, fido_dev_info_new, (size_t)) \
    F(void, fido_dev_info_free, (fido_dev_info_t **, size_t)) \
    F(int, fido_dev_info_manifest, (fido_dev_info_t *, size_t, size_t *)) \
    F(const fido_dev_info_t *, fido_dev_info_ptr, (const fido_dev_info_t *, size_t)) \
    F(const char *, fido_dev_info_path, (const fido_dev_info_t *)) \
    F(const char *, fido_dev_info_manufacturer_string, (const fido_dev_info_t *)) \
    F(const char *, fido_dev_info_product_string, (const fido_dev_info_t *)) \
    F(fido_dev_t *, fido_dev_new, (void)) \
    F(void, fido_dev_free, (fido_dev_t **)) \
    F(int, fido_dev_open, (fido_dev_t *, const char *)) \
    F(int, fido_dev_close, (fido_dev_t *)) \
    F(int, fido_dev_cancel, (fido_dev_t *)) \
    F(int, fido_dev_set_io_functions, (fido_dev_t *, const fido_dev_io_t *)) \
    F(int, fido_dev_set_timeout, (fido_dev_t *, int)) \
    F(bool, fido_dev_is_fido2, (const fido_dev_t *)) \
    F(bool, fido_dev_has_pin, (const fido_dev_t *)) \
    F(int, fido_dev_get_retry_count, (fido_dev_t *, int *)) \
    F(int, fido_dev_get_cbor_info, (fido_dev_t *, fido_cbor_info_t *)) \
    F(int, fido_dev_make_cred, (fido_dev_t *, fido_cred_t *, const char *)) \
    F(int, fido_dev_get_assert, (fido_dev_t *, fido_assert_t *, const char *)) \
    F(fido_cbor_info_t *, fido_cbor_info_new, (void)) \
    F(void, fido_cbor_info_free, (fido_cbor_info_t **)) \
    F(char **, fido_cbor_info_extensions_ptr, (const fido_cbor_info_t *)) \
    F(size_t, fido_cbor_info_extensions_len, (const fido_cbor_info_t *)) \
    F(fido_cred_t *, fido_cred_new, (void)) \
    F(void, fido_cred_free, (fido_cred_t **)) \
    F(int, fido_cred_set_type, (fido_cred_t *, int)) \
    F(int, fido_cred_set_clientdata_hash, (fido_cred_t *, const unsigned char *, size_t)) \
    F(int, fido_cred_set_rp, (fido_cred_t *, const char *, const char *)) \
    F(int, fido_cred_set_user, \
        (fido_cred_t *, const unsigned char *, size_t, const char *, const char *, const char *)) \
    F(int, fido_cred_set_extensions, (fido_cred_t *, int)) \
    F(int, fido_cred_set_rk, (fido_cred_t *, fido_opt_t)) \
    F(int, fido_cred_verify, (const fido_cred_t *)) \
    F(int, fido_cred_verify_self, (const fido_cred_t *)) \
    F(const char *, fido_cred_fmt, (const fido_cred_t *)) \
    F(uint8_t, fido_cred_flags, (const fido_cred_t *)) \
    F(const unsigned char *, fido_cred_x5c_ptr, (const fido_cred_t *)) \
    F(const unsigned char *, fido_cred_id_ptr, (const fido_cred_t *)) \
    F(size_t, fido_cred_id_len, (const fido_cred_t *)) \
    F(const unsigned char *, fido_cred_pubkey_ptr, (const fido_cred_t *)) \
    F(size_t, fido_cred_pubkey_len, (const fido_cred_t *)) \
    F(fido_assert_t *, fido_assert_new, (void)) \
    F(void, fido_assert_free, (fido_assert_t **)) \
    F(int, fido_assert_set_clientdata_hash, (fido_assert_t *, const unsigned char *, size_t)) \
    F(int, fido_assert_set_rp, (fido_assert_t *, const char *)) \
    F(int, fido_assert_allow_cred, (fido_assert_t *, const unsigned char *, size_t)) \
    F(int, fido_assert_set_extensions, (fido_assert_t *, int)) \
    F(int, fido_assert_set_hmac_salt, (fido_assert_t *, const unsigned char *, size_t)) \
    F(int, fido_assert_set_up, (fido_assert_t *, fido_opt_t)) \
    F(size_t, fido_assert_count, (const fido_assert_t *)) \
    F(uint8_t, fido_assert_flags, (const fido_assert_t *, size_t)) \
    F(const unsigned char *, fido_assert_hmac_secret_ptr, (const fido_assert_t *, size_t)) \
    F(size_t, fido_assert_hmac_secret_len, (const fido_assert_t *, size_t)) \
    F(int, fido_assert_verify, (const fido_assert_t *, size_t, int, const void *)) \
    F(es256_pk_t *, es256_pk_new, (void)) \
    F(void, es256_pk_free, (es256_pk_t **)) \
    F(int, es256_pk_from_ptr, (es256_pk_t *, const void *, size_t)) \
    /* Not called: version 1.12 is the first that has it, and no function tells the version. */ \
    F(es384_pk_t *, es384_pk_new, (void))

struct cfido2_functions {
#define CFIDO2_FIELD(result, name, arguments) result (*name) arguments;
    CFIDO2_FUNCTIONS(CFIDO2_FIELD)
#undef CFIDO2_FIELD
};

/* Fills the table; returns NULL, or the name of the missing library or function. */
static inline const char *cfido2_load(struct cfido2_functions *table, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return library;
#define CFIDO2_FIND(result, name, arguments) \
    if (!(table->name = (result (*) arguments)dlsym(handle, #name))) return #name;
    CFIDO2_FUNCTIONS(CFIDO2_FIND)
#undef CFIDO2_FIND
    return NULL;
}
