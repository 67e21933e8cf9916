#pragma once

#include <libdeflate.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Plaintext that a compressor has seen is wiped before its memory is freed. The size of an allocation is stored in
// front of it; a prefix of 64 bytes preserves the alignment that the compressor asks for.
enum { kcb_deflate_prefix = 64 };

static inline void *kcb_deflate_allocate(size_t size) {
    size_t bytes;
    if (__builtin_add_overflow(size, (size_t)kcb_deflate_prefix, &bytes)) return NULL;
    unsigned char *memory = malloc(bytes);
    if (memory == NULL) return NULL;
    memcpy(memory, &bytes, sizeof bytes);
    return memory + kcb_deflate_prefix;
}

static inline void kcb_deflate_release(void *address) {
    if (address == NULL) return;
    unsigned char *memory = (unsigned char *)address - kcb_deflate_prefix;
    size_t bytes;
    memcpy(&bytes, memory, sizeof bytes);
    explicit_bzero(memory, bytes);
    free(memory);
}

// Must be called before the first compressor is made.
static inline void kcb_deflate_wipes_memory(void) {
    libdeflate_set_memory_allocator(kcb_deflate_allocate, kcb_deflate_release);
}
