internal import KCBackupCatalogue
internal import KCBackupTasks
package import KCByteStreams
internal import KCHomeFiles
internal import KCItemStores
package import KCKeychainModel
package import KCLocalKeychains

/// The files whose changes start a job, which a path unit of systemd watches.
///
/// The unit sees more than changes: a keychain is opened for writing even by a program that only reads it, as a backup
/// does. Their marks tell whether something has changed.
package struct WatchedFiles {
    private let places: [Place]

    private enum Place {
        case file(String)
        /// The files with one of these endings in a folder; neither has to exist.
        case folder(String, endings: [String])

        var path: String {
            switch self {
            case .file(let path), .folder(let path, _): path
            }
        }
    }

    /// The looks of the files at some time.
    package struct Marks: Hashable, Sendable {
        /// A text for each file.
        package let texts: [String]
        /// When the last change was; nil if there is no file.
        package let newest: Timestamp?

        /// False if a file may change so soon after another change that both have the same time.
        package func isSettled(at now: Timestamp) -> Bool {
            newest.map { abs(now.microseconds - $0.microseconds) > 1_000_000 } ?? true
        }
    }

    /// - Returns: nil if no few files have all that the job backs up.
    package init?(of job: Job, in dataFolder: DataFolder) {
        switch job.backup.stores {
        case .home, .standard: return nil
        case .everyKeychain: places = [.folder(dataFolder.keychains, endings: [LocalKeychain.fileEnding])]
        case .named(let name):
            if DesktopKeyring(name) != nil {
                places = Self.keyrings(in: Path.split(dataFolder.path).folder)
            } else if HomeRoot(storeName: name) != nil {
                return nil
            } else if let path = job.backup.storeFile {
                if Path.isFolder(path) { return nil }
                places = [.file(path)]
            } else {
                do {
                    places = [.file(try LocalKeychain(name, in: dataFolder).path)]
                } catch {
                    return nil
                }
            }
        }
    }

    /// The files of GNOME Keyring, of oo7 and of KWallet, which replace a file to change it.
    private static func keyrings(in data: String) -> [Place] {
        [
            .folder(data + "/keyrings", endings: [".keyring"]), .folder(data + "/keyrings/v1", endings: [".keyring"]),
            .folder(data + "/kwalletd", endings: [".kwl"]),
        ]
    }

    /// The files and folders that a path unit watches, absolute, without links to their folders.
    var paths: [String] {
        places.map { place in
            switch place {
            case .file(let path):
                let (folder, name) = Path.split(path)
                let place = CatalogueFile.place(of: folder)
                return place == "/" ? "/" + name : "\(place)/\(name)"
            case .folder(let path, _): return CatalogueFile.place(of: path)
            }
        }
    }

    /// True if none of the files exists.
    ///
    /// - Throws: `FileFailure`.
    package var areMissing: Bool {
        get throws(FileFailure) { try marks().texts.isEmpty }
    }

    /// Looks at the files; opens none of them.
    package func marks() throws(FileFailure) -> Marks {
        var texts: [String] = []
        var newest: Int64?
        for path in try files() {
            guard let status = try EntryStatus(at: path) else { continue }
            texts.append(status.mark)
            if let changed = status.changedInMicroseconds { newest = max(newest ?? changed, changed) }
        }
        return Marks(texts: texts, newest: newest.flatMap { Timestamp(microseconds: $0) })
    }

    private func files() throws(FileFailure) -> [String] {
        var files: [String] = []
        for place in places {
            switch place {
            case .file(let path): files.append(path)
            case .folder(let path, let endings):
                guard Path.isFolder(path) else { continue }
                files += try Path.names(in: path).filter { name in endings.contains { name.exact.hasSuffix($0) } }
                    .sorted { $0.exact < $1.exact }.map { "\(path)/\($0)" }
            }
        }
        return files
    }

    /// Waits until nothing has changed for a time, but not forever.
    ///
    /// - Throws: `FileFailure`, `StreamFailure` (`interrupted`).
    package func waitForQuiet(_ time: Duration) throws {
        var seen = try marks()
        // Something that always changes is backed up, too.
        for _ in 0..<Self.mostWaits {
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end { try Interruption.pause(milliseconds: 200) }
            let now = try marks()
            if now == seen { return }
            seen = now
        }
    }

    private static let mostWaits = 10
}

extension Job {
    /// How long nothing has changed when a run begins that a change has started.
    static let quietTime = "30s"
}
