internal import KCByteStreams

/// rclone, which reads and writes the files of remotes; this program has no network code.
///
/// Only calls that were seen to keep what is there are used: never `rcat`, which stores what it got if its input breaks
/// off, and never `copyto --immutable`, which overwrites.
package struct Rclone: RemoteMover {
    /// Runs rclone with arguments to its end, and passes on its output in pieces.
    package typealias Runner = (_ arguments: [String], _ receive: (borrowing Span<UInt8>) throws -> Void) throws ->
        ProgramEnding

    /// The flags of every call: a single try of our own, and few of the parts of a request, so that a remote that is
    /// down is reported in seconds; S3 does not make a bucket whose name was mistyped.
    private static let flags = [
        "--retries", "1", "--low-level-retries", "3", "--contimeout", "10s", "--timeout", "60s", "--stats", "0",
        "--s3-no-check-bucket", "--ask-password=false", "--log-format", "",
    ]
    // Two names a day for a century; a listing of more would take too much memory.
    static let entryLimit = 100_000
    // In bytes; a configuration of one remote has a few hundred.
    private static let configurationLimit = 65_536

    /// The variables that its environment must have beside those of this program: as options, they would end versions
    /// without them.
    ///
    /// A file is written under the name that it is given. Versions from 1.63 on would write it under another one first,
    /// which stays if they are killed.
    package static let settings = ["RCLONE_INPLACE": "true"]

    private let environment: [String: String]
    private let runner: Runner

    /// Creates an instance that runs the program by `runner`.
    ///
    /// - Parameter environment: that of the program, in which remotes can be defined.
    package init(environment: [String: String], _ runner: @escaping Runner) {
        self.environment = environment
        self.runner = runner
    }

    package func directWrite(to folder: RemoteLocation) throws -> DirectWrite? {
        if folder.host != nil { throw RemoteFailure.needsRclone(folder) }
        var writing = RemoteOptions.Writing.conditional
        // A remote may pass everything on to another one, such as an encrypting one.
        var left = [folder]
        var seen: Set<ExactText> = []
        while let place = left.popLast() {
            if !seen.insert(place.remote.exact).inserted { continue }
            let options = try options(of: place)
            if !options.isPinned { throw RemoteFailure.unpinnedHost(remote: place.remote) }
            if let other = options.writing, other.rawValue > writing.rawValue { writing = other }
            left += options.inner
        }
        if writing == .parts { return nil }
        return { [writing] paths in
            if try writing == .conditional && upload(paths, into: folder, isConditional: true) { return }
            _ = try upload(paths, into: folder, isConditional: false)
        }
    }

    /// A remote before a bucket, such as an encrypting one, has other names for versions.
    package func bucket(of folder: RemoteLocation) throws -> RemoteBucket? {
        try options(of: folder).kind?.exact == "s3" ? RemoteBucket(self, folder) : nil
    }

    /// An instance that runs `before` ahead of each call.
    package func intercepted(_ before: @escaping (_ verb: String) throws -> Void) -> Rclone {
        Rclone(environment: environment) { arguments, receive in
            try before(arguments[0])
            return try runner(arguments, receive)
        }
    }

    /// The files in a folder, without those in its folders; none for a missing folder of a remote that has no folders.
    ///
    /// - Throws: `RemoteFailure`, and what the runner throws.
    package func files(in folder: RemoteLocation) throws -> [RemoteEntry] { try files(in: folder, []) }

    /// - Parameter flags: what else is listed.
    func files(in folder: RemoteLocation, _ flags: [String]) throws -> [RemoteEntry] {
        var entries: [RemoteEntry] = []
        let ending = try list(folder.folderText, of: folder, format: "sp", flags) { fields in
            guard let size = UInt64(String(decoding: fields[0], as: UTF8.self)), !fields[1].isEmpty else {
                throw RemoteFailure.unclear(folder)
            }
            entries.append(RemoteEntry(name: String(decoding: fields[1], as: UTF8.self), size: size))
            if entries.count > Self.entryLimit { throw RemoteFailure.tooMany(folder, limit: Self.entryLimit) }
        }
        if ending.status == Self.folderMissing { throw RemoteFailure.missing(folder) }
        try require(ending, folder)
        return entries
    }

    /// Passes on a file in pieces.
    ///
    /// - Parameter size: its size. rclone reports no failure if it finds nothing, or reads less than there is.
    /// - Throws: `RemoteFailure`, and what `receive` and the runner throw.
    package func read(
        _ file: RemoteLocation, size: UInt64, _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws {
        var count: UInt64 = 0
        let ending = try call(["cat", "--no-traverse"], [file.text]) { piece in
            count += UInt64(piece.count)
            if count > size { throw RemoteFailure.changed(file) }
            try receive(piece)
        }
        try require(ending, file)
        if count != size { throw RemoteFailure.changed(file) }
    }

    /// Writes files of one folder into a folder of an object store under their own names.
    ///
    /// - Parameters:
    ///   - paths: the absolute paths of the files, of which there is at least one.
    ///   - isConditional: true to have the server refuse each whose name is taken, also by a file that another machine
    ///     is writing. Each request carries the condition, so rclone must make no other ones: a question for what is
    ///     there would fail. The option for uploads alone is ignored by versions before 1.72.
    /// - Returns: false if the server knows no conditions, and has written nothing.
    /// - Throws: `RemoteFailure` (`exists` if the name is taken by another file), and what the runner throws.
    func upload(_ paths: [String], into folder: RemoteLocation, isConditional: Bool) throws -> Bool {
        let parent = Path.split(paths[0]).folder
        let target = paths.count == 1 ? folder.appending(Path.split(paths[0]).name) : folder
        // In one request up to 5 GiB, the most that S3 takes. Asked about what it wrote, it could answer with what
        // another machine wrote meanwhile, which rclone would take for a damaged upload, and delete.
        let condition = [
            "--no-check-dest", "--s3-no-head", "--s3-upload-cutoff", "5Gi", "--header", "If-None-Match: *",
        ]
        let arguments =
            ["copy"] + Self.including(paths.map { Path.split($0).name }) + ["--max-depth", "1", "--copy-links"]
            + (isConditional ? condition : ["--immutable", "--checksum", "--s3-no-head"])
        let ending = try call(arguments, [parent, folder.folderText]) { _ in }
        if ending.status == Self.isImmutable { throw RemoteFailure.exists(target) }
        if isConditional, ending.status != 0, ending.messages.exact.contains("NotImplemented") { return false }
        try require(ending, target)
        return true
    }

    /// Writes a file, also where there is one.
    ///
    /// - Parameter path: the absolute path of the file.
    package func write(_ path: String, over file: RemoteLocation) throws {
        // A question for what is there is refused to those who may not list the bucket.
        let arguments = ["copyto", "--copy-links", "--no-check-dest", "--s3-no-head"]
        try require(call(arguments, [path, file.text]) { _ in }, file)
    }

    /// Flags that leave only files of these names.
    static func including(_ names: [String]) -> [String] { names.flatMap { ["--include", "/" + pattern(of: $0)] } }

    /// A pattern that only this name matches.
    private static func pattern(of name: String) -> String {
        var pattern: [UInt8] = []
        for byte in name.utf8 {
            if "*?[]{}\\".utf8.contains(byte) { pattern.append(UInt8(ascii: "\\")) }
            pattern.append(byte)
        }
        return String(decoding: pattern, as: UTF8.self)
    }

    /// Renames a file; another one of that name is replaced on some remotes.
    ///
    /// WebDAV is asked to refuse that; so does SFTP in versions before 1.63. rclone must not look itself: it would
    /// delete the other file first.
    package func move(_ file: RemoteLocation, to name: RemoteLocation) throws {
        let arguments = ["moveto", "--no-check-dest", "--header", "Overwrite: F"]
        try require(call(arguments, [file.text, name.text]) { _ in }, name)
    }

    /// Deletes a file.
    package func delete(_ file: RemoteLocation) throws { try require(call(["deletefile"], [file.text]) { _ in }, file) }

    /// How a remote is configured, in rclone's configuration or in the environment.
    ///
    /// - Throws: `RemoteFailure` (`unknownRemote`, `unclear`), and what the runner throws.
    func options(of remote: RemoteLocation) throws -> RemoteOptions {
        var text = SecretBytes(capacity: 4_096)
        let ending = try call(["config", "show"], [remote.remote]) { piece in
            guard text.count + piece.count <= Self.configurationLimit else { throw RemoteFailure.unclear(remote) }
            text.append(piece)
        }
        if ending.status != 0 {
            text.removeAll()
            let failure = RemoteFailure(ending, remote)
            if case .unreadableConfiguration = failure { throw failure }
        }
        let options = RemoteOptions(text, of: remote.remote, environment)
        // Options that cannot be read must not count as harmless.
        if options.kind == nil { throw RemoteFailure.unknownRemote(remote.remote) }
        return options
    }

    /// - Parameter operands: what follows the flags; none begins with a dash.
    func call(
        _ arguments: [String], _ operands: [String], _ receive: (borrowing Span<UInt8>) throws -> Void
    ) throws -> ProgramEnding {
        try runner(arguments + Self.flags + operands, receive)
    }

    // Exit statuses that mean one thing; almost all failures end with 1.
    static let folderMissing: Int32 = 3
    private static let isImmutable: Int32 = 6

    func require(_ ending: ProgramEnding, _ location: RemoteLocation) throws(RemoteFailure) {
        if ending.status != 0 { throw RemoteFailure(ending, location) }
    }
}
