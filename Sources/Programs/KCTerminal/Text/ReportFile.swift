internal import KCByteStreams
internal import KCKeychainModel
package import KCReportPages

/// The output file of a report: a new file that gets its name when it is complete.
///
/// The report names accounts, so only its owner can read it.
package struct ReportFile {
    private let path: NewFilePath
    /// The start of a file that may be replaced; nil if there is none.
    private let replaced: HTML?

    // In bytes; large enough that the cost of writing is negligible.
    private static let size = 65_536

    /// The path as the user named it.
    package var given: String { path.given }

    /// Checks the path before anything is asked or read.
    ///
    /// - Parameter mark: the start of a file that may be replaced; nil if no file may be replaced.
    /// - Throws: `UsageProblem` (`empty`, `malformed`), `FileFailure` (`exists`, `notFound`).
    package init(_ path: String, replacing mark: HTML? = nil, in session: Session) throws {
        self.path = try NewFilePath(path, .html, in: session)
        guard try self.path.exists() else {
            replaced = nil
            return
        }
        guard let mark, try Self.status(of: self.path.resolved, beginningWith: mark) != nil else {
            throw FileFailure(path, .exists)
        }
        replaced = mark
    }

    /// Creates the file from what `body` writes; if that throws, no file is left.
    ///
    /// - Throws: `FileFailure`, `Failure.stream`, and what `body` throws.
    package func make(_ body: (_ write: (HTML) throws -> Void) throws -> Void) throws {
        let unnamed = try UnnamedFile(inFolder: path.folder)
        var bytes: [UInt8] = []
        try body { part in
            bytes.append(utf8: part.text)
            if bytes.count >= Self.size { try flush(&bytes, to: unnamed) }
        }
        try flush(&bytes, to: unnamed)
        guard let replaced else { return try unnamed.publish(as: path.name) }
        // Another run may have made a report meanwhile, which is no loss.
        guard let old = try Self.status(of: path.resolved, beginningWith: replaced) else {
            throw FileFailure(path.given, .exists)
        }
        guard try unnamed.replace(path.name, ifStill: old) else { throw FileFailure(path.given, .changed) }
    }

    /// The status of a file, if it begins with `mark`.
    private static func status(of path: String, beginningWith mark: HTML) throws -> EntryStatus? {
        let file = try OpenFile.reading(path)
        let wanted = Array(mark.text.utf8)
        var start: [UInt8] = []
        try start.append(upTo: wanted.count) { output throws(StreamFailure) in try file.read(at: 0, into: &output) }
        return start == wanted ? try EntryStatus(file) : nil
    }

    private func flush(_ bytes: inout [UInt8], to unnamed: UnnamedFile) throws {
        do throws(StreamFailure) {
            try unnamed.file.write(bytes.span)
        } catch {
            throw Failure.stream(error, path: path.given)
        }
        bytes.removeAll(keepingCapacity: true)
    }
}
