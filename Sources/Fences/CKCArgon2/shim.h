#pragma once

#include <argon2.h>

/* Derives a key with a thread for each lane; with one thread, which gives the same key, where no other can be started. */
static inline int cargon2_hash(
    uint32_t passes, uint32_t memory, uint32_t lanes, const uint8_t *password, size_t password_size,
    const uint8_t *salt, size_t salt_size, uint8_t *key, size_t key_size, argon2_type type, uint32_t version) {
    if (password_size > UINT32_MAX || salt_size > UINT32_MAX || key_size > UINT32_MAX) return ARGON2_OUTPUT_TOO_LONG;
    argon2_context context = {
        .out = key, .outlen = (uint32_t)key_size, .pwd = (uint8_t *)password, .pwdlen = (uint32_t)password_size,
        .salt = (uint8_t *)salt, .saltlen = (uint32_t)salt_size, .t_cost = passes, .m_cost = memory, .lanes = lanes,
        .threads = lanes, .version = version, .flags = ARGON2_DEFAULT_FLAGS};
    int status = argon2_ctx(&context, type);
    if (status != ARGON2_THREAD_FAIL) return status;
    context.threads = 1;
    return argon2_ctx(&context, type);
}
