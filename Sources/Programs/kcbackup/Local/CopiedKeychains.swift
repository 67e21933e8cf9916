internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

// A copy of the file of a keychain has its ID. Where the file is tells one from the other.

extension LocalKeychain {
    /// The keychain as the subject of its archives.
    ///
    /// - Parameter id: the ID of its file, in hexadecimal.
    func subject(_ id: String, in machine: Machine) -> KeychainSubject {
        KeychainSubject(id: id, place: placeOutside(of: machine.dataFolder))
    }
}

extension Session {
    /// True if the keychain with an ID is at a place outside of the data folder, or may be.
    func mayHaveKeychain(_ id: String, at place: String) -> Bool {
        do {
            return mayBe(try LocalKeychain(place, in: machine.dataFolder), id)
        } catch {
            // No keychain can be there.
            return false
        }
    }

    /// Returns the series whose keychain is elsewhere than it was, and not there anymore, so that it was moved.
    ///
    /// - Parameter known: the subjects so far.
    /// - Throws: `FileFailure`, `LocalKeychainFailure`, `UsageProblem`.
    func moved(_ subjects: [ExactText: String], since known: [ExactText: String]?) throws -> Set<ExactText> {
        var moved: Set<ExactText> = []
        for (series, subject) in subjects {
            guard let now = KeychainSubject(subject), let was = known?[series].flatMap({ KeychainSubject($0) }),
                now.isElsewhere(than: was)
            else { continue }
            let isThere: Bool
            if let place = was.place {
                isThere = mayHaveKeychain(was.id, at: place)
            } else {
                isThere = try LocalKeychain.names(in: machine.dataFolder).contains { name in
                    guard ArchiveName.series(of: name).exact == series else { return false }
                    return mayBe(try LocalKeychain(name, in: machine), was.id)
                }
            }
            if !isThere { moved.insert(series) }
        }
        return moved
    }

    /// The keychains of the data folder that open, with the series and the IDs of their files.
    func openingKeychains() throws -> [(name: String, series: String, id: String)] {
        let outer = subject
        defer { subject = outer }
        return try LocalKeychain.names(in: machine.dataFolder).compactMap { name in
            let local = try LocalKeychain(name, in: machine)
            do {
                let id = Hexadecimal.encode(try local.open(in: self).storeID)
                return (name: name, series: ArchiveName.series(of: name), id: id)
            } catch {
                // A command that uses this keychain reports why it does not open.
                return nil
            }
        }
    }

    /// Warnings of keychains of the data folder that are copies of one file.
    func copiedKeychains() throws -> [String] {
        let groups = Dictionary(grouping: try openingKeychains()) { $0.id.exact }.values.filter { $0.count > 1 }
        let lists = groups.map { copies in copies.map { quoted($0.name) }.joined(separator: ", ") }
        return lists.sorted().map { names in
            "keychains \(names) are copies of one file, and only their names tell their backups apart: "
                + "'kcbackup restore' of an archive into a new keychain makes one of its own"
        }
    }

    /// True if a keychain has an ID, or may have it, since it does not open.
    private func mayBe(_ local: LocalKeychain, _ id: String) -> Bool {
        let outer = subject
        defer { subject = outer }
        do {
            guard try Path.exists(local.path) else { return false }
            return Hexadecimal.encode(try local.open(in: self).storeID).exact == id.exact
        } catch KeychainStoreError.otherDevice {
            return false
        } catch {
            // It cannot be told, and a copy is not taken for a keychain that may still be there.
            return true
        }
    }
}
