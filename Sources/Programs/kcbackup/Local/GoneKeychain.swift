internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

/// A keychain whose file is missing, and what can bring it back.
struct GoneKeychain: Hashable, Sendable {
    /// As named by the user.
    let name: String
    /// The number of its states from before changes.
    let states: Int
    /// The folders with backups of a keychain of its name.
    let folders: [String]

    init(name: String, states: Int, folders: [String]) {
        self.name = name
        self.states = states
        self.folders = folders
    }

    /// Looks for what is left of a keychain.
    ///
    /// - Parameter catalogues: what is known of folders of backups.
    init(_ keychain: LocalKeychain, in catalogues: [Catalogue], of session: Session) throws {
        name = keychain.name
        var states = 0
        if let key = try LocalDevice(session.machine).keyIfAny() {
            for folder in try StateFolder.all(at: keychain, in: session.machine.dataFolder) {
                // Those of a keychain that was moved belong to it.
                let place = try folder.otherPlace(
                    than: keychain, in: session.machine.dataFolder, deviceKey: key,
                    minimumCost: session.machine.costs.lowestPasscode)
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
    static func left(of keychain: LocalKeychain, in session: Session) -> GoneKeychain? {
        do {
            let key = try LocalDevice(session.machine).keyIfAny()
            let known = try key.map { try CatalogueFile.all(in: session.machine.catalogues, device: $0).found }
            let gone = try GoneKeychain(keychain, in: known ?? [], of: session)
            return gone.states == 0 && gone.folders.isEmpty ? nil : gone
        } catch {
            // That the keychain is missing says more.
            return nil
        }
    }

    /// Returns the keychains of the data folder that something is left of and whose files are missing.
    static func all(in catalogues: [Catalogue], of session: Session) throws -> [GoneKeychain] {
        let folder = session.machine.dataFolder
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
            let gone = try GoneKeychain(LocalKeychain(name, in: folder), in: catalogues, of: session)
            if gone.states > 0 || !gone.folders.isEmpty { found.append(gone) }
        }
        return found
    }

    /// One failure for each keychain whose file was lost, or the error that kept this from being checked.
    static func failures(in state: BackupState, of session: Session) -> [Failure] {
        do {
            return try all(in: state.catalogues, of: session).filter(\.isLost).map { .refused(.keychainGone($0)) }
        } catch {
            return [session.failure(of: error)]
        }
    }

    /// True if the subject of a series is the ID of a keychain file.
    private static func isKeychain(_ subject: String) -> Bool {
        !subject.isEmpty && subject.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// True if the file was lost: `keychain delete` would have removed the kept states as well.
    var isLost: Bool { states > 0 }

    /// What brings it back.
    var ways: [String] {
        let option = unquotedStoreOption(name)
        var ways: [String] = []
        if states > 0 {
            ways.append("'kcbackup undo\(option)' brings back its state before the last change by a command")
        }
        if !folders.isEmpty {
            let lists = listed(folders.map { "'kcbackup list \(shellWord($0))'" })
            ways.append(
                "'kcbackup restore ARCHIVE\(option)' brings it back from a backup; \(lists) shows what there is")
        }
        return ways
    }
}

extension Session {
    /// Names the keychains that have backups, and neither a file nor kept states: they may have been deleted on purpose.
    func noteGone(_ state: BackupState) throws {
        for gone in try GoneKeychain.all(in: state.catalogues, of: self) where !gone.isLost {
            note("\(storeWords(gone.name)) is no longer here: \(gone.ways.joined(separator: "; "))")
        }
    }
}

/// Returns a name as an operand of a command within a hint; empty if it needs quotes of the shell, which would end those
/// around the hint.
func unquotedOperand(_ name: String) -> String {
    let word: String = shellWord(name)
    return name.isEmpty || word.exact.contains("'") ? "" : " \(word)"
}
