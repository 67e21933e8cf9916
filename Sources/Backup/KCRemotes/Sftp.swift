package import KCByteStreams

/// OpenSSH's sftp, which reads and writes the files of a host for machines without rclone.
///
/// Names and commands go through its batch mode, one connection for each call. Hosts, ports, keys and jump hosts are those
/// of the user's configuration of ssh; a host whose key is not known is refused.
///
/// ```swift
/// let sftp = Sftp(temporaryFolder: "/tmp") { arguments, input, receive in … }
/// let folder = try RemoteFolder(RemoteLocation("sftp:nas:backups"), sftp)
/// ```
package struct Sftp: RemoteMover {
    /// Runs sftp with arguments and input to its end, and passes on its output in pieces.
    package typealias Runner = (
        _ arguments: [String], _ input: [UInt8], _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws -> ProgramEnding

    /// Nothing is asked, and unknown hosts are refused, whatever the user's configuration says.
    ///
    /// A host that is down is reported in seconds. A connection that others share is used, but none is left behind for them.
    private static let flags = [
        "-b", "-", "-oBatchMode=yes", "-oStrictHostKeyChecking=yes", "-oControlMaster=no", "-oRemoteCommand=none",
        "-oConnectTimeout=10", "-oServerAliveInterval=15", "-oServerAliveCountMax=4", "-oLogLevel=ERROR",
    ]
    // The name of a file here, in a folder of its own.
    private static let localName = "file"

    private let temporaryFolder: String
    private let runner: Runner

    /// Creates an instance that runs the program by `runner`.
    ///
    /// - Parameter temporaryFolder: where files are kept on their way; a path for which `accepts(_:)` is true.
    package init(temporaryFolder: String, _ runner: @escaping Runner) {
        self.temporaryFolder = temporaryFolder
        self.runner = runner
    }

    /// True if a folder can be used for files on their way.
    package static func accepts(temporaryFolder: String) -> Bool { SftpBatch.word(temporaryFolder) != nil }

    package func directWrite(to folder: RemoteLocation) throws -> DirectWrite? { nil }

    /// None: sftp tells no hashes.
    package func listedAlike(_ path: String, in folder: RemoteLocation) throws -> Set<ExactText> { [] }

    package func bucket(of folder: RemoteLocation) throws -> RemoteBucket? { nil }

    package func files(in folder: RemoteLocation) throws -> [RemoteEntry] {
        var entries: [RemoteEntry] = []
        var lines = ListingLines()
        var batch = try SftpBatch("cd", [.remote(folder)])
        try batch.append("ls -lna", [])
        let ending = try call(folder, batch) { piece in
            try lines.take(piece) { line in
                switch SftpLine(line) {
                case .file(let entry): entries.append(entry)
                case .other: break
                case nil: throw RemoteFailure.unclear(folder)
                }
                if entries.count > Rclone.entryLimit { throw RemoteFailure.tooMany(folder, limit: Rclone.entryLimit) }
            }
        }
        try require(ending, folder)
        if !lines.isComplete { throw RemoteFailure.unclear(folder) }
        return entries
    }

    package func read(
        _ file: RemoteLocation, size: UInt64, _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws {
        // sftp writes only to a file in which it can seek.
        let staging = try StagingFolder(inTemporaryFolder: temporaryFolder)
        let path = "\(staging.path)/\(Self.localName)"
        try require(call(file, SftpBatch("get", [.remote(file), .local(path)])), file)
        let copy = try OpenFile.reading(path)
        guard try copy.size() == size else { throw RemoteFailure.changed(file) }
        var slice = try FileSlice(whole: copy)
        var piece = SecretBytes(capacity: 65_536)
        while true {
            piece.removeAll()
            try piece.append(upTo: 65_536) { output throws(StreamFailure) in try slice.read(into: &output) }
            if piece.isEmpty { return }
            try piece.withBytes(receive)
        }
    }

    package func write(_ path: String, over file: RemoteLocation) throws {
        // sftp takes characters in the name of a file here for a pattern.
        let staging = try StagingFolder(inTemporaryFolder: temporaryFolder)
        try staging.link(Self.localName, to: path)
        let batch = try SftpBatch("put -f", [.local("\(staging.path)/\(Self.localName)"), .remote(file)])
        var ending = try call(file, batch)
        if ending.status != 0, case .missing = RemoteFailure(ofSftp: ending, file), let folder = file.folder {
            try makeFolder(folder)
            ending = try call(file, batch)
        }
        if ending.status != 0, case .failed = RemoteFailure(ofSftp: ending, file), try isFull(file) {
            throw RemoteFailure.failed(file, message: "its disk is full")
        }
        try withExtendedLifetime(staging) { try require(ending, file) }
    }

    /// Renames a file, unless the name is taken: the server decides that.
    ///
    /// Without `-l`, sftp asks servers of OpenSSH to replace the other file.
    package func move(_ file: RemoteLocation, to name: RemoteLocation) throws {
        try require(call(name, SftpBatch("rename -l", [.remote(file), .remote(name)])), name)
    }

    package func delete(_ file: RemoteLocation) throws {
        try require(call(file, SftpBatch("rm", [.remote(file)])), file)
    }

    /// Makes a folder and those that it is in, unless they are there.
    private func makeFolder(_ folder: RemoteLocation) throws {
        let batch = try SftpBatch("mkdir", [.remote(folder)])
        let ending = try call(folder, batch)
        if ending.status != 0, case .missing = RemoteFailure(ofSftp: ending, folder), let parent = folder.folder {
            try makeFolder(parent)
            _ = try call(folder, batch)
        }
        // Another machine may have made it meanwhile; what follows fails if it is not there.
    }

    /// True if the server says that it has no more room; many do not answer that.
    private func isFull(_ file: RemoteLocation) throws -> Bool {
        guard let folder = file.folder else { return false }
        var answer: [UInt8] = []
        let ending = try call(folder, SftpBatch("df", [.remote(folder)])) { piece in
            for index in piece.indices where answer.count < 4_096 { answer.append(piece[index]) }
        }
        // Size, used, available, in KiB, below a line of titles.
        let words = String(decoding: answer, as: UTF8.self).exact.split(separator: "\n").last?.exact.split(
            separator: " ")
        return ending.status == 0 && words?.count == 5 && words?[2].exact == "0"
    }

    private func call(
        _ location: RemoteLocation, _ batch: SftpBatch, _ receive: (borrowing Span<UInt8>) throws -> Void = { _ in }
    ) throws -> ProgramEnding {
        guard let host = location.host else { preconditionFailure("a remote of rclone") }
        return try runner(Self.flags + [host], batch.bytes, receive)
    }

    private func require(_ ending: ProgramEnding, _ location: RemoteLocation) throws(RemoteFailure) {
        if ending.status != 0 { throw RemoteFailure(ofSftp: ending, location) }
    }
}
