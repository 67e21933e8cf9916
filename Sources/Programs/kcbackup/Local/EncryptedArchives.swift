internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

/// The encrypted archives that this device has a record of: what is left of keychains if the chip with its key is lost.
struct EncryptedArchives {
    /// After how many days a device whose key is in a chip needs a new one.
    static let days: Int64 = 30

    private let catalogues: [Catalogue]
    private let holders: KeychainHolders
    private let session: Session

    /// Reads the records.
    init(in session: Session) throws {
        self.session = session
        holders = KeychainHolders(try session.machine.openingKeychains().map { (series: $0.series, id: $0.id) })
        catalogues = try CatalogueFile.all(in: session.machine.catalogues, device: LocalDevice(session.machine).key())
            .found
    }

    /// When a keychain was last backed up to one that is still in its place; nil if there is none, or only in the future.
    ///
    /// - Parameter identity: the ID of its file, in hexadecimal.
    private func newest(of keychain: LocalKeychain, _ identity: String, at now: Timestamp) throws -> Timestamp? {
        let subject = keychain.subject(identity, in: session.machine)
        var newest: Timestamp?
        for catalogue in catalogues {
            let series = holders.series(
                of: subject, named: ArchiveName.series(of: keychain.stem), in: catalogue,
                isAt: { session.machine.mayHaveKeychain($1, at: $0) })
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
    func isRecent(of keychain: LocalKeychain, _ identity: String, at now: Timestamp) throws -> Bool {
        guard let newest = try newest(of: keychain, identity, at: now) else { return false }
        return now.seconds - newest.seconds <= Self.days * 86_400
    }

    /// The keychains of this device that have none that is young enough.
    static func lacking(in session: Session) throws -> [String] {
        let archives = try EncryptedArchives(in: session)
        return try LocalKeychain.names(in: session.machine.dataFolder).filter { name in
            do {
                let local = try LocalKeychain(name, in: session.machine)
                let id = try local.id(in: session.machine)
                return try !archives.isRecent(of: local, id, at: session.now)
            } catch let failure as KeychainFailure where failure.isOfOtherDevice {
                // It is no keychain of this device.
                return false
            }
        }
    }

    /// What to warn of if the key of this device is in its chip.
    static func warnings(in session: Session) throws -> [String] {
        try session.isHeldByChip ? lacking(in: session).map(warning) : []
    }

    /// What a keychain without one risks.
    fileprivate static func warning(_ keychain: String) -> String {
        "the key of this device is in its TPM, and no encrypted archive of keychain \(quoted(keychain)) that is younger "
            + "than \(days) days is known here: if the TPM is lost, so is the keychain; 'kcbackup create "
            + "\(OptionName.to.spelling) FOLDER' makes one"
    }
}

extension Session {
    /// True if the key of this device is in its chip.
    var isHeldByChip: Bool {
        get throws {
            do throws(DeviceKeyFailure) {
                return try LocalDevice(machine).provider.status().holding.holder == .tpm
            } catch {
                if case .notFound = error { return false }
                throw error
            }
        }
    }

    /// Warns if a keychain could be lost with the chip of this device.
    ///
    /// - Parameter identity: the ID of its file, in hexadecimal.
    func warnOfLoss(of store: any NamedStore, _ identity: String) {
        guard let keychain = store as? LocalKeychain else { return }
        do {
            guard try isHeldByChip, try !EncryptedArchives(in: self).isRecent(of: keychain, identity, at: now)
            else { return }
            warn(EncryptedArchives.warning(keychain.name))
        } catch {
            // The backup is done.
            warn(failure(of: error).explanation.message)
        }
    }
}
