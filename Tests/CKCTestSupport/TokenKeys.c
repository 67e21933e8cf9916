#include "CKCTestSupport.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <string.h>

ctest_key *ctest_key_new(void) {
    return (ctest_key *)EVP_EC_gen("P-256");
}

void ctest_key_free(ctest_key *key) {
    EVP_PKEY_free((EVP_PKEY *)key);
}

int ctest_key_point(const ctest_key *key, unsigned char *point) {
    unsigned char encoded[65];
    size_t length;
    if (EVP_PKEY_get_octet_string_param(
            (EVP_PKEY *)key, OSSL_PKEY_PARAM_PUB_KEY, encoded, sizeof encoded, &length) != 1 || length != 65)
        return -1;
    memcpy(point, encoded + 1, 64);
    return 0;
}

static EVP_PKEY *key_at(const unsigned char *point) {
    unsigned char encoded[65] = {4};
    memcpy(encoded + 1, point, 64);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)"P-256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, encoded, sizeof encoded),
        OSSL_PARAM_construct_end()};
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (EVP_PKEY_fromdata_init(context) != 1 || EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}

int ctest_key_agree(const ctest_key *key, const unsigned char *point, unsigned char *shared) {
    EVP_PKEY *other = key_at(point);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new((EVP_PKEY *)key, NULL);
    size_t length = 32;
    int good = other && EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, other) == 1
        && EVP_PKEY_derive(context, shared, &length) == 1 && length == 32;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(other);
    return good ? 0 : -1;
}

int ctest_key_sign(
    const ctest_key *key, const unsigned char *message, size_t count, unsigned char *signature, size_t *length) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    *length = 72;
    int good = EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, (EVP_PKEY *)key) == 1
        && EVP_DigestSign(context, signature, length, message, count) == 1;
    EVP_MD_CTX_free(context);
    return good ? 0 : -1;
}

int ctest_aes_cbc(
    int encrypts, const unsigned char *key, const unsigned char *input, size_t count, unsigned char *output) {
    static const unsigned char zeros[16];
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int length = 0;
    int good = EVP_CipherInit_ex(context, EVP_aes_256_cbc(), NULL, key, zeros, encrypts) == 1
        && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        && EVP_CipherUpdate(context, output, &length, input, (int)count) == 1 && length == (int)count;
    EVP_CIPHER_CTX_free(context);
    return good ? 0 : -1;
}
