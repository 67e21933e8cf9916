package import KCByteStreams
package import KCCryptography

/// A folder of a remote, in which no file is ever replaced.
///
/// ```swift
/// let folder = try RemoteFolder(location, rclone)
/// let outcome = try folder.put(OpenFile.reading("/home/ada/login.kcb"))
/// ```
package struct RemoteFolder {
    /// Where it is.
    package let location: RemoteLocation
    let mover: any RemoteMover
    /// How a file gets there under its own name; nil if it could be seen there before it is complete.
    let direct: DirectWrite?
    /// Lets some time pass between two looks at what another run does.
    private let pause: () throws -> Void
    // Rounds in which other machines begin to write a file of the same name; each ends with fewer of them.
    private static let roundLimit = 20
    // Tries to write a file that other runs are writing, too, and break off.
    private static let attemptLimit = 3

    /// The result of copying a file.
    package enum Outcome: Hashable, Sendable {
        case copied
        /// The same file is there already.
        case present
    }

    /// A file on the remote.
    package struct Copy: Hashable, Sendable {
        package let outcome: Outcome
        /// The size in bytes.
        package let size: UInt64
        /// The SHA-256 of its bytes.
        package let digest: SHA256Digest
        /// False if it was written and may not be read, so that nothing shows that it is there.
        package let isReadBack: Bool

        /// Creates a description of a file.
        package init(outcome: Outcome, size: UInt64, digest: SHA256Digest, isReadBack: Bool) {
            (self.outcome, self.size, self.digest, self.isReadBack) = (outcome, size, digest, isReadBack)
        }
    }

    /// Looks at how the remote is configured.
    ///
    /// - Parameter pause: lets some time pass; called while another run writes the same file.
    /// - Throws: `RemoteFailure` (`unknownRemote`, `unpinnedHost`), and as the runner.
    package init(
        _ location: RemoteLocation, _ mover: any RemoteMover, pausing pause: @escaping () throws -> Void = {}
    ) throws {
        self.location = location
        self.mover = mover
        self.pause = pause
        direct = try mover.directWrite(to: location)
    }

    /// Its files.
    ///
    /// - Throws: `RemoteFailure`, and as the runner.
    package func files() throws -> [RemoteEntry] { try mover.files(in: location) }

    /// The file with this name; nil if there is none.
    ///
    /// - Throws: `RemoteFailure`, and as the runner.
    package func file(named name: String) throws -> RemoteEntry? {
        Self.entry(name, in: try filesIfAny())
    }

    /// Its files; none if it does not exist yet.
    package func filesIfAny() throws -> [RemoteEntry] {
        do {
            return try files()
        } catch RemoteFailure.missing {
            return []
        }
    }

    /// The names of the files that are listed with the hash of the file of that name in a folder here.
    ///
    /// - Parameter path: the absolute path of the folder here.
    /// - Throws: `RemoteFailure`, and as the runner.
    package func listedAlike(_ path: String) throws -> Set<ExactText> {
        try mover.listedAlike(path, in: location)
    }

    /// Passes on a file in pieces.
    ///
    /// - Throws: `RemoteFailure`, and as `receive` and the runner.
    package func read(_ file: RemoteEntry, _ receive: (borrowing Span<UInt8>) throws -> Void) throws {
        try mover.read(location.appending(file.name), size: file.size, receive)
    }

    /// The files among these that runs which were broken off have left of copies.
    ///
    /// - Parameter isOwn: true for the name of a file that this machine copies. Other machines may be writing theirs.
    package static func parts(in files: [RemoteEntry], of isOwn: (String) -> Bool) -> [RemoteEntry] {
        files.filter { file in PartName(file.name).map { isOwn($0.name) } ?? false }
    }

    /// Deletes a file that `parts` has found, unless it is gone.
    ///
    /// A run that is writing it finds that it is gone, and writes it again.
    ///
    /// - Throws: `RemoteFailure`, and as the runner.
    package func discard(part: RemoteEntry) throws {
        guard let part = PartName(part.name) else { preconditionFailure("no part of a copy") }
        try discard(part)
    }

    /// Reads a copy back.
    ///
    /// - Throws: `RemoteFailure.exists` if it is another file, and as `read`.
    package func require(_ name: String, size: UInt64, digest: SHA256Digest) throws {
        try require(
            RemoteEntry(name: name, size: size), toBe: Wanted(name: name, size: size, digest: digest))
    }

    /// Copies a file, unless it is there, and reads the copy back.
    ///
    /// Where a file could be seen before it is complete, it is written and compared under another name first. If this is
    /// broken off, doing it again completes it and leaves nothing else.
    ///
    /// - Parameter file: the file, opened by its absolute path; the copy gets its name.
    /// - Throws: `RemoteFailure` (`unusableName` and others), `FileFailure`, `StreamFailure`, `CryptographyFailure`, and as
    ///   the runner.
    package func put(_ file: OpenFile) throws -> Outcome { try copy(file).outcome }

    /// Does the same, and says what was read back.
    ///
    /// - Throws: as `put`.
    package func copy(_ file: OpenFile) throws -> Copy {
        let wanted = try wanted(file)
        var trouble = RemoteFailure.busy(location.appending(wanted.name))
        for _ in 0..<Self.attemptLimit {
            switch try attempt(wanted, from: file) {
            case .done(let outcome): return wanted.copy(outcome)
            case .again(let failure): trouble = failure
            }
        }
        throw trouble
    }

    /// How a try to copy a file ended.
    private enum Attempt {
        case done(Outcome)
        /// Another run that writes the same file has removed what this one wrote, and was broken off.
        case again(RemoteFailure)

        var isCopied: Bool { if case .done(.copied) = self { true } else { false } }
    }

    private func attempt(_ wanted: Wanted, from file: OpenFile) throws -> Attempt {
        let before = try filesIfAny()
        // A part left by a run that was broken off may be incomplete. Another run that is writing it finds this one.
        for part in Self.parts(of: wanted.name, in: before) where part.hasContent(wanted.digest) { try discard(part) }
        if let entry = Self.entry(wanted.name, in: before) {
            return .done(try complete(entry, wanted, from: file))
        }
        if let direct {
            try write(wanted, from: file, direct)
        } else if case let ending = try writePart(of: wanted, from: file), !ending.isCopied {
            return ending
        }
        guard let entry = try self.file(named: wanted.name), try isCopy(entry, of: wanted) else {
            throw RemoteFailure.differs(location.appending(wanted.name))
        }
        return .done(.copied)
    }

    /// A file as it should be on the remote.
    struct Wanted {
        let name: String
        let size: UInt64
        let digest: SHA256Digest

        func copy(_ outcome: Outcome, isReadBack: Bool = true) -> Copy {
            Copy(outcome: outcome, size: size, digest: digest, isReadBack: isReadBack)
        }
    }

    /// Writes a file under its name.
    private func write(_ wanted: Wanted, from file: OpenFile, _ direct: DirectWrite) throws {
        do {
            try direct([file.path])
        } catch RemoteFailure.exists(let target) {
            // The existing file is this one if the answer to a first request was lost, and rclone repeated it.
            guard let entry = try self.file(named: wanted.name) else { throw RemoteFailure.exists(target) }
            _ = try complete(entry, wanted, from: file)
        } catch RemoteFailure.missing {
            // Only a bucket is not made on the way.
            throw RemoteFailure.missing(location)
        }
    }

    /// Writes a file under another name, compares it, and renames it.
    private func writePart(of wanted: Wanted, from file: OpenFile) throws -> Attempt {
        let part = try PartName(of: wanted.name, wanted.digest)
        let place = location.appending(part.text)
        do {
            try mover.write(file.path, over: place)
            guard let entry = try self.file(named: part.text), try isCopy(entry, of: wanted) else {
                throw RemoteFailure.differs(place)
            }
            try awaitTurn(of: part, for: wanted.name)
            try mover.move(place, to: location.appending(wanted.name))
            return .done(.copied)
        } catch let failure as RemoteFailure {
            return try settle(failure, of: part, wanted)
        }
    }

    /// Finds out whether a copy failed because the name is taken, or because it is done.
    ///
    /// - Throws: `RemoteFailure`: the one that is given, or a better one.
    private func settle(_ failure: RemoteFailure, of part: PartName, _ wanted: Wanted) throws -> Attempt {
        var files = try filesIfAny()
        // A listing can miss a file that is being renamed.
        if Self.parts(of: wanted.name, in: files).isEmpty, Self.entry(wanted.name, in: files) == nil {
            files = try filesIfAny()
        }
        let parts = Self.parts(of: wanted.name, in: files)
        let entry = Self.entry(wanted.name, in: files)
        let isTaken = if case .exists = failure { true } else { entry != nil }
        if isTaken, parts.contains(part) { try discard(part) }
        if let entry {
            // The existing file is this one if the answer to a first request was lost, and rclone repeated it.
            try require(entry, toBe: wanted)
            return .done(failure.isOfName ? .present : .copied)
        }
        let isGone = !parts.contains(part)
        if isGone || isTaken, parts.contains(where: { $0 != part && $0.hasContent(wanted.digest) }) {
            return try awaitCopy(of: wanted)
        }
        // Another machine, whose part comes first, has deleted this one.
        if isGone, let other = parts.first(where: { $0 < part }) {
            throw RemoteFailure.exists(location.appending(other.text))
        }
        if isGone, failure.isOfAbsence { return .again(failure) }
        throw isGone || isTaken ? failure : try mover.removing(location.appending(part.text), after: failure)
    }

    /// Waits for a run that writes the same file: another machine, or another job of this one.
    ///
    /// - Throws: `RemoteFailure` (`busy` if it takes too long, `exists` if the name is then that of another file), and as
    ///   the runner.
    private func awaitCopy(of wanted: Wanted) throws -> Attempt {
        let busy = RemoteFailure.busy(location.appending(wanted.name))
        var isGone = false
        for _ in 0..<Self.roundLimit {
            try pause()
            let files = try filesIfAny()
            if let entry = Self.entry(wanted.name, in: files) {
                try require(entry, toBe: wanted)
                return .done(.present)
            }
            let isWritten = Self.parts(of: wanted.name, in: files).contains { $0.hasContent(wanted.digest) }
            // A listing can miss a file that is being renamed.
            if !isWritten, isGone { return .again(busy) }
            isGone = !isWritten
        }
        throw busy
    }

    /// Returns when no other machine can give its file this name.
    ///
    /// Many remotes replace a file when another one is renamed. So each machine looks for the parts of others when its
    /// own is complete. Of two, at least one sees the other's, because it looks after both were written. The one whose
    /// part is first deletes those of the others, which then cannot be renamed; the others give up. A listing can miss a
    /// part that is being renamed; the next one has it under its name.
    ///
    /// - Throws: `RemoteFailure` (`exists` if the name is taken, or will be), and as the runner.
    private func awaitTurn(of part: PartName, for name: String) throws {
        var wasAlone = false
        var trouble = RemoteFailure.exists(location.appending(name))
        for _ in 0..<Self.roundLimit {
            let files = try filesIfAny()
            if Self.entry(name, in: files) != nil { throw RemoteFailure.exists(location.appending(name)) }
            if wasAlone { return }
            let others = Self.parts(of: name, in: files).filter { $0 != part }
            if let first = others.min(), first < part { throw RemoteFailure.exists(location.appending(first.text)) }
            for other in others {
                do {
                    try discard(other)
                } catch let failure as RemoteFailure {
                    // The part may be locked while it is written; the other machine gives up after that.
                    trouble = failure
                }
            }
            wasAlone = others.isEmpty
        }
        throw trouble
    }

    /// Deletes a part, unless it is gone.
    private func discard(_ part: PartName) throws {
        do {
            try mover.delete(location.appending(part.text))
        } catch RemoteFailure.missing {}
    }

    private static func parts(of name: String, in files: [RemoteEntry]) -> [PartName] {
        files.compactMap { PartName($0.name, of: name) }
    }

    private static func entry(_ name: String, in files: [RemoteEntry]) -> RemoteEntry? {
        files.first { $0.name.exact == name.exact }
    }

    /// - Throws: `RemoteFailure.unusableName`, `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    func wanted(_ file: OpenFile) throws -> Wanted {
        let name = Path.split(file.path).name
        let target = location.appending(name)
        // A name with a line break would make every later listing of the folder unclear.
        guard RemoteLocation(destination: target.text) == target else { throw RemoteFailure.unusableName(name) }
        return Wanted(name: name, size: try file.size(), digest: try Self.digest(of: FileSlice(whole: file)))
    }

    private func require(_ entry: RemoteEntry, toBe wanted: Wanted) throws {
        guard try isCopy(entry, of: wanted) else { throw RemoteFailure.exists(location.appending(entry.name)) }
    }

    func isCopy(_ entry: RemoteEntry, of wanted: Wanted) throws -> Bool {
        try entry.size == wanted.size && digest(of: entry) == wanted.digest
    }

    func digest(of entry: RemoteEntry) throws -> SHA256Digest {
        var hash = SHA256()
        try read(entry) { hash.update($0) }
        return hash.finalize()
    }

    static func digest(of slice: FileSlice) throws -> SHA256Digest {
        var hash = SHA256()
        var slice = slice
        try slice.forEachPiece { bytes throws(StreamFailure) in hash.update(bytes) }
        return hash.finalize()
    }
}
