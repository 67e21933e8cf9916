package import KCByteStreams
package import KCDeviceIdentity
package import KCRemotes

/// The file of an archive in the folder of a fleet.
package struct FleetArchive: Hashable, Sendable {
    /// The file name extension of all archives.
    private static let ending = ".kcb"
    // In bytes, as for names here, to which it is copied.
    private static let nameLimit = 255

    /// The machine in whose folder it is.
    package let device: DeviceID
    /// Its name in that folder.
    package let name: String
    /// In bytes.
    package let size: UInt64

    /// Parses a path below the folder of all archives; nil if it is not one that `copy` and jobs give to an archive.
    package init?(path: [UInt8], size: UInt64) {
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count <= Self.nameLimit,
            let folder = String(validating: parts[0], as: UTF8.self), let device = DeviceID(folder),
            device.description.exact == folder.exact, let name = String(validating: parts[1], as: UTF8.self),
            name.exact.hasSuffix(Self.ending), !name.exact.hasControlCharacter
        else { return nil }
        self.device = device
        self.name = name
        self.size = size
    }

    /// Its path below the folder of all archives.
    package var path: String { "\(device)/\(name)" }
}

extension FleetFolder {
    /// Passes on each file among the archives of all machines; those that are no archives by their paths alone.
    ///
    /// Files that are being written are left out.
    ///
    /// - Throws: `RemoteFailure`, what `visit` and `other` throw, and as the runner.
    package func visitArchives(
        _ visit: (FleetArchive) throws -> Void, other: (_ path: String) throws -> Void
    ) throws {
        try rclone.visitTree(archives) { entry in
            if let archive = FleetArchive(path: entry.path, size: entry.size) {
                try visit(archive)
            } else if !entry.isPart {
                try other(String(decoding: entry.path, as: UTF8.self))
            }
        }
    }

    /// Copies archives to a folder here.
    ///
    /// - Throws: `RemoteFailure` if the remote cannot be reached, `FileFailure`, and as the runner.
    package func fetch(_ wanted: [FleetArchive]) throws -> FetchedArchives {
        let staging = try StagingFolder(inTemporaryFolder: temporaryFolder)
        let list = "\(staging.path)/list"
        try PrivateFile.create(list, Array(wanted.map { $0.path + "\n" }.joined().utf8).span)
        let size = wanted.reduce(0) { $0 + $1.size }
        var failure: RemoteFailure?
        do {
            try rclone.download(
                filesIn: list, below: archives, limit: 2 * size + Self.slack, to: staging.path)
        } catch let error as RemoteFailure {
            if case .unreachable = error { throw error }
            failure = error
        }
        return FetchedArchives(staging: staging, failure: failure)
    }

    private var archives: RemoteLocation { location.appending("archives") }
    // In bytes; so that a batch of empty files has a limit, too.
    static let slack: UInt64 = 1_048_576
}

/// Archives that were copied here, for as long as this object is there.
package final class FetchedArchives {
    private let staging: StagingFolder
    /// Why some are missing, if rclone said so.
    package let failure: RemoteFailure?

    fileprivate init(staging: StagingFolder, failure: RemoteFailure?) {
        self.staging = staging
        self.failure = failure
    }

    /// Opens one of them; nil if it was not copied, or not with the size that was listed.
    package func file(_ archive: FleetArchive) throws(FileFailure) -> OpenFile? {
        do throws(FileFailure) {
            let file = try OpenFile.reading("\(staging.path)/\(archive.path)")
            return try file.size() == archive.size ? file : nil
        } catch {
            switch error.problem {
            case .notFound, .notRegular: return nil
            default: throw error
            }
        }
    }
}
