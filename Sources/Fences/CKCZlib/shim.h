#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

// zlib keeps plaintext in its windows, so its memory is like that of secrets: pages of its own, locked as far as the system
// allows, left out of core dumps, and wiped before they are released. Their size is stored in front of the allocation; a
// prefix of 16 bytes preserves malloc's alignment.
enum { kcb_prefix = 16 };

static inline void *kcb_allocate(void *unused, uInt items, uInt size) {
    (void)unused;
    size_t bytes;
    if (__builtin_mul_overflow((size_t)items, (size_t)size, &bytes)) return NULL;
    if (__builtin_add_overflow(bytes, (size_t)kcb_prefix, &bytes)) return NULL;
    unsigned char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    mlock(memory, bytes);
    madvise(memory, bytes, MADV_DONTDUMP);
    memcpy(memory, &bytes, sizeof bytes);
    return memory + kcb_prefix;
}

static inline void kcb_free(void *unused, void *address) {
    (void)unused;
    unsigned char *memory = (unsigned char *)address - kcb_prefix;
    size_t bytes;
    memcpy(&bytes, memory, sizeof bytes);
    explicit_bzero(memory, bytes);
    munmap(memory, bytes);
}

static inline z_stream *kcb_stream(void) {
    z_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    stream->zalloc = kcb_allocate;
    stream->zfree = kcb_free;
    return stream;
}

// Creates a decompressor for raw deflate; NULL if there is no memory.
static inline z_stream *kcb_inflate_new(void) {
    z_stream *stream = kcb_stream();
    if (stream == NULL) return NULL;
    if (inflateInit2(stream, -MAX_WBITS) == Z_OK) return stream;
    free(stream);
    return NULL;
}

static inline void kcb_inflate_free(z_stream *stream) {
    inflateEnd(stream);
    free(stream);
}
