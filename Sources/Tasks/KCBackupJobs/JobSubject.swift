internal import KCAgeEncryption
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
package import KCDeviceIdentity
internal import KCFleet
internal import KCItemStores
package import KCLocalKeychains
internal import KCRemotes

// The subjects of a job's backups.

extension Job {
    /// True if the job backs up a keychain.
    package func covers(_ keychain: LocalKeychain) -> Bool {
        if backup.isOfSeveral { return true }
        return [keychain.name.exact, keychain.path.exact].contains(self.keychain?.exact)
    }

    /// True if the job makes the archives of the desktop keyring, or of the part of it, with this name.
    func covers(keyring name: String) -> Bool {
        let own = isOfHome ? DesktopKeyring.all.name : keychain
        return own?.exact == name.exact
    }

    /// The store that the job names; nil for all.
    package var keychain: String? { backup.storeName }

    /// True if the job backs up the desktop keyring, which is reached over the session bus of its user.
    package var isOfDesktop: Bool { DesktopKeyring(keychain) != nil || isOfHome }

    /// True if the job backs up everything in the home.
    package var isOfHome: Bool { backup.stores == .home }

    /// The folders that it copies to, among them that of the device in the fleet.
    package func copyFolders(of device: DeviceID) -> [String] {
        guard let own = fleetArchives(of: device), !copyTo.contains(where: { $0.exact == own.exact }) else {
            return copyTo
        }
        return copyTo + [own]
    }

    /// The folder of the device in the fleet; nil for none.
    package func fleetArchives(of device: DeviceID) -> String? {
        fleet.flatMap { RemoteLocation($0) }.map { FleetFolder.archives(in: $0, of: device).text }
    }

    /// The folders outside the data folder that the job writes to, without links and `..`; they may not exist yet.
    var writtenFolders: [String] {
        let places = [place] + copyTo.filter { $0.exact.hasPrefix("/") }.map(CatalogueFile.place)
        guard let keychain, keychain.exact.hasPrefix("/") else { return places }
        // SQLite makes files next to that of a keychain.
        return places + [CatalogueFile.place(of: Path.split(keychain).folder)]
    }

    /// True if the job starts other programs: the commands that it was given, rclone, plugins of age, and gpg for a store of
    /// pass.
    package var startsPrograms: Bool {
        if copyTo.contains(where: { RemoteLocation($0) != nil }) || fleet != nil || hasPluginKey { return true }
        if onSuccess != nil || onFailure != nil || !backup.commands.isEmpty { return true }
        guard let path = backup.storeFile else { return false }
        // A path with nothing there now may be a store, on another disk.
        return Path.isFile(path + "/.gpg-id") || !(Path.isFile(path) || Path.isFolder(path))
    }

    /// True if only a plugin of age encrypts to one of its public keys; what an encrypted file of keys has does not show.
    private var hasPluginKey: Bool {
        guard let keys = backup.keys else { return false }
        if (keys.restoring.keys + keys.inspecting).contains(where: PluginName.isOfPlugin(recipient:)) { return true }
        return keys.restoring.files.contains { path in
            guard let text = JobStarter.text(path) else { return false }
            return text.exact.split(separator: "\n").contains { line in
                PluginName.isOfPlugin(recipient: line.exact.removingSuffix("\r") ?? line)
            }
        }
    }
}
