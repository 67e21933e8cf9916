internal import Glibc
package import KCByteStreams
internal import KCKeychainModel

/// A home in which files are looked up and written one by one, by paths that `HomeTable` names.
///
/// No symbolic link below the home is followed, and nothing is written into a folder of another user or one that
/// everybody can write to.
package final class WritableHome {
    private let home: OpenFolder
    private let owner: EntryStatus
    /// The folders, as names below the home, whose names are not durable yet.
    private var unsynced: Set<[String]> = []
    /// The folders in which nothing of a killed process is left.
    private var swept: Set<[String]> = []

    /// The entry at a path in a home.
    package enum Entry {
        case missing
        case file(HomeFile)
        /// Nothing can be written there: because of the file that has it, or nil if something else has it or a name on the way.
        case inTheWay(HomeFile.Failure?)
    }

    /// - Parameter path: the path of the home; links that lead to it are followed.
    package init(_ path: String) throws(FileFailure) {
        home = try OpenFolder(path)
        owner = try home.status()
    }

    /// Returns the entry at a path.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package func entry(at path: HomePath, _ rule: HomeFileRule) throws -> Entry {
        do {
            return try readableEntry(at: path, rule)
        } catch let failure as FileFailure where HomeFile.Failure.file(failure).isOfRights {
            return .inTheWay(.file(failure))
        }
    }

    private func readableEntry(at path: HomePath, _ rule: HomeFileRule) throws -> Entry {
        let folder: OpenFolder
        switch try lookUp(path.folderNames) {
        case .missing: return .missing
        case .inTheWay: return .inTheWay(nil)
        case .folder(let found): folder = found
        }
        let name = path.name
        do throws(HomeFile.Failure) {
            guard let status = try failing(as: HomeFile.Failure.file, folder.status(of: name)) else {
                // SQLite would apply the journal of a database that is gone to the one that takes its place.
                return try HomeFile.hasJournal(name, in: folder, rule) ? .inTheWay(.unfinished) : .missing
            }
            guard status.kind == .file else { return .inTheWay(nil) }
            return .file(try HomeFile.read(name, in: folder, owner: owner.owner, rule))
        } catch {
            switch error {
            case .otherOwner, .tooLarge, .changed, .unfinished, .name, .item: return .inTheWay(error)
            case .file(let failure): throw failure
            case .stream(let failure): throw failure
            }
        }
    }

    private enum Place {
        case missing
        case folder(OpenFolder)
        case inTheWay
    }

    /// Opens the folder with these names below the home.
    private func lookUp(_ names: [String]) throws(FileFailure) -> Place {
        var folder = home
        for name in names {
            guard let status = try folder.status(of: name) else { return .missing }
            guard status.kind == .folder, isSafe(status) else { return .inTheWay }
            folder = try folder.folder(name)
        }
        return .folder(folder)
    }

    private func isSafe(_ status: EntryStatus) -> Bool {
        status.owner == owner.owner && status.permissions & 0o002 == 0
    }

    /// Why nothing may be made, replaced or removed at a path, as far as that can be known without doing it; nil if it may.
    ///
    /// - Parameter present: what is there now; nil for nothing.
    /// - Throws: `FileFailure` for what is no matter of rights.
    package func obstacle(at path: HomePath, _ present: EntryStatus?) throws(FileFailure) -> HomeFile.Failure? {
        try Self.lackOfRights { () throws(FileFailure) in
            var folder = home
            for name in path.folderNames {
                // Missing folders are made in the last folder that is there.
                guard try folder.status(of: name) != nil else { break }
                folder = try folder.folder(name)
            }
            try folder.requireReplaceable(path.name, present)
        }
    }

    /// Why a folder may not be removed; nil if it may, or is not there.
    ///
    /// - Throws: as `obstacle(at:_:)`.
    package func obstacle(toRemovingFolder path: HomePath) throws(FileFailure) -> HomeFile.Failure? {
        try Self.lackOfRights { () throws(FileFailure) in
            guard case .folder(let folder) = try lookUp(path.folderNames), let status = try folder.status(of: path.name)
            else { return }
            try folder.requireReplaceable(path.name, status)
        }
    }

    private static func lackOfRights(
        _ look: () throws(FileFailure) -> Void
    ) throws(FileFailure) -> HomeFile.Failure? {
        do throws(FileFailure) {
            try look()
            return nil
        } catch {
            let failure = HomeFile.Failure.file(error)
            if failure.isOfRights { return failure }
            throw error
        }
    }

    /// Writes a file, and makes the folders that it needs, with mode 0700; it has its name only once it is complete.
    ///
    /// The file is durable then, and its name after `synchronize`.
    ///
    /// - Parameter replacing: the file that it replaces; nil if there must be none.
    /// - Throws: `HomeFailure.changedMeanwhile` if another one is there, `FileFailure`, `StreamFailure`.
    package func write(
        _ item: HomeItem, _ rule: HomeFileRule, _ bytes: borrowing SecretBytes, replacing: EntryStatus?
    ) throws {
        let (name, names) = (item.path.name, item.path.folderNames)
        let folder = try folder(of: item.path)
        let unnamed = try folder.unnamedFile(sweeps: swept.insert(names).inserted)
        try bytes.withBytes { span throws(StreamFailure) in try unnamed.file.write(span) }
        try unnamed.file.setPermissions(item.restoredPermissions(rule))
        if geteuid() != owner.owner { try unnamed.file.setOwner(user: owner.owner, group: owner.group) }
        try unnamed.file.setModified(microseconds: item.modified.microseconds)
        try requireWritten(bytes, in: unnamed.file, at: item.path)
        guard try folder.status(of: name) == replacing else { throw HomeFailure.changedMeanwhile(item.path.shown) }
        unsynced.insert(names)
        if let replacing {
            guard try unnamed.replace(name, ifStill: replacing, syncsFolder: false) else {
                throw HomeFailure.changedMeanwhile(item.path.shown)
            }
        } else {
            try unnamed.publish(as: name, syncsFolder: false)
        }
    }

    /// Removes a file that is still as it was; durable after `synchronize`.
    ///
    /// - Throws: `HomeFailure.changedMeanwhile`, `FileFailure`.
    package func remove(_ path: HomePath, _ status: EntryStatus) throws {
        unsynced.insert(path.folderNames)
        guard case .folder(let folder) = try lookUp(path.folderNames), try folder.remove(path.name, ifStill: status)
        else {
            throw HomeFailure.changedMeanwhile(path.shown)
        }
    }

    /// True if a folder is there and has nothing but these folders.
    package func isFolder(_ path: HomePath, emptyBut folders: Set<HomePath>) throws(FileFailure) -> Bool {
        guard case .folder(let folder) = try lookUp(path.names) else { return false }
        var unreadable: [String] = []
        let names = try folder.names(unreadable: &unreadable)
        guard unreadable.isEmpty else { return false }
        return names.allSatisfy { HomePath("\(path.text.string)/\($0)", in: path.root).map(folders.contains) ?? false }
    }

    /// Removes a folder if it is empty; durable after `synchronize`.
    package func removeEmptyFolder(_ path: HomePath) throws(FileFailure) {
        guard case .folder(let folder) = try lookUp(path.folderNames) else { return }
        unsynced.insert(path.folderNames)
        try folder.removeEmptyFolder(path.name)
    }

    /// The folders on the way to a file that `write` would make.
    package func missingFolders(of path: HomePath) throws(FileFailure) -> [HomePath] {
        var missing: [HomePath] = []
        for folder in path.folders.reversed() {
            guard case .missing = try lookUp(folder.names) else { break }
            missing.append(folder)
        }
        return missing
    }

    /// Makes the names of all files durable that were written or removed; a failure is recorded in `Durability`.
    package func synchronize() {
        for names in unsynced {
            do throws(FileFailure) {
                // A folder that has gone since is not ours to keep.
                if case .folder(let folder) = try lookUp(names) { folder.synchronize() }
            } catch {
                Durability.doubt(error)
            }
        }
        unsynced = []
    }

    /// Opens the folder of a file, and makes it if it does not exist.
    private func folder(of path: HomePath) throws -> OpenFolder {
        var folder = home
        for (index, part) in path.folderNames.enumerated() {
            if let status = try folder.status(of: part) {
                guard status.kind == .folder, isSafe(status) else {
                    throw HomeFailure.changedMeanwhile(path.prefix(index + 1).shown)
                }
                folder = try folder.folder(part)
            } else {
                unsynced.insert(Array(path.folderNames.prefix(index)))
                folder = try folder.makeFolder(part)
                if geteuid() != owner.owner { try folder.setOwner(user: owner.owner, group: owner.group) }
            }
        }
        return folder
    }

    private func requireWritten(_ bytes: borrowing SecretBytes, in file: OpenFile, at path: HomePath) throws {
        var found = SecretBytes(capacity: max(1, bytes.count))
        try found.append(upTo: bytes.count + 1) { output throws(StreamFailure) in try file.read(at: 0, into: &output) }
        let isSame = bytes.withBytes { written in found.withBytes { $0.isEqual(to: written) } }
        guard isSame else { throw FileFailure(path.shown, .system(EIO, doing: "reading back")) }
    }
}
