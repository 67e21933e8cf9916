internal import CKCSQLite
internal import Glibc
internal import KCByteStreams

extension KeychainStoreError {
    /// Converts a SQLite result code to an error that a caller can act on.
    ///
    /// - Parameters:
    ///   - code: an extended result code (sqlite.org/rescode.html).
    ///   - systemError: the `errno` behind it; 0 if there is none.
    ///   - path: the file for messages; nil for a database in memory.
    init(sqliteCode code: Int32, systemError: Int32 = 0, _ path: String? = nil) {
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .busy
        case SQLITE_FULL: self = .diskFull
        // Another process deleted or replaced the file while it was open.
        case SQLITE_READONLY where code == Extended.moved: self = path.map(Self.notFound) ?? .readOnly
        case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
        case SQLITE_CORRUPT where [EIO, ENXIO, ERANGE].contains(systemError):
            self = .system(code, systemError, path)
        case SQLITE_CORRUPT, SQLITE_FORMAT: self = .damaged("the database is malformed")
        // No row that this program writes exceeds the limit set in SQLite.
        case SQLITE_TOOBIG: self = .damaged("a row is larger than an item can be")
        case SQLITE_NOTADB: self = .notAKeychain(.notADatabase)
        case SQLITE_CONSTRAINT where Self.takenKeys.contains(code): self = .duplicateItem
        case SQLITE_INTERRUPT: self = .interrupted
        case SQLITE_IOERR, SQLITE_CANTOPEN: self = .system(code, systemError, path)
        default: self = .sqlite(code)
        }
    }

    /// The code for a journal that was deleted, which completes a change, and a folder that could not be synced afterwards.
    static let folderNotSynced = Extended.folderFsync

    /// The codes for a key that a unique index already has; other constraints are violated only by bugs in this
    /// program.
    private static let takenKeys: Set = [Extended.primaryKey, Extended.unique]

    // Swift cannot import the extended codes, which are C expressions.
    private enum Extended {
        static let primaryKey = SQLITE_CONSTRAINT | 6 << 8
        static let unique = SQLITE_CONSTRAINT | 8 << 8
        static let moved = SQLITE_READONLY | 4 << 8
        static let write = SQLITE_IOERR | 3 << 8
        static let fsync = SQLITE_IOERR | 4 << 8
        static let folderFsync = SQLITE_IOERR | 5 << 8
        static let truncate = SQLITE_IOERR | 6 << 8
        static let fstat = SQLITE_IOERR | 7 << 8
        static let unlock = SQLITE_IOERR | 8 << 8
        static let readLock = SQLITE_IOERR | 9 << 8
        static let delete = SQLITE_IOERR | 10 << 8
        static let noMemory = SQLITE_IOERR | 12 << 8
        static let access = SQLITE_IOERR | 13 << 8
        static let checkLock = SQLITE_IOERR | 14 << 8
        static let lock = SQLITE_IOERR | 15 << 8
        static let link = SQLITE_CANTOPEN | 6 << 8
    }

    private static func system(_ code: Int32, _ systemError: Int32, _ path: String?) -> KeychainStoreError {
        if code == Extended.noMemory { return .sqlite(SQLITE_NOMEM) }
        guard let path else { return .sqlite(code) }
        // SQLite itself checks for links, so there is no failed system call.
        if code == Extended.link { return .file(FileFailure(path, .notRegular)) }
        guard systemError != 0 else { return .sqlite(code) }
        if code & 0xff == SQLITE_CANTOPEN {
            switch systemError {
            case ENOENT, ENOTDIR: return .notFound(path)
            default: break
            }
        }
        return .file(FileFailure(path, .system(systemError, doing: activity(code))))
    }

    /// The activity that failed, worded to precede the file name in a message.
    private static func activity(_ code: Int32) -> String {
        switch code {
        case Extended.write: "writing"
        case Extended.fsync, Extended.folderFsync: "making durable"
        case Extended.truncate: "shortening"
        case Extended.lock, Extended.readLock, Extended.unlock, Extended.checkLock: "locking"
        case Extended.delete: "removing the journal of"
        case Extended.fstat, Extended.access: "examining"
        case _ where code & 0xff == SQLITE_CANTOPEN: "opening"
        default: "reading"
        }
    }

    /// SQLite's English description of a result code.
    package static func words(ofSQLiteCode code: Int32) -> String {
        unsafe String(cString: sqlite3_errstr(code))
    }
}
