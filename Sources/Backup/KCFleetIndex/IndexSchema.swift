internal import KCKeychainStore

/// The tables of an index (docs/fleet.md, "The tables of an index").
///
/// Machines rarely change their items, and a fleet has hundreds of archives of each. So the items of an archive are
/// stored once for all archives of a keychain that have the same ones: an archive points to its contents, and a row of
/// `holds` says that an item is in such contents.
enum IndexSchema {
    static let format = PrivateDatabase.Format(
        // "kcfi" in ASCII.
        applicationID: 0x6b63_6669, version: 1, tables: tables, fullText: "words")

    private static let tables = [
        // `used` is what the machine has used of its budget (`IndexBudget`).
        "CREATE TABLE machine(id INTEGER PRIMARY KEY,device TEXT NOT NULL,name TEXT,used INTEGER NOT NULL DEFAULT 0)"
            + " STRICT",
        "CREATE UNIQUE INDEX machine_device ON machine(device)",
        // A keychain of a machine; `newest` is when its newest archive was made, and `contents` what that one has.
        "CREATE TABLE series(id INTEGER PRIMARY KEY,machine INTEGER NOT NULL,kind TEXT NOT NULL,name TEXT NOT NULL,"
            + "newest INTEGER NOT NULL,contents INTEGER NOT NULL) STRICT",
        "CREATE UNIQUE INDEX series_source ON series(machine,kind,name)",
        // `last` is when the newest archive with these contents was made.
        "CREATE TABLE contents(id INTEGER PRIMARY KEY,series INTEGER NOT NULL,digest BLOB NOT NULL,"
            + "items INTEGER NOT NULL,last INTEGER NOT NULL) STRICT",
        "CREATE UNIQUE INDEX contents_digest ON contents(series,digest)",
        // `problem` says why an archive was not read; it then has nothing that follows, but for `keys`.
        "CREATE TABLE archive(id INTEGER PRIMARY KEY,machine INTEGER NOT NULL,name TEXT NOT NULL,size INTEGER NOT NULL,"
            + "problem TEXT,detail TEXT,keys BLOB,archive BLOB,created INTEGER,series INTEGER,contents INTEGER) STRICT",
        "CREATE UNIQUE INDEX archive_file ON archive(machine,name,size)",
        "CREATE UNIQUE INDEX archive_archive ON archive(machine,archive)",
        "CREATE INDEX archive_time ON archive(series,created)",
        "CREATE INDEX archive_problem ON archive(problem) WHERE problem IS NOT NULL",
        "CREATE TABLE item(id INTEGER PRIMARY KEY,series INTEGER NOT NULL,digest BLOB NOT NULL,uuid BLOB NOT NULL,"
            + "class TEXT NOT NULL,service TEXT,server TEXT,account TEXT,label TEXT,agrp TEXT NOT NULL,"
            + "pdmn TEXT NOT NULL,created INTEGER NOT NULL,modified INTEGER NOT NULL) STRICT",
        "CREATE UNIQUE INDEX item_digest ON item(series,digest)",
        "CREATE TABLE holds(item INTEGER NOT NULL,contents INTEGER NOT NULL,PRIMARY KEY(item,contents)) STRICT,"
            + " WITHOUT ROWID",
        "CREATE INDEX holds_contents ON holds(contents,item)",
        // The words of an item, by its ID. `machine` is the ID of the device as one word, so that a search of one
        // machine need not look at what others have.
        "CREATE VIRTUAL TABLE words USING fts5(service,server,account,label,machine,content='',columnsize=0,"
            + "tokenize=\"unicode61 remove_diacritics 2\")",
    ]

    /// Finds an archive that need not be read; `bind(_:_:)` binds its parameters.
    ///
    /// A damaged archive may have been repaired, and one of a newer format is read by a newer program.
    static let known = """
        SELECT 1 FROM archive JOIN machine ON machine.id = archive.machine WHERE device = ?1 AND archive.name = ?2 \
        AND size = ?3 AND (problem IS NULL OR problem IN ('other-device', 'limit', 'copy') \
        OR problem = 'no-key' AND keys = ?4)
        """
}
