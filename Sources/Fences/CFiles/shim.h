#pragma once

/* What Swift cannot call: renameat2 is declared for GNU sources alone. */

/* Renames unless the new name is taken; -1 and errno as renameat2(2) with RENAME_NOREPLACE says. */
static inline int cfiles_rename_to_free_name(int folder, const char *name, int new_folder, const char *new_name) {
    extern int renameat2(int, const char *, int, const char *, unsigned int);
    return renameat2(folder, name, new_folder, new_name, 1);
}
