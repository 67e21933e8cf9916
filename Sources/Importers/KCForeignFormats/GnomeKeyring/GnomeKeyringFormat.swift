internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The files of GNOME Keyring, libsecret and oo7 (`*.keyring`): encrypted, plain text, and libsecret's own.
///
/// Sources: gnome-keyring, `docs/file-format.txt` and the output of its daemon; libsecret, `secret-file-collection.c`.
package struct GnomeKeyringFormat: ForeignFormat {
    package let kind = ForeignKind.gnomeKeyring

    package init() {}

    /// The beginning of all binary keyrings; two bytes of version follow.
    static let magic = Array("GnomeKeyring\n\r\0\n".utf8)

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return try KeyringFolder(input.path) != nil }
        return Self.begins(file)
    }

    /// True for a file that begins like a keyring.
    static func begins(_ file: ForeignFile) -> Bool {
        file.starts(with: magic) || file.bytes.withBytes { KeyringText.begins($0) }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        if case .folder = input.content {
            guard let folder = try KeyringFolder(input.path) else { throw ForeignFailure.notOfFormat(title: title) }
            return try folder.read(AppKeyringSecrets(secrets, in: input.realFolder))
        }
        guard let file = input.file, try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        return try Self.read(
            KeyringFile(file, in: input.realFolder), AppKeyringSecrets(secrets, in: input.realFolder), number: 0)
    }

    /// Reads a keyring.
    ///
    /// - Parameter number: its index among those with the same label.
    static func read(_ keyring: KeyringFile, _ secrets: any ForeignSecrets, number: Int) throws -> ForeignContents {
        let file = keyring.file
        return switch try Kind(file) {
        case .text: try KeyringText.read(file, number: number)
        case .encrypted: try EncryptedKeyring.read(file, secrets, number: number)
        case .libsecret: try LibsecretKeyring.read(keyring, secrets, number: number)
        }
    }

    /// The kinds of files.
    enum Kind {
        /// Plain text, of GNOME Keyring.
        case text
        /// Encrypted, of GNOME Keyring.
        case encrypted
        /// Of libsecret and oo7.
        case libsecret

        /// Reads it from the beginning of a keyring.
        init(_ file: ForeignFile) throws(ForeignFailure) {
            guard file.starts(with: magic) else {
                self = .text
                return
            }
            let version = file.bytes.withBytes { bytes in
                bytes.count < magic.count + 2 ? nil : (bytes[magic.count], bytes[magic.count + 1])
            }
            switch version {
            case nil: throw .damaged("it ends within its last record")
            case (0, 0)?: self = .encrypted
            case (1, 0)?: self = .libsecret
            case (let major, let minor)?: throw .unknownVariant("version \(major).\(minor)")
            }
        }
    }
}
