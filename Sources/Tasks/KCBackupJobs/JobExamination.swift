package import KCBackupCatalogue
internal import KCByteStreams
package import KCKeychainModel

// The checks of a job before it runs, without its keys and its keychain.

extension Job {
    // In bytes. Making an archive needs twice the size of the last one, and this much more.
    private static let spareRoom: UInt64 = 16 << 20
    // The maximum number of days without a trial restore.
    private static let drillLimit: Int64 = 90

    /// Checks that the next archive can be made in the folder.
    ///
    /// - Parameter known: the catalogue of the folder.
    /// - Throws: `CatalogueFailure` (`folderMissing`, `folderGone`), `JobFinding.littleRoom`, `FileFailure`.
    package func checkFolder(_ known: Catalogue?) throws {
        let path = folder
        guard Path.isFolder(path) else {
            let archives = known?.complete.count ?? 0
            if archives == 0 { throw CatalogueFailure.folderMissing(folder: path) }
            throw CatalogueFailure.folderGone(folder: path, archives: archives)
        }
        try PrivateFolder.require(path)
        if let known, try known.hasLostAll(in: path) {
            throw CatalogueFailure.folderGone(folder: path, archives: known.complete.count)
        }
        // Creating an unnamed file shows whether the folder is writable.
        _ = try UnnamedFile(inFolder: path)
        let wanted = (known?.complete.last?.file.size ?? 0) * 2 + Self.spareRoom
        if let free = Path.freeSpace(in: path), free < wanted {
            throw JobFinding.littleRoom(folder: path, free: free, wanted: wanted)
        }
    }

    /// Checks that it is known what the newest archives hold, without which a run cannot tell a loss.
    ///
    /// - Parameter known: the catalogue of the folder.
    /// - Throws: `CatalogueFailure.unread` if the newest archive of a series was not read since the catalogue was rebuilt.
    package func checkContents(_ known: Catalogue?) throws(CatalogueFailure) {
        guard let known else { return }
        for series in Set(known.complete.map(\.series.exact)).sorted() {
            let isBackedUp = known.pin.map { $0.subjects[series] != nil } ?? true
            guard isBackedUp, let last = known.newest(of: series.string), last.content == nil else { continue }
            throw .unread(path: "\(folder)/\(last.name)")
        }
    }

    /// Checks that there was a trial restore lately: valid checksums do not prove that a restore works.
    ///
    /// - Parameters:
    ///   - known: the catalogue of the folder.
    ///   - day: returns the day of a time, as text.
    package func checkDrill(
        _ known: Catalogue?, now: Timestamp, day: (Timestamp) -> String
    ) throws(JobFinding) {
        guard let known, let newest = known.complete.last, let since = known.undrilledSince(at: now),
            since < now.advanced(byMicroseconds: -Self.drillLimit * 86_400_000_000)
        else { return }
        throw .notDrilled(
            folder: folder, since: day(since), archive: "\(folder)/\(newest.name)",
            needsKey: newest.mode == .encrypted)
    }

    /// Checks that no key lies beside the archives: a thief who takes the folder must not get it along with them.
    ///
    /// - Throws: `JobFinding.identityBesideArchives`, `FileFailure`.
    package func checkIdentities() throws {
        guard Path.isFolder(folder) else { return }
        for name in try Path.names(in: folder).sorted(by: { $0.exact < $1.exact })
        where !name.exact.hasSuffix(ArchiveName.ending) {
            let text: SecretBytes
            do throws(FileFailure) {
                text = try PrivateFile.readPublic("\(folder)/\(name)")
            } catch {
                switch error.problem {
                // Removed since, not a file, or larger than any identity file.
                case .notFound, .notRegular, .tooLarge: continue
                default: throw error
                }
            }
            var isIdentity = false
            text.withBytes { bytes in
                // A private key must not leave wiped memory, so it is not converted to a String.
                bytes.forEachLine { line, _ in if line.starts(with: "AGE-SECRET-KEY-1") { isIdentity = true } }
            }
            if isIdentity { throw JobFinding.identityBesideArchives(path: "\(folder)/\(name)") }
        }
    }

    /// Checks that the units of the user run while the user is logged out.
    ///
    /// The desktop keyring is open only while its user is logged in.
    ///
    /// - Throws: `JobFinding.noLinger`, `FileFailure`.
    package func checkLinger(in surroundings: JobSurroundings) throws {
        let units = SystemdUnits.userPaths(of: name, in: surroundings)
        guard !isOfDesktop, let user = surroundings.user, user != "root", !user.isEmpty,
            try Path.exists(units.timer) || Path.exists(units.path),
            try !Path.exists("\(surroundings.lingering)/\(user)")
        else { return }
        throw JobFinding.noLinger
    }
}
