internal import KCAsking
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText
internal import KCStoreTasks

/// The options about a store, as far as a command has them.
struct StoreOptions {
    var access: StoreAccess
    var use = StoreUse.reading
    var unencrypted = false
    var replace = false
    var replaceUnarchived = false
    var giveUpDeviceBinding = false
    /// True to make a keychain that does not exist without a passcode.
    var noPasscode = false

    /// The options of a command that has only these.
    ///
    /// - Parameter keyFile: how another program's file is opened.
    init(_ passcode: SecretSource?, _ unlocking: UnlockOptions, _ keyFile: FileKeyOption? = nil) {
        self.init(
            passcode, unlocking, keyFile: keyFile?.keyFile, withoutSandbox: keyFile?.sandbox.withoutSandbox ?? false)
    }

    init(_ passcode: SecretSource?, _ unlocking: UnlockOptions, keyFile: String?, withoutSandbox: Bool) {
        access = StoreAccess()
        access.key = .passcode(passcode)
        access.asksDesktop = unlocking.unlock
        access.file = FileAccess(password: passcode, keyFile: keyFile, withoutSandbox: withoutSandbox)
        access.file.passwordField = .passcode
    }

    /// The options of a backup.
    init(_ request: BackupRequest) {
        access = request.access
        use = .archiving
        unencrypted = request.isUnencrypted
    }

    /// The demands that the options make on a store.
    var demands: [StoreDemand] {
        let given: [(Bool, StoreDemand)] = [
            (unencrypted, .unencrypted), (replace, .replaces), (replaceUnarchived, .replacesUnarchived),
            (giveUpDeviceBinding, .givesUpBinding), (noPasscode, .noPasscode),
        ]
        return access.demands + given.compactMap { $0 ? $1 : nil }
    }
}
