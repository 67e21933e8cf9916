internal import KCBackupArchive
package import KCBackupCatalogue
internal import KCByteStreams
internal import KCDeviceIdentity
package import KCLocalKeychains
package import KCStoreTasks

/// A keychain whose file is missing, and what can bring it back.
package struct GoneKeychain: Hashable, Sendable {
    /// As named by the user.
    package let name: String
    /// The number of its states from before changes.
    package let states: Int
    /// The folders with backups of a keychain of its name.
    package let folders: [String]

    package init(name: String, states: Int, folders: [String]) {
        self.name = name
        self.states = states
        self.folders = folders
    }

    /// Looks for what is left of a keychain.
    ///
    /// - Parameter catalogues: what is known of folders of backups.
    private init(_ keychain: LocalKeychain, in catalogues: [Catalogue], of machine: Machine) throws {
        name = keychain.name
        var states = 0
        if let key = try LocalDevice(machine).keyIfAny() {
            for folder in try StateFolder.all(at: keychain, in: machine.dataFolder) {
                // The states of a keychain that was moved belong to it.
                let place = try folder.otherPlace(
                    than: keychain, in: machine.dataFolder, deviceKey: key, minimumCost: machine.costs.lowestPasscode)
                if place == nil { states += try folder.list().count }
            }
        }
        self.states = states
        let series = ArchiveName.series(of: keychain.stem).exact
        // The name of a file elsewhere does not tell keychains apart.
        let known = keychain.isNamed ? catalogues : []
        folders = known.filter { catalogue in catalogue.complete.contains { $0.series.exact == series } }
            .map(\.folder)
    }

    /// Returns what is left of a missing keychain; nil if that is nothing, or cannot be told.
    package static func left(of keychain: LocalKeychain, in machine: Machine) -> GoneKeychain? {
        do {
            let key = try LocalDevice(machine).keyIfAny()
            let known = try key.map { try CatalogueFile.all(in: machine.catalogues, device: $0).found }
            let gone = try GoneKeychain(keychain, in: known ?? [], of: machine)
            return gone.states == 0 && gone.folders.isEmpty ? nil : gone
        } catch {
            // The report that the keychain is missing says more.
            return nil
        }
    }

    /// Returns the keychains of the data folder that something is left of and whose files are missing.
    package static func all(in catalogues: [Catalogue], of machine: Machine) throws -> [GoneKeychain] {
        let folder = machine.dataFolder
        let lists = try KeychainLists.load(from: folder)
        // Backups of a keychain elsewhere are named like those of one in the data folder.
        let elsewhere = try lists.searched(in: folder).filter { !$0.isNamed }.map { ArchiveName.series(of: $0.stem) }
        var names = [try lists.standard(in: folder).name]
        for catalogue in catalogues {
            let ofKeychains = (catalogue.pin?.subjects ?? [:]).filter { isKeychain($0.value) }
            names += catalogue.complete.map(\.series).filter { ofKeychains[$0.exact] != nil }
        }
        var seen = Set(try LocalKeychain.names(in: folder).map { ArchiveName.series(of: $0).exact })
        seen.formUnion(elsewhere.map(\.exact))
        var found: [GoneKeychain] = []
        for name in names where LocalKeychain.isName(name) {
            guard seen.insert(ArchiveName.series(of: name).exact).inserted else { continue }
            let gone = try GoneKeychain(LocalKeychain(name, in: folder), in: catalogues, of: machine)
            if gone.states > 0 || !gone.folders.isEmpty { found.append(gone) }
        }
        return found
    }

    /// True if the subject of a series is the ID of a keychain file.
    private static func isKeychain(_ subject: String) -> Bool {
        !subject.isEmpty && subject.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// True if the file was lost: `keychain delete` would have removed the kept states as well.
    package var isLost: Bool { states > 0 }
}
