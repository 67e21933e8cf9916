internal import KCBackupArchive
package import KCBackupEngine
internal import KCByteStreams

extension CatalogueEntry {
    /// The state of the file with the name of an entry, as far as it shows without reading its streams.
    package enum FileState: Hashable, Sendable {
        /// The file that was recorded.
        case recorded
        case missing
        /// The file is no archive, or not as long as the recorded one, or it was found damaged when it was last read.
        case damaged
        /// The file is another archive than the recorded one.
        case replaced(Difference)
    }

    /// Compares a file with the recorded one.
    package func state(of outline: ArchiveOutline) -> FileState {
        if outline.header.archiveID != archiveID { return .replaced(.archive) }
        // A rekey may have been killed after it replaced the file. The new file passed its checks before it got its name.
        let known = [file, nextFile].compactMap(\.self).first { $0.checksum == outline.checksum }
        guard let known else { return .replaced(.keys) }
        return outline.size == known.size ? .recorded : .damaged
    }

    /// Returns the entry as a rekey that was killed would have left it, if the file at a path is the new one.
    ///
    /// - Throws: `ArchiveFailure` (`file`, `stream`) if the file cannot be read.
    package func settled(at path: String) throws -> CatalogueEntry {
        guard let nextFile else { return self }
        var rekeyed = self
        rekeyed.file = nextFile
        rekeyed.nextFile = nil
        return try rekeyed.outerState(at: path) == .recorded ? rekeyed : self
    }

    /// Compares the file at a path with the recorded one; reads a few kilobytes of it, however large it is, and knows
    /// what was found when all of it was last read.
    ///
    /// - Throws: `ArchiveFailure` (`file`, `stream`) if the file cannot be read.
    package func fileState(at path: String) throws -> FileState {
        let state = try outerState(at: path)
        return state == .recorded && foundDamaged != nil ? .damaged : state
    }

    /// The same, without what was found before.
    func outerState(at path: String) throws -> FileState {
        do throws(ArchiveFailure) {
            return state(of: try ArchiveOutline(ArchiveFile(path: path)))
        } catch {
            switch error {
            case .notAnArchive, .newerFormat, .damaged, .limit: return .damaged
            case .file(let failure) where failure.problem == .notRegular: return .damaged
            case .file(let failure) where failure.problem == .notFound: return .missing
            default: throw error
            }
        }
    }
}
