#pragma once

#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

/* Tells an HMAC context to hash with SHA-256; a parameter list is easier to say in C. */
static inline int kcbackup_hmac_use_sha256(EVP_MAC_CTX *context) {
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(context, parameters);
}

/* Stacks are typed by macros, which Swift does not see: how to free the three kinds that are read. */
static inline void kcbackup_free_safe_bags(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}

static inline void kcbackup_free_safes(STACK_OF(PKCS7) *safes) {
    sk_PKCS7_pop_free(safes, PKCS7_free);
}

/* The tables of ASN.1 types, likewise behind macros. */
static inline const ASN1_ITEM *kcbackup_safe_bags_item(void) { return ASN1_ITEM_rptr(PKCS12_SAFEBAGS); }
static inline const ASN1_ITEM *kcbackup_pbe_item(void) { return ASN1_ITEM_rptr(PBEPARAM); }
static inline const ASN1_ITEM *kcbackup_pbes2_item(void) { return ASN1_ITEM_rptr(PBE2PARAM); }
static inline const ASN1_ITEM *kcbackup_pbkdf2_item(void) { return ASN1_ITEM_rptr(PBKDF2PARAM); }
static inline const ASN1_ITEM *kcbackup_scrypt_item(void) { return ASN1_ITEM_rptr(SCRYPT_PARAMS); }
