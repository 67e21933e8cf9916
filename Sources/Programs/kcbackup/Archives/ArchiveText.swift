internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCLocalKeychains
internal import KCReportText
internal import KCTerminal

extension ArchiveOutline {
    /// The parts of an archive that cannot be read without a key.
    static let inside = "items and secrets"

    /// The parts that were not read for lack of a key, and how to read them.
    var notSeen: String {
        let identity = "'-i FILE'"
        let passphrase = "'\(OptionName.passphrase.spelling) SOURCE'"
        let isOnlyKey = metadataRecipients.count <= 1
        let keys = hasPassphrase ? (isOnlyKey ? passphrase : "\(identity) or \(passphrase)") : identity
        return "\(Self.inside); give \(keys)"
    }
}

extension ArchiveSource {
    /// Returns the name of the keychain that an archive was made from; nil if it was made from another source.
    ///
    /// - Throws: `Refusal` for a keychain that was named by its path.
    static func keychainName(_ source: ArchiveSource) throws -> String? {
        switch source.kind {
        case keychain where LocalKeychain.isName(source.name): return source.name
        // The path from the time of the backup may not exist here, or may lead to another file.
        case keychain, keychainFile:
            throw Refusal(
                .refused, "the archive was made from a keychain file \(quoted(source.name)), named by its path",
                hint: "'\(OptionName.keychain.spelling) NAME' names the keychain to restore into")
        default: return nil
        }
    }
}
