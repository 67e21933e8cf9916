internal import KCAsking
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
package import KCDeviceIdentity
internal import KCStoreTasks

/// The lines of a job in its `StateFile`.
///
/// ```
/// time daily
/// folder /home/ada/backups
/// place /mnt/disk/backups
/// stores named
/// store secret-service:
/// mode encrypted
/// recipient age1…
/// keep-daily 7
/// on-failure mail -s 'no backup' ada
/// ```
extension Job {
    /// True if a line can hold each setting.
    package var hasOnlyLines: Bool {
        let backup = request.backup
        let texts =
            copyTo + [request.folder, place] + [time, fleet, onSuccess, onFailure].compactMap(\.self)
            + [backup.storeName, backup.access.file.format].compactMap(\.self) + backup.files + backup.commands
            + (backup.keys.map { $0.restoring.keys + $0.inspecting } ?? [])
        return texts.allSatisfy(StateFields.isOneLine)
    }

    package var fields: StateFields {
        var fields = StateFields()
        fields.add("time", time)
        fields.add("on-change", onChange)
        fields.add("folder", request.folder)
        fields.add("place", place)
        fields.add("stores", StoresWord(backup.stores).rawValue)
        fields.add("store", backup.storeName)
        fields.add("passcode", backup.access.key.passcode?.text)
        fields.add("escrow", backup.access.key.escrow?.text)
        fields.add("format", backup.access.file.format)
        fields.add("password", backup.access.file.password?.text)
        fields.add("key-file", backup.access.file.keyFile)
        fields.add("without-sandbox", backup.access.file.withoutSandbox)
        fields.add("skip-locked", backup.access.skipsLocked)
        fields.add("accept-missing", backup.access.acceptMissing)
        fields.add("mode", ModeWord(backup.mode).rawValue)
        if let keys = backup.keys {
            fields.add("passphrase", keys.passphrase?.text)
            fields.add("recipient", keys.restoring.keys)
            fields.add("recipients-file", keys.restoring.files)
            fields.add("recipients-passphrase", keys.restoring.passphrase?.text)
            fields.add("inspect-recipient", keys.inspecting)
        }
        fields.add("if-changed", request.ifChanged)
        fields.add("lock-wait", request.wait)
        for (rule, count) in keep.counts { fields.add("keep-\(rule.rawValue)", count) }
        fields.add("keep-within", keep.within?.description)
        fields.add("copy-to", copyTo)
        fields.add("copies-readable", copiesReadable)
        // A job that was added without the option has no such line.
        if verifiedCopies != Self.usualVerifiedCopies { fields.add("verify-copies", String(verifiedCopies)) }
        fields.add("fleet", fleet)
        fields.add("on-success", onSuccess)
        fields.add("on-failure", onFailure)
        fields.add("hook-timeout", hookTimeout)
        return fields
    }

    /// Parses what `fields` returns; nil for anything else.
    package init?(name: String, _ fields: StateFields) {
        guard let folder = fields.value("folder"), let place = fields.value("place"),
            let stores = BackupRequest.Stores(fields), let mode = BackupRequest.Mode(fields)
        else { return nil }
        var backup = BackupRequest(of: stores)
        backup.mode = mode
        backup.access.key = fields.source("escrow").map { .escrow($0) } ?? .passcode(fields.source("passcode"))
        backup.access.file = FileAccess(
            format: fields.value("format"), password: fields.source("password"), keyFile: fields.value("key-file"),
            withoutSandbox: fields.flag("without-sandbox"))
        backup.access.skipsLocked = fields.flag("skip-locked")
        backup.access.acceptMissing = fields.values("accept-missing")
        var request = FolderBackupRequest(backup, to: folder)
        request.ifChanged = fields.flag("if-changed")
        request.wait = fields.seconds("lock-wait")
        self.init(name: name, request, place: place)
        time = fields.value("time")
        onChange = fields.flag("on-change")
        for rule in Retention.Rule.allCases { keep[rule] = fields.number("keep-\(rule.rawValue)") ?? 0 }
        keep.within = fields.value("keep-within").flatMap { TimeSpan($0) }
        copyTo = fields.values("copy-to")
        copiesReadable = fields.flag("copies-readable")
        verifiedCopies = fields.value("verify-copies").flatMap { Int($0) } ?? Self.usualVerifiedCopies
        fleet = fields.value("fleet")
        onSuccess = fields.value("on-success")
        onFailure = fields.value("on-failure")
        hookTimeout = fields.seconds("hook-timeout")
        // Every job has exactly one spelling, so this detects lines that were not read.
        guard time != nil || onChange, self.fields == fields else { return nil }
    }
}

private enum StoresWord: String {
    case standard, named, home
    case everyKeychain = "every-keychain"

    init(_ stores: BackupRequest.Stores) {
        switch stores {
        case .standard: self = .standard
        case .named: self = .named
        case .everyKeychain: self = .everyKeychain
        case .home: self = .home
        }
    }
}

private enum ModeWord: String {
    case encrypted, unencrypted

    init(_ mode: BackupRequest.Mode) {
        switch mode {
        case .encrypted: self = .encrypted
        case .unencrypted: self = .unencrypted
        }
    }
}

extension BackupRequest.Stores {
    fileprivate init?(_ fields: StateFields) {
        switch fields.value("stores").flatMap(StoresWord.init) {
        case .standard: self = .standard
        case .named:
            guard let name = fields.value("store") else { return nil }
            self = .named(name)
        case .everyKeychain: self = .everyKeychain
        case .home: self = .home
        case nil: return nil
        }
    }
}

extension BackupRequest.Mode {
    fileprivate init?(_ fields: StateFields) {
        switch fields.value("mode").flatMap(ModeWord.init) {
        case .encrypted:
            self = .encrypted(
                ArchiveKeyRequest(
                    passphrase: fields.source("passphrase"),
                    restoring: RecipientRequest(
                        keys: fields.values("recipient"), files: fields.values("recipients-file"),
                        passphrase: fields.source("recipients-passphrase")),
                    inspecting: fields.values("inspect-recipient")))
        case .unencrypted: self = .unencrypted
        case nil: return nil
        }
    }
}

// A value that is not as `add` writes it is read as nothing, so that the fields read differ from those written.
extension StateFields {
    fileprivate mutating func add(_ name: String, _ isSet: Bool) { if isSet { add(name, "yes") } }

    fileprivate mutating func add(_ name: String, _ time: Duration?) {
        add(name, time.map { String($0.components.seconds) })
    }

    fileprivate mutating func add(_ name: String, _ count: Int) { if count > 0 { add(name, String(count)) } }

    fileprivate func value(_ name: String) -> String? { values(name).first }

    fileprivate func flag(_ name: String) -> Bool { value(name)?.exact == "yes".exact }

    fileprivate func number(_ name: String) -> Int? { value(name).flatMap { Int($0) } }

    fileprivate func seconds(_ name: String) -> Duration? { number(name).map { .seconds($0) } }

    fileprivate func source(_ name: String) -> SecretSource? { value(name).flatMap { SecretSource($0) } }
}
