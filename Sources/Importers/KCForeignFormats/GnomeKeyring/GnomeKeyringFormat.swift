internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The files of GNOME Keyring, libsecret and oo7 (`*.keyring`): encrypted, plain text, and libsecret's own.
///
/// Sources: gnome-keyring, `docs/file-format.txt` and the output of its daemon; libsecret, `secret-file-collection.c`.
package struct GnomeKeyringFormat: ForeignFormat {
    package let name = "gnome-keyring"
    package let title = "GNOME keyring file"

    package init() {}

    /// The beginning of all binary keyrings; two bytes of version follow.
    static let magic = Array("GnomeKeyring\n\r\0\n".utf8)

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return try KeyringFolder(input.path) != nil }
        if file.starts(with: Self.magic) { return true }
        return file.bytes.withBytes { KeyringText.begins($0) }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        if case .folder = input.content {
            guard let folder = try KeyringFolder(input.path) else { throw ForeignFailure.notOfFormat(title: title) }
            return try folder.read(secrets)
        }
        guard let file = input.file, try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        return try Self.read(file, secrets, number: 0)
    }

    /// Reads a keyring.
    ///
    /// - Parameter number: its index among those with the same label.
    static func read(_ file: ForeignFile, _ secrets: any ForeignSecrets, number: Int) throws -> ForeignContents {
        if !file.starts(with: magic) { return try KeyringText.read(file, number: number) }
        let version = file.bytes.withBytes { bytes in
            bytes.count < magic.count + 2 ? nil : (bytes[magic.count], bytes[magic.count + 1])
        }
        switch version {
        case nil: throw ForeignFailure.damaged("it ends within its last record")
        case (0, 0)?: return try EncryptedKeyring.read(file, secrets, number: number)
        case (1, 0)?: return try LibsecretKeyring.read(file, secrets, number: number)
        case (let major, let minor)?: throw ForeignFailure.unknownVariant("version \(major).\(minor)")
        }
    }
}
