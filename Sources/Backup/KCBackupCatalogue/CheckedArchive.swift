package import KCBackupArchive
package import KCBackupEngine
package import KCByteStreams

/// An archive that was found to match its entry in the catalogue.
package struct CheckedArchive: Hashable, Sendable {
    /// The identity of its entry.
    package let id: CatalogueEntry.ID
    /// True if it also passed a trial restore.
    package let isDrilled: Bool
    /// The contents that were read from it; nil if they are recorded already, or were not read.
    package let content: CatalogueEntry.Content?

    /// Creates the record of a check.
    package init(_ id: CatalogueEntry.ID, isDrilled: Bool, content: CatalogueEntry.Content? = nil) {
        self.id = id
        self.isDrilled = isDrilled
        self.content = content
    }
}

extension CatalogueEntry {
    /// How the archive with the name of an entry differs from the recorded archive.
    package enum Difference: Hashable, Sendable {
        /// The archive is another one of this device.
        case archive
        /// The archive is the same, with other keys: a copy from before a rekey, or one that was rekeyed elsewhere.
        case keys
        /// Another device signed it.
        case origin
        /// Its contents are not what was put into it.
        case content
        /// The archive is of another keychain than its name says.
        case keychain
    }

    /// Returns how a genuine archive differs from this entry; nil if no difference is known.
    ///
    /// - Parameters:
    ///   - outline: what it shows without a key.
    ///   - fingerprint: the fingerprint of its contents; nil if the contents were not read.
    package func difference(_ outline: ArchiveOutline, origin: Origin, fingerprint: [UInt8]?) -> Difference? {
        if origin != .thisDevice { return .origin }
        if case .replaced(let difference) = state(of: outline) { return difference }
        if let fingerprint, let content, content.fingerprint != fingerprint { return .content }
        return nil
    }

    /// Compares a genuine archive with this entry.
    ///
    /// - Parameters:
    ///   - report: what was found in it; nil if it was not read.
    ///   - path: its name in errors.
    ///   - source: reads what the archive was made from; called if the catalogue does not know it.
    /// - Throws: `CatalogueFailure.replaced`, and what `source` throws.
    package func checked(
        _ outline: ArchiveOutline, _ origin: Origin, _ report: VerifyReport?, isDrilled: Bool, at path: String,
        source: () throws -> ArchiveSource
    ) throws -> CheckedArchive {
        if let difference = difference(outline, origin: origin, fingerprint: report?.fingerprint) {
            throw CatalogueFailure.replaced(name: path, difference)
        }
        guard content == nil, let report else { return CheckedArchive(id, isDrilled: isDrilled) }
        guard ArchiveName.isSeries(series, of: try source()) else {
            throw CatalogueFailure.replaced(name: path, .keychain)
        }
        return CheckedArchive(id, isDrilled: isDrilled, content: Content(report))
    }
}

extension Catalogue {
    /// Returns the archives that are in the folder or about to be given their names, and the names of other archives
    /// there.
    ///
    /// - Throws: `FileFailure` (`system`, …) if the folder cannot be read.
    package func contents(of path: String) throws(FileFailure) -> (listed: [CatalogueEntry], unlisted: [String]) {
        let names = try Self.archiveNames(in: path)
        let listed = entries.filter { entry in
            entry.state == .complete || entry.state == .writing && names.contains(entry.name.exact)
        }
        return (listed, names.subtracting(listed.map(\.name.exact)).sorted().map(\.string))
    }

    /// Returns the names of the files in a folder that may be archives.
    package static func archiveNames(in path: String) throws(FileFailure) -> Set<ExactText> {
        var unreadable: [String] = []
        return try archiveNames(in: path, unreadable: &unreadable)
    }

    /// The same; adds the names of files that may be archives and cannot be opened by name, since it is not UTF-8.
    package static func archiveNames(
        in path: String, unreadable: inout [String]
    ) throws(FileFailure) -> Set<ExactText> {
        var others: [String] = []
        let names = try Path.names(in: path, unreadable: &others)
        unreadable += others.filter { $0.exact.hasSuffix(ArchiveName.ending) }.sorted { $0.exact < $1.exact }
        return Set(names.filter { $0.exact.hasSuffix(ArchiveName.ending) }.map(\.exact))
    }
}

extension CatalogueEntry.Content {
    /// Describes what was read from an archive; nil if something in it could not be read.
    package init?(_ report: VerifyReport) {
        guard let fingerprint = report.fingerprint else { return nil }
        self.init(
            counts: report.contents.counts, groups: report.groups, damaged: report.contents.damaged,
            fingerprint: fingerprint)
    }
}
