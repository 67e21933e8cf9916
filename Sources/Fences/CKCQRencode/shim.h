#pragma once

#include <dlfcn.h>
#include <stddef.h>

/* libqrencode as function pointers that are looked up on demand. So the program starts without the library and is built
   without its header. A test compiles this file after that header, which verifies that the declarations match. */

#ifndef QRENCODE_H
typedef enum { QR_MODE_8 = 2 } QRencodeMode;
typedef enum { QR_ECLEVEL_H = 3 } QRecLevel;
typedef struct {
    int version;
    int width;
    unsigned char *data;
} QRcode;
#endif

#define CQRENCODE_FUNCTIONS(F) \
    F(QRcode *, QRcode_encodeString, (const char *, int, QRecLevel, QRencodeMode, int)) \
    F(void, QRcode_free, (QRcode *))

struct cqrencode_functions {
#define CQRENCODE_FIELD(result, name, arguments) result (*name) arguments;
    CQRENCODE_FUNCTIONS(CQRENCODE_FIELD)
#undef CQRENCODE_FIELD
};

/* Fills the table; returns NULL, or the name of the missing library or function. */
static inline const char *cqrencode_load(struct cqrencode_functions *table, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return library;
#define CQRENCODE_FIND(result, name, arguments) \
    if (!(table->name = (result (*) arguments)dlsym(handle, #name))) return #name;
    CQRENCODE_FUNCTIONS(CQRENCODE_FIND)
#undef CQRENCODE_FIND
    return NULL;
}

/* Encodes a text of a terminated string, with as much error correction as there is: 30 % may be illegible. */
static inline QRcode *cqrencode_encode(const struct cqrencode_functions *table, const char *text) {
    return table->QRcode_encodeString(text, 0, QR_ECLEVEL_H, QR_MODE_8, 1);
}
