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
    /// What was found.
    package struct Findings: Hashable, Sendable {
        /// True if other bytes took the place of those under a name.
        package let canReplace: Bool
        package let canDelete: Bool
        /// Nil if rclone shows no earlier versions of this kind of remote.
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

    /// What becomes of the earlier versions of a file.
    package struct Versions: Hashable, Sendable {
        /// True if the first version is there after the file was replaced or deleted.
        package let areKept: Bool
        package let canDelete: Bool
        /// True if keeping versions can be switched off.
        package let canSwitchOff: Bool
    }

    private let name: String
    private let folder: RemoteFolder
    private var rclone: Rclone { folder.rclone }
    private var file: RemoteLocation { folder.location.appending(name) }

    /// - Parameter name: a name that no file in the folder has, with a dot in it.
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
        let size = try first.size()
        try rclone.write(first.path, over: file)
        guard try folder.file(named: name)?.size == size else { throw RemoteFailure.differs(file) }
        _ = try isAllowed { try rclone.write(second.path, over: file) }
        let canReplace = try folder.file(named: name)?.size != size
        let isDeleted = try isAllowed { try rclone.delete(file) }
        let canDelete = try isDeleted && folder.file(named: name) == nil
        let versions = try hasVersions ? self.versions(of: size) : nil
        let left = try hasVersions ? rclone.versions(of: name, in: folder.location).map(\.name) : []
        let remains = try folder.file(named: name).map { [$0.name] } ?? []
        return Findings(canReplace: canReplace, canDelete: canDelete, versions: versions, left: remains + left)
    }

    /// True for buckets; a remote before one, such as an encrypting one, has other names for versions.
    private var hasVersions: Bool {
        get throws { try rclone.options(of: folder.location).kind?.exact == "s3" }
    }

    private func versions(of size: UInt64) throws -> Versions {
        let kept = try rclone.versions(of: name, in: folder.location)
        guard kept.contains(where: { $0.size == size }) else {
            return Versions(areKept: false, canDelete: false, canSwitchOff: false)
        }
        for version in kept { _ = try isAllowed { try rclone.deleteVersion(version.name, in: folder.location) } }
        let areGone = try !rclone.versions(of: name, in: folder.location).contains { $0.size == size }
        let bucket = folder.location.bucket
        // Setting what is set already shows that it could be set, and changes nothing.
        let isOn = try rclone.isKeepingVersions(bucket)
        let canSwitchOff = try isOn && isAllowed { try rclone.keepVersions(bucket) }
        return Versions(areKept: true, canDelete: areGone, canSwitchOff: canSwitchOff)
    }

    /// False if the remote refuses; a remote out of reach is another matter.
    private func isAllowed(_ work: () throws -> Void) throws -> Bool {
        do {
            try work()
            return true
        } catch let failure as RemoteFailure {
            switch failure {
            case .exists, .denied, .failed, .missing: return false
            default: throw failure
            }
        }
    }
}

extension RemoteLocation {
    /// The first part of the path, which is the bucket on remotes that have some.
    fileprivate var bucket: RemoteLocation {
        var place = self
        while let parent = place.folder, !parent.name.isEmpty { place = parent }
        return place
    }
}

extension Rclone {
    /// The versions of a file, as files named `NAME-vTIME.ENDING`.
    fileprivate func versions(of name: String, in folder: RemoteLocation) throws -> [Entry] {
        let (stem, ending) = Self.parts(of: name)
        return try files(in: folder, ["--s3-versions"]).filter {
            $0.name.exact.hasPrefix("\(stem)-v") && $0.name.exact.hasSuffix(ending)
        }
    }

    /// Deletes a version of a file; `deletefile` of old rclone finds none where the file is deleted.
    fileprivate func deleteVersion(_ name: String, in folder: RemoteLocation) throws {
        let arguments = ["delete", "--s3-versions", "--max-depth", "1", "--include", "/" + Self.pattern(of: name)]
        try require(call(arguments, [folder.text]) { _ in }, folder)
    }

    /// True if a bucket keeps versions; false also where that cannot be asked.
    fileprivate func isKeepingVersions(_ bucket: RemoteLocation) throws -> Bool {
        var answer: [UInt8] = []
        let ending = try call(["backend", "versioning"], [bucket.text]) { piece in
            for index in piece.indices where answer.count < 100 { answer.append(piece[index]) }
        }
        return ending.status == 0 && String(decoding: answer, as: UTF8.self).exact.contains("Enabled")
    }

    /// Has a bucket keep versions.
    fileprivate func keepVersions(_ bucket: RemoteLocation) throws {
        try require(call(["backend", "versioning"], [bucket.text, "Enabled"]) { _ in }, bucket)
    }

    private static func parts(of name: String) -> (stem: String, ending: String) {
        let parts = name.exact.split(separator: ".", maxSplits: 1)
        return parts.count == 2 ? (parts[0], "." + parts[1]) : (name, "")
    }
}
