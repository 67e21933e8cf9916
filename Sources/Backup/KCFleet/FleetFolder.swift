internal import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
internal import KCKeychainModel
package import KCRemotes

/// A folder of a remote with the archives and the receipts of many machines (docs/fleet.md).
///
/// Every file has a name that is used once. A machine writes only below its own ID and its own names, and reads only what
/// it wrote; an administrator reads the receipts of a day at once.
package struct FleetFolder {
    /// Where it is.
    package let location: RemoteLocation
    let rclone: Rclone
    let temporaryFolder: String

    /// Looks at how the remote is configured.
    ///
    /// - Parameter temporaryFolder: where copies are kept while they are read or written.
    /// - Throws: `RemoteFailure` (`unknownRemote`, `unpinnedHost`), and as the runner.
    package init(_ location: RemoteLocation, _ rclone: Rclone, temporaryFolder: String) throws {
        self.location = try RemoteFolder(location, rclone).location
        self.rclone = rclone
        self.temporaryFolder = temporaryFolder
    }

    /// The folder with the archives of a device.
    ///
    /// - Throws: as `init`.
    package func archives(of device: DeviceID) throws -> RemoteFolder {
        try RemoteFolder(Self.archives(in: location, of: device), rclone)
    }

    /// Where the archives of a device are in the folder of a fleet.
    package static func archives(in fleet: RemoteLocation, of device: DeviceID) -> RemoteLocation {
        fleet.appending("archives").appending(device.description)
    }

    /// Signs a receipt, writes it, and reads it back.
    ///
    /// - Returns: where it is.
    /// - Throws: `RemoteFailure`, `CryptographyFailure`, `FileFailure`, and as the runner.
    package func report(_ receipt: Receipt, signedBy key: DeviceKey) throws -> RemoteLocation {
        let bytes = try receipt.signed(by: key)
        let name = receipt.name
        let staging = try StagingFolder(inTemporaryFolder: temporaryFolder)
        let path = "\(staging.path)/\(name)"
        try PrivateFile.create(path, bytes.span)
        let file = receipts(of: name.day).appending(name.shard).appending(name.description)
        try withExtendedLifetime(staging) { try rclone.create(file, from: path, bytes) }
        return file
    }

    /// An observer for this folder.
    ///
    /// - Throws: as `init`.
    package func observer(of members: FleetMembers) throws -> FleetObserver {
        FleetObserver(members: members, hasServerTimes: try rclone.traits(of: location).hasServerTimes)
    }

    /// Shows an observer the receipts of a day.
    ///
    /// Nothing is kept of files that are none. If some receipts cannot be fetched, the others are shown, and these as unread.
    ///
    /// - Returns: why some could not be fetched, if that is so.
    /// - Throws: `RemoteFailure` if the day cannot be listed, or if nothing can be fetched; `FileFailure`, and as the
    ///   runner.
    package func show(_ day: ReceiptDay, to observer: inout FleetObserver) throws -> RemoteFailure? {
        let folder = receipts(of: day)
        var wanted: [(name: ReceiptName, size: UInt64, written: Timestamp?)] = []
        try rclone.visitTree(folder, isDated: true) { entry in
            // A receipt that is being written is none yet.
            if entry.isPart { return }
            guard let name = observer.admit(entry.path, on: day, size: entry.size) else { return }
            wanted.append((name, entry.size, entry.modified.flatMap(Self.time)))
        }
        var failure: RemoteFailure?
        var isAnyRead = false
        for start in stride(from: 0, to: wanted.count, by: Self.batchSize) {
            let batch = wanted[start..<min(wanted.count, start + Self.batchSize)]
            let staging = try StagingFolder(inTemporaryFolder: temporaryFolder)
            if failure?.isOfConnection != true {
                do {
                    try fetch(
                        batch.map(\.name.path), of: batch.reduce(0) { $0 + $1.size }, below: folder, to: staging.path)
                } catch let error as RemoteFailure {
                    failure = failure ?? error
                }
            }
            for (name, _, written) in batch {
                let contents = try contents(of: "\(staging.path)/\(name.path)")
                isAnyRead = isAnyRead || contents != nil
                observer.see(name, written: written, contents: contents)
            }
            withExtendedLifetime(staging) {}
        }
        if let failure, !isAnyRead { throw failure }
        return failure
    }

    // Of receipts that are in the temporary folder at a time, each with at most 2 KiB.
    private static let batchSize = 5_000

    /// Copies files to the same paths below a folder here, many at a time.
    private func fetch(_ paths: [String], of size: UInt64, below folder: RemoteLocation, to place: String) throws {
        let list = "\(place)/list"
        try PrivateFile.create(list, paths.map { $0 + "\n" }.joined().utf8.span)
        try rclone.download(filesIn: list, below: folder, limit: 2 * size + Self.slack, to: place)
    }

    private func receipts(of day: ReceiptDay) -> RemoteLocation {
        location.appending("receipts").appending(day.description)
    }

    /// The bytes of a file that was fetched; nil if it was not.
    private func contents(of path: String) throws(FileFailure) -> [UInt8]? {
        do throws(FileFailure) {
            return try PrivateFile.readPublic(path, limit: Receipt.sizeLimit).withBytes { bytes in
                bytes.indices.map { bytes[$0] }
            }
        } catch {
            switch error.problem {
            case .notFound, .notRegular, .tooLarge: return nil
            default: throw error
            }
        }
    }

    /// Parses a time of a listing, as `2026-11-24 03:15:02`.
    private static func time(_ text: String) -> Timestamp? {
        Timestamp("\(text.exact.replacing(" ", with: "T")).000000Z")
    }
}
