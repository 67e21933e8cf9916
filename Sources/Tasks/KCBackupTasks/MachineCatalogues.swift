package import KCBackupCatalogue
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCLocalKeychains
package import KCStoreTasks

extension Machine {
    /// The folder that contains the catalogues of backup folders.
    package var catalogues: String { dataFolder.catalogues }

    /// Returns the file with the catalogue of a backup folder; nil if this machine has no device key yet.
    ///
    /// - Throws: `DeviceKeyFailure`.
    package func catalogueFile(of path: String) throws -> CatalogueFile? {
        guard let key = try LocalDevice(self).keyIfAny() else { return nil }
        return CatalogueFile(of: resolve(path), in: catalogues, device: key)
    }

    /// Returns the catalogue of a backup folder; nil if there is none, or if this machine has no device key yet.
    ///
    /// - Throws: `CatalogueFailure`, `DeviceKeyFailure`.
    package func catalogueIfAny(of path: String) throws -> Catalogue? {
        try catalogueFile(of: path)?.load()
    }

    /// Calls `look` with an entry of the catalogue of a folder, again with the current entry if the file is not what the
    /// first one says, since another run has changed both.
    ///
    /// - Returns: nil if another run has removed the archive in the meantime.
    /// - Throws: what `look` throws, and as `catalogueIfAny`.
    package func judging<Found>(
        _ entry: CatalogueEntry, of folder: String, _ look: (CatalogueEntry) throws -> Found
    ) throws -> Found? {
        let found = try entry.judged(rereading: { try catalogueIfAny(of: folder) }, isAlarm: Self.isAlarm) { entry in
            Result { try look(entry) }
        }
        return try found?.get()
    }

    private static func isAlarm<Found>(_ result: Result<Found, any Error>) -> Bool {
        guard case .failure(let failure as CatalogueFailure) = result else { return false }
        switch failure {
        case .missing, .replaced: return true
        default: return false
        }
    }
}
