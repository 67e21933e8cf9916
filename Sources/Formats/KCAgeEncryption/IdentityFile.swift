package import KCByteStreams

/// A file of identities, one per line, with comments (as `age-keygen` writes it); or a private key of SSH.
package struct IdentityFile: Sendable {
    /// The identities of age itself, in order.
    package let identities: [NativeIdentity]
    /// The key of a file that `ssh-keygen` wrote.
    package let ssh: SSHIdentity?
    /// The identities of plugins, in order.
    package let plugins: [PluginIdentity]
    /// The comment lines without `# `, in order; those that contain a private key are omitted.
    package let comments: [String]

    /// Reads the text of an identity file.
    ///
    /// - Parameter host: runs the plugins of identities; nil to refuse those.
    /// - Throws: `AgeFailure`: `malformedIdentityLine`, `unsupportedIdentity`, `sshIdentity`, `identityFileEncoded`, `noIdentities`,
    ///   `identityFileNeedsPassphrase` for a file that `EncryptedKeyFile` opens.
    package static func parse(
        _ text: borrowing SecretBytes, plugins host: (any PluginHost)? = nil
    ) throws(AgeFailure) -> IdentityFile {
        var identities: [NativeIdentity] = []
        var ssh: SSHIdentity?
        var plugins: [PluginIdentity] = []
        var comments: [String] = []
        try text.withBytes { bytes throws(AgeFailure) in
            if bytes.starts(with: AgeHeader.versionPrefix) || bytes.starts(with: AgeHeader.armorPrefix) {
                throw .identityFileNeedsPassphrase
            }
            try requirePlain(bytes)
            // A file with a key in PEM holds nothing else, as in age.
            if bytes.starts(with: pemStart) {
                ssh = try SSHIdentity.parse(bytes)
                return
            }
            try bytes.forEachLine { line, number throws(AgeFailure) in
                let line = line.extracting(..<trimmedCount(line))
                if line.isEmpty { return }
                if line[0] == UInt8(ascii: "#") {
                    if !holdsPrivateKey(line) { comments.append(comment(line)) }
                    return
                }
                if let host, let identity = PluginIdentity.parse(line, host: host) {
                    plugins.append(identity)
                } else {
                    identities.append(try identity(line, line: number, hasPlugins: host != nil))
                }
            }
        }
        guard !identities.isEmpty || ssh != nil || !plugins.isEmpty else { throw .noIdentities }
        return IdentityFile(identities: identities, ssh: ssh, plugins: plugins, comments: comments)
    }

    /// Everything in the file that opens files, at least one identity.
    package var all: [any Identity] { held + plugins }

    /// Everything in the file that opens files without a plugin.
    package var held: [any HeldIdentity] { identities + (ssh.map { [$0] } ?? []) }

    private static let pemStart = "-----BEGIN "

    /// The text of a new identity file.
    ///
    /// - Parameter comments: lines without line feeds, which are written before the identity.
    package static func text(of identity: NativeIdentity, comments: [String]) -> SecretBytes {
        var text = SecretBytes(capacity: 1_024)
        for comment in comments + ["public key: \(identity.recipient)"] {
            precondition(!comment.utf8.contains { $0 == 0x0a || $0 == 0x0d }, "a comment is one line")
            text.append("# ".utf8.span)
            text.append(Array(comment.utf8).span)
            text.append(UInt8(ascii: "\n"))
        }
        identity.encode(into: &text)
        text.append(UInt8(ascii: "\n"))
        return text
    }

    /// Refuses text as editors and shells of Windows write it.
    private static func requirePlain(_ bytes: borrowing Span<UInt8>) throws(AgeFailure) {
        func starts(_ mark: [UInt8]) -> Bool {
            bytes.count >= mark.count && mark.indices.allSatisfy { bytes[$0] == mark[$0] }
        }
        let hasZero = bytes.count > 1 && (bytes[0] == 0) != (bytes[1] == 0)
        if starts([0xff, 0xfe]) || starts([0xfe, 0xff]) || hasZero { throw .identityFileEncoded(isUTF16: true) }
        if starts([0xef, 0xbb, 0xbf]) { throw .identityFileEncoded(isUTF16: false) }
    }

    private static func identity(
        _ line: borrowing Span<UInt8>, line number: Int, hasPlugins: Bool
    ) throws(AgeFailure) -> NativeIdentity {
        if let identity = try NativeIdentity.parse(line) { return identity }
        if !hasPlugins, line.starts(with: PluginName.identityStart) {
            throw .unsupportedIdentity(line: number, kind: "plugin")
        }
        if line.starts(with: pemStart) { throw .unsupportedIdentity(line: number, kind: "PEM below other lines") }
        throw .malformedIdentityLine(number)
    }

    /// True if the line contains a commented-out key, in any case and with any prefix, since that is still a secret.
    private static func holdsPrivateKey(_ line: borrowing Span<UInt8>) -> Bool {
        for mark in ["secret-key-", "age-plugin-"].map({ Array($0.utf8) }) where line.count >= mark.count {
            let isThere = (0...line.count - mark.count).contains { start in
                mark.indices.allSatisfy { line[start + $0] | 0x20 == mark[$0] }
            }
            if isThere { return true }
        }
        return false
    }

    private static func comment(_ line: borrowing Span<UInt8>) -> String {
        let start = line.starts(with: "# ") ? 2 : 1
        return String(decoding: (start..<line.count).map { line[$0] }, as: UTF8.self)
    }

    /// The length of a line without the white space at its end.
    private static func trimmedCount(_ line: borrowing Span<UInt8>) -> Int {
        var end = line.count
        while end > 0, [0x20, 0x09, 0x0d].contains(line[end - 1]) { end -= 1 }
        return end
    }
}
