#pragma once

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
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
