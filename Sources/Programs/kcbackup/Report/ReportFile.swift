internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportPages

/// The output file of a report: a new file that gets its name when it is complete.
///
/// The report names accounts, so only its owner can read it.
struct ReportFile {
    /// The path as the user named it.
    let path: String
    private let resolved: String
    private let replaces: Bool

    // In bytes; large enough that the cost of writing is negligible.
    private static let size = 65_536

    /// Checks the path before anything is asked or read.
    ///
    /// - Parameter mark: the start of a file that may be replaced; nil if no file may be replaced.
    /// - Throws: `UsageProblem` (`empty`, `malformed`), `FileFailure` (`exists`, `notFound`).
    init(_ path: String, replacing mark: HTML? = nil, in session: Session) throws {
        if path.isEmpty { throw UsageProblem.empty(.html) }
        resolved = session.world.resolve(path)
        let (folder, name) = Path.split(resolved)
        if path == "-" || name.isEmpty || Path.isFolder(resolved) {
            throw UsageProblem.malformed(.html, form: "the path of a new file")
        }
        if try Path.exists(resolved) {
            guard let mark, try Self.begins(resolved, with: mark) else { throw FileFailure(path, .exists) }
            replaces = true
        } else {
            replaces = false
        }
        guard try Path.exists(folder) else { throw FileFailure(Path.split(path).folder, .notFound) }
        self.path = path
    }

    /// Creates the file from what `body` writes; if that throws, no file is left.
    ///
    /// - Throws: `FileFailure`, `Failure.stream`, and what `body` throws.
    func make(_ body: (_ write: (HTML) throws -> Void) throws -> Void) throws {
        let (folder, name) = Path.split(resolved)
        let unnamed = try UnnamedFile(inFolder: folder)
        var bytes: [UInt8] = []
        try body { part in
            bytes.append(utf8: part.text)
            if bytes.count >= Self.size { try flush(&bytes, to: unnamed) }
        }
        try flush(&bytes, to: unnamed)
        if replaces { try unnamed.replace(name) } else { try unnamed.publish(as: name) }
    }

    private static func begins(_ path: String, with mark: HTML) throws -> Bool {
        let file = try OpenFile.reading(path)
        let wanted = Array(mark.text.utf8)
        var start: [UInt8] = []
        try start.append(upTo: wanted.count) { output throws(StreamFailure) in try file.read(at: 0, into: &output) }
        return start == wanted
    }

    private func flush(_ bytes: inout [UInt8], to unnamed: UnnamedFile) throws {
        do throws(StreamFailure) {
            try unnamed.file.write(bytes.span)
        } catch {
            throw Failure.stream(error, path: path)
        }
        bytes.removeAll(keepingCapacity: true)
    }
}
