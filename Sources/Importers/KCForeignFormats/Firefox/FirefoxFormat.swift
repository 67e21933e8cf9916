internal import KCByteStreams
package import KCItemSources

/// The passwords of a profile of Firefox or Thunderbird: `logins.json`, and the keys to it in `key4.db`.
package struct FirefoxFormat: ForeignFormat {
    package let kind = ForeignKind.firefox

    private static let logins = "logins.json"
    private static let keys = "key4.db"
    private static let oldKeys = "key3.db"
    // Files by which a profile is known that holds no passwords.
    private static let lock = ".parentlock"

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        if let file = input.file { return Self.isLogins(file) || Self.isKeys(file) || Self.isOldKeys(file) }
        let profile = BrowserProfile(input)
        return try [Self.logins, Self.keys, Self.oldKeys].contains { try profile.isFolder(with: $0) }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let profile = BrowserProfile(input)
        let logins = try input.file.flatMap { Self.isLogins($0) ? $0 : nil } ?? profile.file(Self.logins)
        let database = try input.file.flatMap { Self.isKeys($0) ? $0 : nil } ?? profile.file(Self.keys)
        try profile.requireUnlocked([Self.lock, Self.keys], by: "Firefox or Thunderbird")
        guard let database else {
            let hasOldKeys = try input.file.map(Self.isOldKeys) ?? false || profile.file(Self.oldKeys) != nil
            guard !hasOldKeys else {
                throw ForeignFailure.refused(
                    title: "a profile of Firefox 57 or earlier, whose keys are in key3.db",
                    hint: "copy the profile, start Firefox 60 or 68 with the copy, and type the primary password once: "
                        + "it makes a key4.db")
            }
            throw ForeignFailure.needsFile(Self.keys)
        }
        guard let logins else { throw ForeignFailure.needsFile(Self.logins) }
        if input.file != nil, Self.isKeys(database), input.file === database {
            try profile.requireFinished()
        } else {
            try profile.requireFinished(Self.keys)
        }
        let keys = try open(database, secrets)
        let collector = RecordCollector(format: name, date: logins.modified)
        try FirefoxLogins(json: ForeignJSON(logins), collector: collector, keys: keys).read()
        collector.leaveOut("private key of a certificate", keys.privateKeyCount)
        return try collector.finish(details: "", isPlaintext: false)
    }

    /// Opens the keys, with an empty primary password or with the one of the user.
    private func open(_ database: ForeignFile, _ secrets: any ForeignSecrets) throws -> FirefoxKeys {
        let keys = try FirefoxKeys(database)
        if try keys.open(SecretBytes(capacity: 0)) { return keys }
        try secrets.password(.file(.firefox)) { password in
            guard try keys.open(password) else { throw ForeignFailure.wrongPassword }
        }
        return keys
    }

    private static func isLogins(_ file: ForeignFile) -> Bool {
        file.bytes.withBytes { bytes in
            JSONHead.names(["nextId", "logins"], in: bytes).count == 2
                || JSONHead.names(["logins", "encryptedPassword"], in: bytes).count == 2
        }
    }

    private static func isKeys(_ file: ForeignFile) -> Bool { file.isDatabase(with: ["nssPrivate", "metaData"]) }

    /// True for a hash table of Berkeley DB 1.85 with the name of the old keys.
    private static func isOldKeys(_ file: ForeignFile) -> Bool {
        file.name.exact == oldKeys.exact && file.starts(with: [0, 6, 0x15, 0x61])
    }
}
