#pragma once

#include <linux/stat.h>
#include <stddef.h>

/* Swift cannot call renameat2, which is declared only for GNU sources. */

/* Renames unless the new name is taken; returns -1 and sets errno like renameat2(2) with RENAME_NOREPLACE. */
static inline int cfiles_rename_to_free_name(int folder, const char *name, int new_folder, const char *new_name) {
    extern int renameat2(int, const char *, int, const char *, unsigned int);
    return renameat2(folder, name, new_folder, new_name, 1);
}

/* Exchanges the files of two names; returns -1 and sets errno like renameat2(2) with RENAME_EXCHANGE. */
static inline int cfiles_exchange_names(int folder, const char *name, int other_folder, const char *other) {
    extern int renameat2(int, const char *, int, const char *, unsigned int);
    return renameat2(folder, name, other_folder, other, 2);
}

/* True if chattr(1) has made a file or folder immutable or append-only; false where the kernel cannot tell.
   An empty name means the folder itself. */
static inline int cfiles_is_kept_from_changes(int folder, const char *name) {
    const int empty_path = 0x1000, no_follow = 0x100;
    extern int statx(int, const char *, int, unsigned int, struct statx *);
    struct statx status = {0};
    if (statx(folder, name, empty_path | no_follow, 0, &status) != 0) return 0;
    return (status.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
}

/* Swift does not import <sys/xattr.h>, and cannot call fcntl with what is declared only for GNU sources. */

static inline long cfiles_list_attributes(int file, void *names, size_t size) {
    extern long flistxattr(int, char *, size_t);
    return flistxattr(file, (char *)names, size);
}

static inline long cfiles_get_attribute(int file, const char *name, void *value, size_t size) {
    extern long fgetxattr(int, const char *, void *, size_t);
    return fgetxattr(file, name, value, size);
}

static inline int cfiles_set_attribute(int file, const char *name, const void *value, size_t size) {
    extern int fsetxattr(int, const char *, const void *, size_t, int);
    return fsetxattr(file, name, value, size, 0);
}

/* Takes a read lease (fcntl(2), F_SETLEASE), which fails with EAGAIN if the file is open for writing. Anyone who
   opens it for writing later waits until the lease ends, and the signal for that is one that is ignored unless it is
   handled. */
static inline int cfiles_hold_against_writers(int file) {
    const int set_signal = 10, set_lease = 1024, read_lease = 0, urgent_data = 23;
    extern int fcntl(int, int, ...);
    if (fcntl(file, set_signal, urgent_data) != 0) return -1;
    return fcntl(file, set_lease, read_lease);
}

/* Ends the lease. */
static inline int cfiles_release_to_writers(int file) {
    const int set_lease = 1024, no_lease = 2;
    extern int fcntl(int, int, ...);
    return fcntl(file, set_lease, no_lease);
}

/* True while the lease holds and no process has asked to open the file for writing (fcntl(2), F_GETLEASE). */
static inline int cfiles_is_held_against_writers(int file) {
    const int get_lease = 1025, read_lease = 0;
    extern int fcntl(int, int, ...);
    return fcntl(file, get_lease) == read_lease;
}
