internal import ByteStreams
package import ItemSources
internal import KeychainModel

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
        if !file.starts(with: Self.magic) { return try KeyringText.read(file) }
        let version = file.bytes.withBytes { bytes in
            bytes.count < Self.magic.count + 2 ? nil : (bytes[Self.magic.count], bytes[Self.magic.count + 1])
        }
        switch version {
        case nil: throw ForeignFailure.damaged("it ends before its last record does")
        case (0, 0)?: return try EncryptedKeyring.read(file, secrets)
        case (1, 0)?: return try LibsecretKeyring.read(file, secrets)
        case (let major, let minor)?: throw ForeignFailure.unknownVariant("version \(major).\(minor)")
        }
    }
}
