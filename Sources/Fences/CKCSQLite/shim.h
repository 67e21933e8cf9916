#pragma once

#include <endian.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Swift can neither call variadic functions nor import the cast in SQLITE_TRANSIENT. */

static inline int csqlite_set_flag(sqlite3 *connection, int option, int value) {
    return sqlite3_db_config(connection, option, value, (int *)0);
}

/* SQLite treats a null pointer as NULL, so an empty blob needs a separate function. */
static inline int csqlite_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                      : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int csqlite_bind_text_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_text(statement, index, count == 0 ? "" : (const char *)bytes, count, SQLITE_TRANSIENT);
}

/* Waiting for the lock of another connection. SQLite's own handler waits longer from time to time, up to 100 ms, so that
 * under load it comes too late again and again. */

/* Pauses before another try; 0 if `limit` milliseconds have been waited. */
static inline int csqlite_pause(void *limit, int tries) {
    /* Microseconds: short while a commit may end at any moment, then long enough to cost next to nothing. */
    const int64_t first = 200, later = 1000, count = 500;
    int64_t waited = tries < count ? tries * first : count * first + (tries - count) * later;
    if (waited >= (int64_t)(intptr_t)limit * 1000) return 0;
    struct timespec pause = {0, (tries < count ? first : later) * 1000};
    nanosleep(&pause, (struct timespec *)0);
    return 1;
}

/* A database file that locks out its readers only when the file itself is about to be written.
 *
 * SQLite takes the exclusive lock before it makes the journal durable, so that readers wait for all writes to the disk.
 * Until the file itself is written, the reserved lock is enough: other writers are kept out, readers see the old state,
 * and a journal is not rolled back while its writer lives (sqlite.org/atomiccommit.html, 3.7 and 3.8). */
struct csqlite_file {
    /* First, since this is what the methods of the file lead to. */
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    int limit;
    /* Returns true once nothing is to be waited for any more. */
    int (*is_stopped)(void);
    /* The lock that SQLite believes to have. */
    int lock;
    /* True while this is the exclusive lock, and in truth the file has the reserved one: nothing has been written. */
    int is_late;
    /* Why the lock could not be taken in this transaction; SQLITE_BUSY if readers did not let go of the file in time. */
    int failure;
};

static inline struct csqlite_file *csqlite_file_of(sqlite3_file *file) { return (struct csqlite_file *)file->pMethods; }

static inline int csqlite_file_lock(sqlite3_file *file, int lock) {
    struct csqlite_file *own = csqlite_file_of(file);
    /* A new transaction; one that follows another without giving up the shared lock begins with the reserved one. */
    if (lock == SQLITE_LOCK_SHARED || lock == SQLITE_LOCK_RESERVED) own->failure = SQLITE_OK;
    /* From the shared lock, it is for rolling back the journal of a writer that died, which must not be late. */
    if (lock == SQLITE_LOCK_EXCLUSIVE && own->lock == SQLITE_LOCK_RESERVED) {
        own->is_late = 1;
        own->lock = lock;
        return SQLITE_OK;
    }
    int code = own->original->xLock(file, lock);
    if (code == SQLITE_OK && lock > own->lock) own->lock = lock;
    return code;
}

static inline int csqlite_file_unlock(sqlite3_file *file, int lock) {
    struct csqlite_file *own = csqlite_file_of(file);
    own->is_late = 0;
    own->lock = lock;
    return own->original->xUnlock(file, lock);
}

/* Takes the exclusive lock in truth. In the middle of a commit, SQLite does not expect "busy". */
static inline int csqlite_file_catch_up(struct csqlite_file *own, sqlite3_file *file) {
    int code = own->original->xLock(file, SQLITE_LOCK_EXCLUSIVE);
    for (int tries = 0; code == SQLITE_BUSY && !own->is_stopped(); tries++) {
        if (!csqlite_pause((void *)(intptr_t)own->limit, tries)) break;
        code = own->original->xLock(file, SQLITE_LOCK_EXCLUSIVE);
    }
    own->failure = code;
    own->is_late = code != SQLITE_OK;
    return code == SQLITE_BUSY ? SQLITE_IOERR_LOCK : code;
}

static inline int csqlite_file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct csqlite_file *own = csqlite_file_of(file);
    if (own->is_late) {
        /* After a failure, this is the roll back, which writes what is in the file anyway. */
        if (own->failure != SQLITE_OK) return SQLITE_OK;
        int code = csqlite_file_catch_up(own, file);
        if (code != SQLITE_OK) return code;
    }
    return own->original->xWrite(file, bytes, count, offset);
}

static inline int csqlite_file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    struct csqlite_file *own = csqlite_file_of(file);
    if (own->is_late) {
        if (own->failure != SQLITE_OK) return SQLITE_OK;
        int code = csqlite_file_catch_up(own, file);
        if (code != SQLITE_OK) return code;
    }
    return own->original->xTruncate(file, size);
}

/* Lets the file of a connection without a transaction lock out its readers late.
 *
 * Returns what must be freed after the connection is closed; null without memory, or if the connection has no file. */
static inline struct csqlite_file *csqlite_lock_late(sqlite3 *connection, int milliseconds, int (*is_stopped)(void)) {
    sqlite3_file *file = (sqlite3_file *)0;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file->pMethods)
        return (struct csqlite_file *)0;
    struct csqlite_file *own = (struct csqlite_file *)calloc(1, sizeof *own);
    if (!own) return own;
    own->methods = *file->pMethods;
    own->methods.xLock = csqlite_file_lock;
    own->methods.xUnlock = csqlite_file_unlock;
    own->methods.xWrite = csqlite_file_write;
    own->methods.xTruncate = csqlite_file_truncate;
    own->original = file->pMethods;
    own->limit = milliseconds;
    own->is_stopped = is_stopped;
    file->pMethods = &own->methods;
    return own;
}

/* A database file each of whose pages ends with a checksum, in bytes that SQLite leaves alone.
 *
 * SQLite believes the keys and pointers of a page, so that rot can make rows vanish or lead to others. Here rot is found
 * whenever a page is read. SQLite must write each page that it may read again, which it does while
 * "secure_delete" is on; otherwise pages that were freed before they were written are holes. */
struct csqlite_checked_file {
    /* First, since this is what the methods of the file lead to. */
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    /* The application ID of files that have checksums. */
    uint32_t application;
};

enum { csqlite_page_size = 4096, csqlite_checksum_size = 8 };

/* A checksum of a page and its place. Each step can be undone, so that a change within eight bytes always changes it. */
static inline uint64_t csqlite_checksum(const uint8_t *page, int64_t offset) {
    uint64_t sum = (uint64_t)offset + 1;
    for (int at = 0; at < csqlite_page_size - csqlite_checksum_size; at += 8) {
        uint64_t word;
        memcpy(&word, page + at, sizeof word);
        sum = (sum ^ le64toh(word)) * 0x9e3779b97f4a7c15;
        sum ^= sum >> 32;
    }
    return htole64(sum);
}

static inline void csqlite_seal_page(uint8_t *page, int64_t offset) {
    uint64_t sum = csqlite_checksum(page, offset);
    memcpy(page + csqlite_page_size - csqlite_checksum_size, &sum, sizeof sum);
}

/* Reads a page or a part of one. */
static inline int csqlite_checked_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    struct csqlite_checked_file *own = (struct csqlite_checked_file *)file->pMethods;
    int64_t within = offset % csqlite_page_size, start = offset - within;
    uint8_t page[csqlite_page_size];
    /* What the file lacks reads as zeros. */
    int code = own->original->xRead(file, page, csqlite_page_size, start);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
    uint64_t sum = csqlite_checksum(page, start);
    int is_sealed = memcmp(page + csqlite_page_size - csqlite_checksum_size, &sum, sizeof sum) == 0;
    if (is_sealed && count <= csqlite_page_size - within) {
        memcpy(bytes, page + within, (size_t)count);
        return SQLITE_OK;
    }
    uint32_t application;
    memcpy(&application, page + 68, sizeof application);
    int is_other = memcmp(page, "SQLite format 3", 16) != 0 || be32toh(application) != own->application;
    return start == 0 && is_other ? SQLITE_NOTADB : SQLITE_CORRUPT;
}

static inline int csqlite_checked_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    const sqlite3_io_methods *original = ((struct csqlite_checked_file *)file->pMethods)->original;
    if (count != csqlite_page_size || offset % csqlite_page_size != 0) return SQLITE_IOERR_WRITE;
    uint8_t page[csqlite_page_size];
    memcpy(page, bytes, sizeof page);
    csqlite_seal_page(page, offset);
    return original->xWrite(file, page, count, offset);
}

/* Makes room for checksums in an empty database. */
static inline int csqlite_reserve_checksums(sqlite3 *connection) {
    int count = csqlite_checksum_size;
    return sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &count);
}

/* Writes the checksums of the pages of a database in memory. */
static inline void csqlite_seal_pages(uint8_t *bytes, int64_t count) {
    for (int64_t offset = 0; offset + csqlite_page_size <= count; offset += csqlite_page_size)
        csqlite_seal_page(bytes + offset, offset);
}

/* Checks and writes the checksums of the file of a connection, which has read no page.
 *
 * Returns what must be freed after the connection is closed; null without memory, or if the connection has no file. */
static inline struct csqlite_checked_file *csqlite_check_pages(sqlite3 *connection, uint32_t application) {
    sqlite3_file *file = (sqlite3_file *)0;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file->pMethods)
        return (struct csqlite_checked_file *)0;
    struct csqlite_checked_file *own = (struct csqlite_checked_file *)calloc(1, sizeof *own);
    if (!own) return own;
    own->methods = *file->pMethods;
    /* Without memory maps and a write-ahead log, whose pages would pass by these two. */
    own->methods.iVersion = 1;
    own->methods.xRead = csqlite_checked_read;
    own->methods.xWrite = csqlite_checked_write;
    own->original = file->pMethods;
    own->application = application;
    file->pMethods = &own->methods;
    return own;
}
