internal import KCBackupArchive
package import KCBackupCatalogue
package import KCByteStreams
internal import KCCryptography
internal import KCKeychainStore
package import KCLocalKeychains
package import KCStoreTasks

// A copy of the file of a keychain has its ID. Where the file is tells one from the other.

extension LocalKeychain {
    /// The keychain as the subject of its archives.
    ///
    /// - Parameter id: the ID of its file, in hexadecimal.
    package func subject(_ id: String, in machine: Machine) -> KeychainSubject {
        KeychainSubject(id: id, place: placeOutside(of: machine.dataFolder))
    }

    /// The ID of its file, in hexadecimal.
    ///
    /// - Throws: as `open(in:)`.
    package func id(in machine: Machine) throws -> String { Hexadecimal.encode(try open(in: machine).storeID) }
}

extension Machine {
    /// True if the keychain with an ID is at a place outside of the data folder, or may be.
    package func mayHaveKeychain(_ id: String, at place: String) -> Bool {
        do {
            return mayBe(try LocalKeychain(place, in: dataFolder), id)
        } catch {
            // No keychain can be there.
            return false
        }
    }

    /// Returns the series whose keychain is elsewhere than it was, and not there anymore, so that it was moved.
    ///
    /// - Parameter known: the subjects so far.
    /// - Throws: `FileFailure`, `LocalKeychainFailure`, `KeychainNameProblem`.
    package func moved(_ subjects: [ExactText: String], since known: [ExactText: String]?) throws -> Set<ExactText> {
        var moved: Set<ExactText> = []
        for (series, subject) in subjects {
            guard let now = KeychainSubject(subject), let was = known?[series].flatMap({ KeychainSubject($0) }),
                now.isElsewhere(than: was)
            else { continue }
            let isThere: Bool
            if let place = was.place {
                isThere = mayHaveKeychain(was.id, at: place)
            } else {
                isThere = try LocalKeychain.names(in: dataFolder).contains { name in
                    guard ArchiveName.series(of: name).exact == series else { return false }
                    return mayBe(try LocalKeychain(name, in: self), was.id)
                }
            }
            if !isThere { moved.insert(series) }
        }
        return moved
    }

    /// The keychains of the data folder that open, with the series and the IDs of their files.
    package func openingKeychains() throws -> [(name: String, series: String, id: String)] {
        try LocalKeychain.names(in: dataFolder).compactMap { name in
            let local = try LocalKeychain(name, in: self)
            do {
                return (name: name, series: ArchiveName.series(of: name), id: try local.id(in: self))
            } catch {
                // A command that uses this keychain reports why it does not open.
                return nil
            }
        }
    }

    /// The names of keychains of the data folder that are copies of one file, for each such file, sorted.
    package func copiedKeychains() throws -> [[String]] {
        Dictionary(grouping: try openingKeychains()) { $0.id.exact }.values.filter { $0.count > 1 }
            .map { $0.map(\.name) }.sorted { $0[0].exact < $1[0].exact }
    }

    /// True if a keychain has an ID, or may have it, since it does not open.
    private func mayBe(_ local: LocalKeychain, _ id: String) -> Bool {
        do {
            return try Path.exists(local.path) && local.id(in: self).exact == id.exact
        } catch let failure as KeychainFailure where failure.isOfOtherDevice {
            return false
        } catch {
            // A copy is not taken for a keychain that may still be there.
            return true
        }
    }
}
