internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// A backup of an iPhone or iPad in the layout of Finder, iTunes and idevicebackup2: a folder with a manifest.
struct BackupFolder {
    let path: String

    /// The SHA-1 hash of the keychain's domain and path, which is its file name in every backup.
    private static let keychainID = "51a4616e576dd33cd2abadfea874eb8ff246bf0e"

    /// The file with the given name; nil if there is none.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    func file(_ name: String) throws -> ForeignFile? {
        do {
            return try ForeignFile(reading: OpenFile.reading(path + "/" + name))
        } catch let failure as FileFailure where failure.problem == .notFound {
            return nil
        }
    }

    /// The decrypted list of the keychain's items.
    ///
    /// - Throws: `ForeignFailure`, `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    func keychain(_ manifest: PropertyList, _ keys: BackupClassKeys) throws -> PropertyList {
        guard let database = try file("Manifest.db") else { throw ForeignFailure.needsFile("Manifest.db") }
        guard let wrapped = manifest.data(manifest.member("ManifestKey", of: manifest.root)) else {
            throw ForeignFailure.damaged("the manifest has no key")
        }
        let record = try record(of: Self.decrypted(database, wrapped, keys))
        let name = Self.keychainID.prefix(2) + "/" + Self.keychainID
        guard let content = try file(String(name)) else { throw ForeignFailure.needsFile(String(name)) }
        var plain = try Self.decrypted(content, record.key, keys)
        guard plain.count >= record.size else { throw ForeignFailure.damaged("the keychain in it is truncated") }
        plain.removeLast(plain.count - record.size)
        return try plain.withBytes { bytes throws(ForeignFailure) in try PropertyList(bytes) }
    }

    /// The size of the keychain's file and its wrapped key, preceded by its class, as stated in the manifest.
    private func record(of database: consuming SecretBytes) throws -> (size: Int, key: [UInt8]) {
        let rows = try ForeignDatabase(Self.cut(database), "Manifest.db").rows(
            "SELECT file FROM Files WHERE fileID = ? AND domain = ? AND relativePath = ?",
            [Self.keychainID, "KeychainDomain", "keychain-backup.plist"], limit: 2)
        guard rows.count == 1, let row = rows[0][0].bytes else {
            throw ForeignFailure.damaged("the manifest has no keychain")
        }
        let archive = try PropertyList(row.span)
        let objects = archive.values(archive.member("$objects", of: archive.root)) ?? []
        func object(_ reference: Int?) -> Int? {
            guard let uid = archive.uid(reference) else { return reference }
            return objects.indices.contains(uid) ? objects[uid] : nil
        }
        let file = object(archive.member("root", of: archive.member("$top", of: archive.root)))
        let key = object(archive.member("EncryptionKey", of: file))
        guard let size = archive.number(archive.member("Size", of: file)),
            (0...Int64(ForeignFile.sizeLimit)).contains(size),
            let wrapped = archive.data(key) ?? archive.data(archive.member("NS.data", of: key))
        else { throw ForeignFailure.damaged("the manifest does not say how the keychain is encrypted") }
        return (Int(size), wrapped)
    }

    /// Decrypts a file with its own key, which is wrapped with the key of a protection class.
    private static func decrypted(
        _ file: ForeignFile, _ wrapped: [UInt8], _ keys: BackupClassKeys
    ) throws -> SecretBytes {
        guard wrapped.count == 44 else { throw ForeignFailure.damaged("a key has the wrong size") }
        let number = wrapped.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let key = try keys.unwrap(Array(wrapped.dropFirst(4)), of: number) else {
            throw ForeignFailure.damaged("a file has a protection class that the password does not open")
        }
        guard file.bytes.count.isMultiple(of: 16) else { throw ForeignFailure.damaged("a file is truncated") }
        let iv = [UInt8](repeating: 0, count: 16)
        return try file.bytes.withBytes { bytes throws(CryptographyFailure) in
            try BlockCipher.decrypt(bytes, .aes256CBC, key: key, iv: iv.span)
        }
    }

    /// Removes the padding after the database, which not all programs write.
    private static func cut(_ database: consuming SecretBytes) throws(ForeignFailure) -> SecretBytes {
        let size: UInt64? = database.withBytes { bytes in
            guard bytes.count >= 100, bytes.matches("SQLite format 3\0".utf8) else { return nil }
            let page = UInt64(bytes[16]) << 8 | UInt64(bytes[17])
            let pages = (28..<32).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) }
            return (page == 1 ? 65_536 : page) * pages
        }
        guard let size, size >= 512, size <= UInt64(database.count) else {
            throw .damaged("Manifest.db is not a database")
        }
        database.removeLast(database.count - Int(size))
        return database
    }
}
