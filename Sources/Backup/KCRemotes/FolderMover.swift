package import KCByteStreams

/// Reads and writes the files of a folder of this machine, such as that of a disk which is not always there.
///
/// ```swift
/// let folder = try RemoteFolder(RemoteLocation(destination: "/media/ada/stick"), FolderMover(makesFolder: false))
/// ```
package struct FolderMover: RemoteMover {
    /// True to make a folder that does not exist; in an unattended run, its disk may not be mounted.
    private let makesFolder: Bool

    /// - Parameter makesFolder: true to make a missing folder in one that exists.
    package init(makesFolder: Bool) {
        self.makesFolder = makesFolder
    }

    /// A file gets its name when it is complete and on the disk, unless the name is taken: the file system decides that.
    package func directWrite(to folder: RemoteLocation) throws -> DirectWrite? {
        { paths in for path in paths { try write(path, into: folder) } }
    }

    private func write(_ path: String, into folder: RemoteLocation) throws {
        let source = try OpenFile.reading(path)
        let name = Path.split(path).name
        if makesFolder, !Path.isFolder(folder.path), Path.isFolder(Path.split(folder.path).folder) {
            try Path.makeFolder(folder.path)
        }
        guard Path.isFolder(folder.path) else { throw RemoteFailure.missing(folder) }
        let target = try UnnamedFile(inFolder: folder.path)
        var slice = try FileSlice(whole: source)
        do throws(StreamFailure) {
            var sink = UnnamedFileSink(target)
            try slice.forEachPiece { bytes throws(StreamFailure) in try sink.write(bytes) }
            _ = try sink.finish()
        } catch {
            guard error.stage == .writing, case .system(let code) = error.kind else { throw error }
            throw FileFailure(folder.path, .system(code, doing: "writing to"))
        }
        do throws(FileFailure) {
            try target.publish(as: name)
        } catch {
            if error.problem == .exists { throw RemoteFailure.exists(folder.appending(name)) }
            throw error
        }
    }

    package func files(in folder: RemoteLocation) throws -> [RemoteEntry] {
        guard try Path.exists(folder.path) else { throw RemoteFailure.missing(folder) }
        let open = try OpenFolder(folder.path)
        var unreadable: [String] = []
        var entries: [RemoteEntry] = []
        for name in try open.names(unreadable: &unreadable) {
            guard let status = try open.status(of: name), status.kind == .file else { continue }
            entries.append(RemoteEntry(name: name, size: status.size))
        }
        return entries
    }

    package func read(
        _ file: RemoteLocation, size: UInt64, _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws {
        let copy = try OpenFile.reading(file.path)
        guard try copy.size() == size else { throw RemoteFailure.changed(file) }
        var slice = try FileSlice(whole: copy)
        var piece = SecretBytes(capacity: Self.pieceSize)
        while true {
            piece.removeAll()
            try piece.append(upTo: Self.pieceSize) { output throws(StreamFailure) in try slice.read(into: &output) }
            if piece.isEmpty { return }
            try piece.withBytes(receive)
        }
    }

    // In bytes.
    private static let pieceSize = 65_536

    package func delete(_ file: RemoteLocation) throws { try Path.remove(file.path) }

    package func write(_ path: String, over file: RemoteLocation) throws {
        preconditionFailure("a file is written here under its own name")
    }

    package func move(_ file: RemoteLocation, to name: RemoteLocation) throws {
        preconditionFailure("a file is written here under its own name")
    }

    /// None: what is read from a disk is compared.
    package func listedAlike(_ path: String, in folder: RemoteLocation) throws -> Set<ExactText> { [] }

    package func bucket(of folder: RemoteLocation) throws -> RemoteBucket? { nil }
}
