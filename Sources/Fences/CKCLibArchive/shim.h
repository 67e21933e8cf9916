#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>

/* libarchive as function pointers that are looked up on demand: ten libraries come with it, and only a run that writes
   an archive or reads a zip file needs them. The types are those of its headers. */

#define CARCHIVE_FUNCTIONS(F) \
    F(archive_entry_filetype) \
    F(archive_entry_free) \
    F(archive_entry_is_encrypted) \
    F(archive_entry_new) \
    F(archive_entry_pathname_utf8) \
    F(archive_entry_set_filetype) \
    F(archive_entry_set_mtime) \
    F(archive_entry_set_pathname) \
    F(archive_entry_set_perm) \
    F(archive_entry_set_size) \
    F(archive_errno) \
    F(archive_error_string) \
    F(archive_read_data) \
    F(archive_read_free) \
    F(archive_read_new) \
    F(archive_read_next_header) \
    F(archive_read_open_memory) \
    F(archive_read_support_format_zip_seekable) \
    F(archive_write_close) \
    F(archive_write_data) \
    F(archive_write_finish_entry) \
    F(archive_write_free) \
    F(archive_write_header) \
    F(archive_write_new) \
    F(archive_write_open) \
    F(archive_write_set_bytes_per_block) \
    F(archive_write_set_format_ustar)

struct carchive_functions {
#define CARCHIVE_FIELD(name) __typeof__(name) *name;
    CARCHIVE_FUNCTIONS(CARCHIVE_FIELD)
#undef CARCHIVE_FIELD
};

/* Fills the table; false if the library or a function is missing. */
static inline bool carchive_load(struct carchive_functions *table, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return false;
#define CARCHIVE_FIND(name) \
    if (!(table->name = (__typeof__(name) *)dlsym(handle, #name))) return false;
    CARCHIVE_FUNCTIONS(CARCHIVE_FIND)
#undef CARCHIVE_FIND
    return true;
}

/* While on, the C library overwrites each block of more than 1 KiB when it is freed, in all threads (mallopt(3), M_PERTURB):
   libarchive has no allocator to replace, and does not wipe its windows. New blocks are zero then. */
static inline void carchive_wipe_freed(bool on) { mallopt(M_PERTURB, on ? 0xff : 0); }

/* Swift does not import a macro that contains a cast. */
static const unsigned int carchive_regular_file = AE_IFREG;
