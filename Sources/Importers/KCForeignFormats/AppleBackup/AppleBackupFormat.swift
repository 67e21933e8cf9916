internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Encrypted backups of an iPhone or iPad, as created by Finder, iTunes, Apple Devices and idevicebackup2.
package struct AppleBackupFormat: ForeignFormat {
    package let kind = ForeignKind.appleBackup

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard case .folder = input.content else { return false }
        return try manifest(BackupFolder(path: input.path)) != nil
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        let folder = BackupFolder(path: input.path)
        guard case .folder = input.content, let (manifest, file) = try manifest(folder) else {
            throw ForeignFailure.notOfFormat(title: title)
        }
        func member(_ name: String, of node: Int) -> Int? { manifest.member(name, of: node) }
        guard manifest.number(member("IsEncrypted", of: manifest.root)) == 1 else {
            throw ForeignFailure.refused(
                title: "a backup without a password, whose keychain opens only on its own device",
                hint: "choose 'Encrypt local backup' in Finder or iTunes, back up again, and import that")
        }
        if try folder.file("Manifest.db") == nil, try folder.file("Manifest.mbdb") != nil {
            throw ForeignFailure.refused(
                title: "a backup of iOS 9 or earlier", hint: "back up with a newer iOS, and import that")
        }
        guard let bag = manifest.data(member("BackupKeyBag", of: manifest.root)) else {
            throw ForeignFailure.damaged("the manifest has no keys")
        }
        let keybag = try BackupKeybag(bag)
        var keys: BackupClassKeys?
        try secrets.password(.file(.appleBackup)) { password in keys = try keybag.open(password) }
        guard let keys else { throw ForeignFailure.wrongPassword }
        let list = try folder.keychain(manifest, keys)
        let collector = RecordCollector(format: name, date: file.modified)
        try BackupItems(list, keys, collector).add()
        let lockdown = member("Lockdown", of: manifest.root)
        let version = manifest.text(lockdown.flatMap { manifest.member("ProductVersion", of: $0) })
        return try collector.finish(details: version.map { "iOS \($0)" } ?? "", isPlaintext: false)
    }

    /// The manifest of a folder that is a backup; nil for any other folder.
    private func manifest(_ folder: BackupFolder) throws -> (list: PropertyList, file: ForeignFile)? {
        guard let file = try folder.file("Manifest.plist") else { return nil }
        let list: PropertyList
        do throws(ForeignFailure) {
            list = try file.bytes.withBytes { bytes throws(ForeignFailure) in try PropertyList(bytes) }
        } catch {
            // Another program's file or a damaged one; reading it would not tell which either.
            return nil
        }
        let isBackup = ["BackupKeyBag", "IsEncrypted"].contains { list.member($0, of: list.root) != nil }
        return isBackup ? (list, file) : nil
    }
}
