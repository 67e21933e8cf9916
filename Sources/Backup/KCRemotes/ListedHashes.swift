package import KCByteStreams

// Hashes that a remote tells without sending the file. They find what was lost, replaced or damaged on the way; a remote
// that fails can be wrong about what it has.

extension Rclone {
    // The kinds that remotes know, the most common first; no remote knows more than two.
    private static let hashes = ["MD5", "SHA1", "SHA256"]

    package func listedAlike(_ path: String, in folder: RemoteLocation) throws -> Set<ExactText> {
        if folder.host != nil { throw RemoteFailure.needsRclone(folder) }
        for kind in Self.hashes {
            let listed = try hashes(kind, of: folder.folderText, folder)
            if listed.isEmpty { continue }
            let here = try hashes(kind, of: path, folder)
            return Set(listed.filter { here[$0.key] == $0.value }.keys)
        }
        return []
    }

    /// The hashes of the files in a folder, by name, without those that are not known.
    private func hashes(
        _ kind: String, of place: String, _ folder: RemoteLocation
    ) throws -> [ExactText: ExactText] {
        var found: [ExactText: ExactText] = [:]
        let ending = try list(place, of: folder, format: "hp", ["--hash", kind]) { fields in
            // Where there is none, a word says so.
            guard fields[0].count >= 32, fields[0].allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else { return }
            if found.count >= Self.entryLimit { throw RemoteFailure.tooMany(folder, limit: Self.entryLimit) }
            let name = String(decoding: fields[1], as: UTF8.self)
            found[name.exact] = String(decoding: fields[0], as: UTF8.self).exact
        }
        try require(ending, folder)
        return found
    }
}
