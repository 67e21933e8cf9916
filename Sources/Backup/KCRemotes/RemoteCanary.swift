package import KCByteStreams

/// A small file with which a remote is asked what somebody who has taken over this machine could do to its copies.
///
/// Everything is tried, as such a person would: without a condition, and without looking first.
///
/// ```swift
/// let findings = try RemoteCanary(name: "kcbackup-canary-4f1c.txt", in: folder).run(first, second)
/// print(findings.canDestroy)
/// ```
package struct RemoteCanary {
    package struct Findings: Hashable, Sendable {
        /// True if other bytes took the place of those under a name.
        package let canReplace: Bool
        package let canDelete: Bool
        /// Nil if rclone shows no earlier versions of this kind of remote, or if the remote does not say.
        package let versions: Versions?
        /// The files, and versions of files, that could not be deleted again.
        package let left: [String]

        /// True if nothing keeps a copy from being destroyed.
        package var canDestroy: Bool {
            guard canReplace || canDelete else { return false }
            guard let versions, versions.areKept else { return true }
            return versions.canDelete || versions.canSwitchOff
        }
    }

    /// The fate of the earlier versions of a file.
    package struct Versions: Hashable, Sendable {
        /// True if the first version is there after the file was replaced or deleted.
        package let areKept: Bool
        package let canDelete: Bool
        /// True if keeping versions can be switched off.
        package let canSwitchOff: Bool
    }

    private let name: String
    private let folder: RemoteFolder
    private var mover: any RemoteMover { folder.mover }
    private var file: RemoteLocation { folder.location.appending(name) }

    /// - Parameter name: a name with a dot in it, which no other file in the folder has. A file that an earlier run could not delete is
    ///   used again.
    package init(name: String, in folder: RemoteFolder) {
        self.name = name
        self.folder = folder
    }

    /// Creates, replaces and deletes the file, and its versions.
    ///
    /// - Parameters:
    ///   - first: what is written first, opened by its absolute path.
    ///   - second: something of another size.
    /// - Throws: `RemoteFailure` (`denied` and others if the file cannot even be created), `FileFailure`, and as the
    ///   runner.
    package func run(_ first: OpenFile, _ second: OpenFile) throws -> Findings {
        do {
            return try findings(first, second)
        } catch let failure as RemoteFailure {
            throw try mover.removing(file, after: failure)
        }
    }

    private func findings(_ first: OpenFile, _ second: OpenFile) throws -> Findings {
        var size = try first.size()
        if let earlier = try folder.file(named: name) {
            size = earlier.size
        } else {
            try mover.write(first.path, over: file)
            guard try folder.file(named: name)?.size == size else { throw RemoteFailure.differs(file) }
        }
        let other = try size == second.size() ? first : second
        _ = try isAllowed { try mover.write(other.path, over: file) }
        let canReplace = try folder.file(named: name)?.size != size
        let isDeleted = try isAllowed { try mover.delete(file) }
        let canDelete = try isDeleted && folder.file(named: name) == nil
        let bucket = try mover.bucket(of: folder.location)
        let versions = try bucket.flatMap { bucket in try answer { try self.versions(of: size, in: bucket) } }
        let left = try bucket.flatMap { bucket in try answer { try bucket.versions(of: name).map(\.name) } } ?? []
        let remains = try folder.file(named: name).map { [$0.name] } ?? []
        return Findings(canReplace: canReplace, canDelete: canDelete, versions: versions, left: remains + left)
    }

    private func versions(of size: UInt64, in bucket: RemoteBucket) throws -> Versions {
        let kept = try bucket.versions(of: name)
        guard kept.contains(where: { $0.size == size }) else {
            return Versions(areKept: false, canDelete: false, canSwitchOff: false)
        }
        for version in kept { _ = try isAllowed { try bucket.deleteVersion(version.name) } }
        let areGone = try !bucket.versions(of: name).contains { $0.size == size }
        // Setting what is set already shows that it could be set, and changes nothing.
        let isOn = try bucket.isKeepingVersions()
        let canSwitchOff = try isOn && isAllowed { try bucket.keepVersions() }
        return Versions(areKept: true, canDelete: areGone, canSwitchOff: canSwitchOff)
    }

    /// False if the remote refuses; a remote out of reach is another matter.
    private func isAllowed(_ work: () throws -> Void) throws -> Bool { try answer(work) != nil }

    /// The answer of the remote; nil if it refuses.
    private func answer<Answer>(_ question: () throws -> Answer) throws -> Answer? {
        do {
            return try question()
        } catch let failure as RemoteFailure {
            switch failure {
            case .exists, .denied, .failed, .missing: return nil
            default: throw failure
            }
        }
    }
}
