internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCDeviceIdentity
package import KCKeychainModel
internal import KCKeychainStore
package import KCLocalKeychains
package import KCStoreTasks

/// The encrypted archives that this device has a record of: what is left of keychains if the chip with its key is lost.
package struct EncryptedArchives {
    /// After how many days a device whose key is in a chip needs a new one.
    package static let days: Int64 = 30

    private let catalogues: [Catalogue]
    private let holders: KeychainHolders
    private let machine: Machine

    /// Reads the records.
    package init(on machine: Machine) throws {
        self.machine = machine
        holders = KeychainHolders(try machine.openingKeychains().map { (series: $0.series, id: $0.id) })
        catalogues = try CatalogueFile.all(in: machine.catalogues, device: LocalDevice(machine).key())
            .found
    }

    /// When a keychain was last backed up to one that is still in its place; nil if there is none, or only in the future.
    ///
    /// - Parameter identity: the ID of its file, in hexadecimal.
    private func newest(of keychain: LocalKeychain, _ identity: String, at now: Timestamp) throws -> Timestamp? {
        let subject = keychain.subject(identity, in: machine)
        var newest: Timestamp?
        for catalogue in catalogues {
            let series = holders.series(
                of: subject, named: ArchiveName.series(of: keychain.stem), in: catalogue,
                isAt: { machine.mayHaveKeychain($1, at: $0) })
            for entry in catalogue.complete where entry.mode == .encrypted && entry.isComplete != false {
                guard series.contains(entry.series.exact), let good = entry.lastGood(at: now),
                    newest.map({ good > $0 }) ?? true,
                    try entry.fileState(at: "\(catalogue.folder)/\(entry.name)") == .recorded
                else { continue }
                newest = good
            }
        }
        return newest
    }

    /// True if one of a keychain is young enough.
    package func isRecent(of keychain: LocalKeychain, _ identity: String, at now: Timestamp) throws -> Bool {
        guard let newest = try newest(of: keychain, identity, at: now) else { return false }
        return now.seconds - newest.seconds <= Self.days * 86_400
    }

    /// The keychains of this device that have none that is young enough.
    package static func lacking(on machine: Machine, at now: Timestamp) throws -> [String] {
        let archives = try EncryptedArchives(on: machine)
        return try LocalKeychain.names(in: machine.dataFolder).filter { name in
            do {
                let local = try LocalKeychain(name, in: machine)
                let id = try local.id(in: machine)
                return try !archives.isRecent(of: local, id, at: now)
            } catch let failure as KeychainFailure where failure.isOfOtherDevice {
                // A keychain of another device is not at risk here.
                return false
            }
        }
    }
}

extension Machine {
    /// True if the key of this device is in its chip.
    package var isHeldByChip: Bool {
        get throws(DeviceKeyFailure) {
            do throws(DeviceKeyFailure) {
                guard case .chip = try LocalDevice(self).provider.status().holding else { return false }
                return true
            } catch {
                if case .notFound = error { return false }
                throw error
            }
        }
    }
}
