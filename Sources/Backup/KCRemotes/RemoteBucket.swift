internal import KCByteStreams

/// A folder in a bucket, as far as earlier versions of its files are concerned.
package struct RemoteBucket {
    private let rclone: Rclone
    private let folder: RemoteLocation

    init(_ rclone: Rclone, _ folder: RemoteLocation) {
        self.rclone = rclone
        self.folder = folder
    }

    /// The versions of a file, as files named `NAME-vTIME.ENDING`.
    func versions(of name: String) throws -> [RemoteEntry] {
        let (stem, ending) = Self.parts(of: name)
        return try rclone.files(in: folder, ["--s3-versions"]).filter {
            $0.name.exact.hasPrefix("\(stem)-v") && $0.name.exact.hasSuffix(ending)
        }
    }

    /// Deletes a version of a file; `deletefile` of old rclone finds none where the file is deleted.
    func deleteVersion(_ name: String) throws {
        let arguments = ["delete", "--s3-versions", "--max-depth", "1"] + Rclone.including([name])
        try rclone.require(rclone.call(arguments, [folder.folderText]) { _ in }, folder)
    }

    /// True if it keeps versions; false also where that cannot be asked.
    func isKeepingVersions() throws -> Bool {
        var answer: [UInt8] = []
        let ending = try rclone.call(["backend", "versioning"], [folder.bucket.text]) { piece in
            for index in piece.indices where answer.count < 100 { answer.append(piece[index]) }
        }
        return ending.status == 0 && String(decoding: answer, as: UTF8.self).exact.contains("Enabled")
    }

    /// Has it keep versions.
    func keepVersions() throws {
        let bucket = folder.bucket
        try rclone.require(rclone.call(["backend", "versioning"], [bucket.text, "Enabled"]) { _ in }, bucket)
    }

    private static func parts(of name: String) -> (stem: String, ending: String) {
        let parts = name.exact.split(separator: ".", maxSplits: 1)
        return parts.count == 2 ? (parts[0], "." + parts[1]) : (name, "")
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
