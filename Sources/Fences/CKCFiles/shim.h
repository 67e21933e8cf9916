#pragma once

/* Swift cannot call renameat2, which is declared only for GNU sources. */

/* Renames unless the new name is taken; returns -1 and sets errno like renameat2(2) with RENAME_NOREPLACE. */
static inline int cfiles_rename_to_free_name(int folder, const char *name, int new_folder, const char *new_name) {
    extern int renameat2(int, const char *, int, const char *, unsigned int);
    return renameat2(folder, name, new_folder, new_name, 1);
}
