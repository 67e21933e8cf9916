#pragma once

#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

/* Sets the hash of an HMAC context; parameter lists are easier to build in C. */
static inline int kcbackup_hmac_use(EVP_MAC_CTX *context, const char *digest) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(context, parameters);
}

/* Free stacks. Their types are defined by macros, which Swift cannot import. */
static inline void kcbackup_free_safe_bags(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}

static inline void kcbackup_free_safes(STACK_OF(PKCS7) *safes) {
    sk_PKCS7_pop_free(safes, PKCS7_free);
}

static inline void kcbackup_free_certificates(STACK_OF(X509) *certificates) {
    sk_X509_pop_free(certificates, X509_free);
}

/* Tables of ASN.1 types, which are also behind macros. */
static inline const ASN1_ITEM *kcbackup_safe_bags_item(void) { return ASN1_ITEM_rptr(PKCS12_SAFEBAGS); }
static inline const ASN1_ITEM *kcbackup_pbe_item(void) { return ASN1_ITEM_rptr(PBEPARAM); }
static inline const ASN1_ITEM *kcbackup_pbes2_item(void) { return ASN1_ITEM_rptr(PBE2PARAM); }
static inline const ASN1_ITEM *kcbackup_pbkdf2_item(void) { return ASN1_ITEM_rptr(PBKDF2PARAM); }
static inline const ASN1_ITEM *kcbackup_scrypt_item(void) { return ASN1_ITEM_rptr(SCRYPT_PARAMS); }

/* Generate key pairs. EVP_PKEY_Q_keygen is variadic, which Swift cannot call. */
static inline EVP_PKEY *kcbackup_generate_rsa(size_t bits) { return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits); }
static inline EVP_PKEY *kcbackup_generate_ec(const char *curve) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve); }
static inline EVP_PKEY *kcbackup_generate(const char *type) { return EVP_PKEY_Q_keygen(NULL, NULL, type); }

/* Sets the padding of RSA and its hash (NULL for none); for PSS and OAEP, MGF1 uses the same hash. A PSS salt is as
   long as a digest. */
static inline int kcbackup_use_rsa(EVP_PKEY_CTX *context, int padding, const char *hash) {
    const EVP_MD *digest = hash == NULL ? NULL : EVP_get_digestbyname(hash);
    if ((hash != NULL && digest == NULL) || EVP_PKEY_CTX_set_rsa_padding(context, padding) != 1) return 0;
    if (digest == NULL) return 1;
    if (padding == RSA_PKCS1_OAEP_PADDING)
        return EVP_PKEY_CTX_set_rsa_oaep_md(context, digest) == 1 && EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest) == 1;
    if (EVP_PKEY_CTX_set_signature_md(context, digest) != 1) return 0;
    return padding != RSA_PKCS1_PSS_PADDING
        || (EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
            && EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest) == 1);
}

/* Convert an ECDSA signature in DER to its two numbers, each as `length` big-endian bytes, and back. */
static inline int kcbackup_ecdsa_numbers(
    const unsigned char *der, long count, unsigned char *numbers, int length
) {
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, count);
    const BIGNUM *r = NULL, *s = NULL;
    if (signature == NULL) return 0;
    ECDSA_SIG_get0(signature, &r, &s);
    int status = BN_bn2binpad(r, numbers, length) == length && BN_bn2binpad(s, numbers + length, length) == length;
    ECDSA_SIG_free(signature);
    return status;
}

static inline int kcbackup_ecdsa_der(const unsigned char *numbers, int length, unsigned char **der) {
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(numbers, length, NULL), *s = BN_bin2bn(numbers + length, length, NULL);
    if (signature == NULL || r == NULL || s == NULL || ECDSA_SIG_set0(signature, r, s) != 1) {
        ECDSA_SIG_free(signature);
        BN_free(r);
        BN_free(s);
        return -1;
    }
    int count = i2d_ECDSA_SIG(signature, der);
    ECDSA_SIG_free(signature);
    return count;
}

/* The key derivation of ANSI X9.63. */
static inline int kcbackup_x963(
    const char *hash, const unsigned char *secret, size_t secret_length, const unsigned char *info, size_t info_length,
    unsigned char *output, size_t length
) {
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "X963KDF", NULL);
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)hash, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_length),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_length),
        OSSL_PARAM_construct_end(),
    };
    if (info_length == 0) parameters[2] = OSSL_PARAM_construct_end();
    int status = context == NULL ? 0 : EVP_KDF_derive(context, output, length, parameters);
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return status;
}

/* AES-GCM with a 16-byte nonce, a 16-byte tag and a key of 16 or 32 bytes. */
static inline int kcbackup_gcm(
    int seals, const unsigned char *key, size_t key_length, const unsigned char *nonce, const unsigned char *data,
    int data_length, const unsigned char *input, int length, unsigned char *output, unsigned char *tag
) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    const EVP_CIPHER *cipher = key_length == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm();
    int written = 0;
    int status = context != NULL && EVP_CipherInit_ex(context, cipher, NULL, NULL, NULL, seals) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_IVLEN, 16, NULL) == 1
        && EVP_CipherInit_ex(context, NULL, NULL, key, nonce, seals) == 1
        && (data_length == 0 || EVP_CipherUpdate(context, NULL, &written, data, data_length) == 1)
        && (length == 0 || EVP_CipherUpdate(context, output, &written, input, length) == 1)
        && (seals || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, 16, tag) == 1)
        && EVP_CipherFinal_ex(context, output + length, &written) == 1
        && (!seals || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, tag) == 1);
    EVP_CIPHER_CTX_free(context);
    return status;
}

/* One step of SHA-1 with little-endian words: updates `state` with a 64-byte block. Only the deprecated interface
   offers single steps. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline void kcbackup_sha1_step(unsigned int state[5], const unsigned char *block) {
    SHA_CTX context = {.h0 = state[0], .h1 = state[1], .h2 = state[2], .h3 = state[3], .h4 = state[4]};
    unsigned char swapped[64];
    for (int i = 0; i < 64; i++) swapped[i] = block[i ^ 3];
    SHA1_Transform(&context, swapped);
    state[0] = context.h0;
    state[1] = context.h1;
    state[2] = context.h2;
    state[3] = context.h3;
    state[4] = context.h4;
    OPENSSL_cleanse(&context, sizeof context);
    OPENSSL_cleanse(swapped, sizeof swapped);
}
#pragma clang diagnostic pop

/* What the verification of a chain found: codes X509_V_ERR_…, and the position of the certificate for each. */
struct kcbackup_findings {
    int *codes;
    int *positions;
    int capacity;
    int count;
};

/* Notes a finding and goes on, so that all are found. A list that is full ends the verification, which then fails. */
static inline int kcbackup_note_finding(int is_fine, X509_STORE_CTX *context) {
    struct kcbackup_findings *findings = X509_STORE_CTX_get_app_data(context);
    if (is_fine) return 1;
    if (findings == NULL || findings->count == findings->capacity) return 0;
    findings->codes[findings->count] = X509_STORE_CTX_get_error(context);
    findings->positions[findings->count] = X509_STORE_CTX_get_error_depth(context);
    findings->count++;
    return 1;
}

/* Builds and verifies a chain. Since findings do not end the verification, 1 alone does not mean that all is well. */
static inline int kcbackup_verify_chain(X509_STORE_CTX *context, struct kcbackup_findings *findings) {
    if (X509_STORE_CTX_set_app_data(context, findings) != 1) return 0;
    X509_STORE_CTX_set_verify_cb(context, kcbackup_note_finding);
    int status = X509_verify_cert(context);
    X509_STORE_CTX_set_app_data(context, NULL);
    return status;
}

/* True if a wildcard among the names of `leaf` stands for a name that `authority` must not certify, which libcrypto does
   not notice: "*.example.com" where "admin.example.com" is excluded. */
static inline int kcbackup_wildcard_is_excluded(const X509 *leaf, const X509 *authority) {
    NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(authority, NID_name_constraints, NULL, NULL);
    GENERAL_NAMES *names = X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL);
    int is_excluded = 0;
    int subtrees = constraints == NULL ? 0 : sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees);
    for (int i = 0; names != NULL && i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_DNS || name->d.dNSName->length < 3) continue;
        const char *text = (const char *)name->d.dNSName->data;
        if (text[0] != '*' || text[1] != '.') continue;
        /* With the dot. */
        const char *domain = text + 1;
        int length = name->d.dNSName->length - 1;
        for (int j = 0; j < subtrees; j++) {
            const GENERAL_NAME *base = sk_GENERAL_SUBTREE_value(constraints->excludedSubtrees, j)->base;
            if (base->type != GEN_DNS || base->d.dNSName->length <= length) continue;
            const char *excluded = (const char *)base->d.dNSName->data;
            int first = base->d.dNSName->length - length;
            /* A wildcard stands for one label. */
            if (memchr(excluded, '.', (size_t)first) != NULL) continue;
            if (OPENSSL_strncasecmp(excluded + first, domain, (size_t)length) == 0) is_excluded = 1;
        }
    }
    NAME_CONSTRAINTS_free(constraints);
    GENERAL_NAMES_free(names);
    return is_excluded;
}

/* A variable that names the system's certificates, read as libcrypto reads it: not if the program has borrowed rights. */
extern char *secure_getenv(const char *name);
static inline const char *kcbackup_certificate_variable(const char *name, const char *otherwise) {
    const char *value = secure_getenv(name);
    return value == NULL ? otherwise : value;
}
