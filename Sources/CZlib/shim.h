#pragma once

#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// zlib's working memory holds plaintext, so it is wiped before it is released. The size stands in front of each block.

#define WIPED_HEADER 16

static inline voidpf wiped_alloc(voidpf opaque, uInt items, uInt size) {
    (void)opaque;
    size_t bytes = (size_t)items * size;
    unsigned char *block = calloc(1, bytes + WIPED_HEADER);
    if (block == NULL) return Z_NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + WIPED_HEADER;
}

static inline void wiped_free(voidpf opaque, voidpf address) {
    (void)opaque;
    if (address == Z_NULL) return;
    unsigned char *block = (unsigned char *)address - WIPED_HEADER;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    explicit_bzero(block, bytes + WIPED_HEADER);
    free(block);
}

// The two initialisers are macros in zlib.h, which Swift does not see. 31 asks for the gzip wrapper and a 32 KiB window.

static inline int gzip_deflate_init(z_stream *stream, int level) {
    stream->zalloc = wiped_alloc;
    stream->zfree = wiped_free;
    return deflateInit2(stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
}

static inline int gzip_inflate_init(z_stream *stream) {
    stream->zalloc = wiped_alloc;
    stream->zfree = wiped_free;
    return inflateInit2(stream, 31);
}
