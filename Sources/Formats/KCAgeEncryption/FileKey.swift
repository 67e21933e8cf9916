package import KCByteStreams
internal import KCCryptography

/// The key of one age file; it opens the file without an identity of any of its recipients.
///
/// Whoever has it can decrypt the file, and write other contents below its header.
package final class FileKey: Identity {
    private let key: SecretBytes

    init(_ key: borrowing SecretBytes) {
        self.key = key.copy()
    }

    /// The 16 bytes.
    package var bytes: SecretBytes { key.copy() }

    /// Accepts 16 bytes that a plugin unwrapped, if `header` was made with them; nil for anything else.
    package static func of(_ header: AgeHeader, _ key: borrowing SecretBytes) throws(AgeFailure) -> FileKey? {
        guard key.count == fileKeySize else { return nil }
        do throws(AgeFailure) {
            try header.authenticate(fileKey: key)
        } catch .headerAuthentication {
            return nil
        }
        return FileKey(key)
    }

    /// Calls `body` with the 16 bytes of the key.
    package func withKey<R: ~Copyable, E: Error>(
        _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R {
        try body(key)
    }

    package func unwrap(_ stanzas: [Stanza]) -> SecretBytes? { key.copy() }

    /// Unwraps the keys of files by their headers, with the identities that can.
    ///
    /// Plugins come last and only for what is still closed, since each may ask its user for something; each is run once.
    ///
    /// - Returns: for each of the files, a key that its header was made with; nil if no identity opens it.
    /// - Throws: `AgeFailure`: as `AgeDecryptor.init`, without `noMatchingIdentity`; `plugin` if a plugin failed and some
    ///   file is still closed.
    package static func unwrap(
        _ headers: [AgeHeader], with identities: [any Identity]
    ) throws(AgeFailure) -> [FileKey?] {
        for header in headers { try AgeHeader.requireLonePassphrase(header.stanzas) }
        var keys = [FileKey?](repeating: nil, count: headers.count)
        for (index, header) in headers.enumerated() {
            for identity in identities where !(identity is PluginIdentity) {
                guard let key = try identity.unwrap(header.stanzas) else { continue }
                guard key.count == fileKeySize else { throw .malformedHeader("the file key has a wrong size") }
                try header.authenticate(fileKey: key)
                keys[index] = FileKey(key)
                break
            }
        }
        var failure: AgeFailure?
        for group in byPlugin(identities) {
            let closed = keys.indices.filter { keys[$0] == nil }
            guard let host = group.first?.host, !closed.isEmpty else { break }
            do throws(AgeFailure) {
                let found = try host.unwrap(closed.map { headers[$0] }, with: group)
                for (index, key) in zip(closed, found) { keys[index] = key }
            } catch {
                guard case .plugin = error else { throw error }
                failure = failure ?? error
            }
        }
        // Another plugin may have opened everything; if not, a failure must not look like a missing key.
        if let failure, keys.contains(where: { $0 == nil }) { throw failure }
        return keys
    }

    /// The identities of plugins, those of each plugin together.
    private static func byPlugin(_ identities: [any Identity]) -> [[PluginIdentity]] {
        let all = identities.compactMap { $0 as? PluginIdentity }
        var seen: Set<PluginName> = []
        return all.filter { seen.insert($0.plugin).inserted }.map { first in
            all.filter { $0.plugin == first.plugin }
        }
    }
}
