#pragma once

#include <expat.h>
#include <stdlib.h>
#include <string.h>

// expat keeps text in buffers, so its memory is wiped before it is freed. The size of an allocation is stored in front
// of it; a prefix of 16 bytes preserves malloc's alignment.
enum { kcb_xml_prefix = 16 };

static inline void *kcb_xml_allocate(size_t size) {
    size_t bytes;
    if (__builtin_add_overflow(size, (size_t)kcb_xml_prefix, &bytes)) return NULL;
    unsigned char *memory = malloc(bytes);
    if (memory == NULL) return NULL;
    memcpy(memory, &bytes, sizeof bytes);
    return memory + kcb_xml_prefix;
}

static inline void kcb_xml_free(void *address) {
    if (address == NULL) return;
    unsigned char *memory = (unsigned char *)address - kcb_xml_prefix;
    size_t bytes;
    memcpy(&bytes, memory, sizeof bytes);
    explicit_bzero(memory, bytes);
    free(memory);
}

static inline void *kcb_xml_reallocate(void *address, size_t size) {
    if (address == NULL) return kcb_xml_allocate(size);
    size_t old;
    memcpy(&old, (unsigned char *)address - kcb_xml_prefix, sizeof old);
    old -= kcb_xml_prefix;
    void *larger = kcb_xml_allocate(size);
    if (larger == NULL) return NULL;
    memcpy(larger, address, old < size ? old : size);
    kcb_xml_free(address);
    return larger;
}

// Creates a UTF-8 parser; NULL if there is no memory.
static inline XML_Parser kcb_xml_new(void) {
    static const XML_Memory_Handling_Suite memory = {kcb_xml_allocate, kcb_xml_reallocate, kcb_xml_free};
    return XML_ParserCreate_MM("UTF-8", &memory, NULL);
}
