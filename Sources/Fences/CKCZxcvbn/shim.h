#pragma once

#include <dlfcn.h>
#include <stdbool.h>
#include <zxcvbn.h>

/* zxcvbn as function pointers that are looked up on demand: only a new passcode is judged. The types are those of its
   header. */

#define CZXCVBN_FUNCTIONS(F) \
    F(ZxcvbnFreeInfo) \
    F(ZxcvbnMatch)

struct czxcvbn_functions {
#define CZXCVBN_FIELD(name) __typeof__(name) *name;
    CZXCVBN_FUNCTIONS(CZXCVBN_FIELD)
#undef CZXCVBN_FIELD
};

/* Fills the table; false if the library or a function is missing. */
static inline bool czxcvbn_load(struct czxcvbn_functions *table, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return false;
#define CZXCVBN_FIND(name) \
    if (!(table->name = (__typeof__(name) *)dlsym(handle, #name))) return false;
    CZXCVBN_FUNCTIONS(CZXCVBN_FIND)
#undef CZXCVBN_FIND
    return true;
}
