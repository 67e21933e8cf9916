#pragma once

#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
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
#include <string.h>

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

/* Sets the label of OAEP, which the context owns. */
static inline int kcbackup_use_label(EVP_PKEY_CTX *context, const unsigned char *label, size_t length) {
    unsigned char *copy = OPENSSL_memdup(label, length);
    if (copy == NULL) return 0;
    if (EVP_PKEY_CTX_set0_rsa_oaep_label(context, copy, (int)length) == 1) return 1;
    OPENSSL_free(copy);
    return 0;
}

/* Makes an RSA key of the numbers n, e, d, 1/q mod p, p and q, which lie in `bytes` from bounds[0] to bounds[1], and so
   on. The two exponents that OpenSSH leaves out are d mod (p - 1) and d mod (q - 1). */
static inline EVP_PKEY *kcbackup_rsa(const unsigned char *bytes, const int bounds[12]) {
    static const char *const names[8] = {
        OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D, OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
        OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_EXPONENT1,
        OSSL_PKEY_PARAM_RSA_EXPONENT2,
    };
    BIGNUM *numbers[8] = {NULL}, *less = BN_new();
    BN_CTX *room = BN_CTX_secure_new();
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *key = NULL;
    int status = less != NULL && room != NULL && builder != NULL && context != NULL;
    for (int i = 0; status && i < 8; i++) {
        if (i < 6) {
            numbers[i] = BN_bin2bn(bytes + bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i], NULL);
        } else if ((numbers[i] = BN_new()) != NULL) {
            BN_set_flags(numbers[2], BN_FLG_CONSTTIME);
            status = BN_copy(less, numbers[i - 2]) != NULL && BN_sub_word(less, 1) == 1
                && BN_mod(numbers[i], numbers[2], less, room) == 1;
        }
        status = status && numbers[i] != NULL && OSSL_PARAM_BLD_push_BN(builder, names[i], numbers[i]) == 1;
    }
    if (status && (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(context) == 1
        && EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    for (OSSL_PARAM *each = parameters; each != NULL && each->key != NULL; each++)
        OPENSSL_cleanse(each->data, each->data_size);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(context);
    for (int i = 0; i < 8; i++) BN_clear_free(numbers[i]);
    BN_clear_free(less);
    BN_CTX_free(room);
    return key;
}

/* Converts a point of edwards25519 into the u-coordinate of Curve25519, (1 + y) / (1 - y), both in little-endian bytes
   (RFC 7748, section 4.1). Returns 0 if no point has this y, or y is 1. */
static inline int kcbackup_montgomery(const unsigned char point[32], unsigned char u[32]) {
    unsigned char bytes[32];
    BN_CTX *room = BN_CTX_new();
    if (room == NULL) return 0;
    BN_CTX_start(room);
    BIGNUM *p = BN_CTX_get(room), *y = BN_CTX_get(room), *d = BN_CTX_get(room), *square = BN_CTX_get(room),
           *over = BN_CTX_get(room), *under = BN_CTX_get(room), *half = BN_CTX_get(room);
    memcpy(bytes, point, 32);
    /* The highest bit is the sign of x, which u does not depend on. */
    bytes[31] &= 0x7f;
    /* p is 2^255 - 19, and d is -121665 / 121666. */
    int status = half != NULL && BN_set_bit(p, 255) && BN_sub_word(p, 19) && BN_lebin2bn(bytes, 32, y) != NULL
        && BN_set_word(under, 121666) && BN_mod_inverse(d, under, p, room) != NULL && BN_set_word(over, 121665)
        && BN_mod_mul(d, d, over, p, room) && BN_sub(d, p, d);
    /* x^2 is (y^2 - 1) / (d * y^2 + 1), so the product of both has a root, by Euler's criterion. */
    status = status && BN_mod_sqr(square, y, p, room) && BN_copy(over, square) != NULL && BN_sub_word(over, 1)
        && BN_mod_mul(under, d, square, p, room) && BN_add_word(under, 1) && BN_mod_mul(over, over, under, p, room)
        && BN_rshift1(half, p) && BN_mod_exp(over, over, half, p, room) && BN_is_one(over);
    status = status && BN_one(over) && BN_mod_sub(under, over, y, p, room) && BN_add(over, over, y)
        && BN_mod_inverse(under, under, p, room) != NULL && BN_mod_mul(over, over, under, p, room)
        && BN_bn2lebinpad(over, u, 32) == 32;
    BN_CTX_end(room);
    BN_CTX_free(room);
    return status;
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
