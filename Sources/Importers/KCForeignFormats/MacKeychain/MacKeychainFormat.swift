internal import KCByteStreams
internal import KCCryptography
package import KCItemSources
internal import KCKeychainModel

/// The keychain files of macOS (`login.keychain-db`, `System.keychain`): passwords, certificates and keys.
///
/// Each key is authenticated; passwords and attributes are not.
package struct MacKeychainFormat: ForeignFormat {
    package let kind = ForeignKind.macKeychain

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool { input.file?.starts(with: KychFile.magic) == true }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        return try file.bytes.withBytes { bytes in
            let tables = try KychFile(bytes)
            guard let blobs = tables.records[Table.blob], let blob = blobs.first?.data, blobs.count == 1 else {
                throw ForeignFailure.damaged("it has no key, or several")
            }
            var reader = KychReader(file, identity: KychKeys.signature(of: blob, bytes))
            var master = SecretBytes(capacity: 0)
            if let keyFile = try secrets.keyFile() {
                master = try keyFile.bytes.withBytes { key throws(ForeignFailure) in
                    try KychKeys.master(systemKey: key, blob, bytes)
                }
                // A keychain that the system opens itself must be available before anyone logs in.
                reader.accessibility = .afterFirstUnlock
            } else {
                try secrets.password(.file(.macKeychain)) { password in
                    master = try KychKeys.master(password, blob, bytes)
                    _ = try KychKeys(master, blob, bytes)
                }
            }
            try reader.add(tables, KychKeys(master, blob, bytes), bytes)
            return try reader.finish()
        }
    }

    enum Table {
        static let publicKey: UInt32 = 0x0f
        static let privateKey: UInt32 = 0x10
        static let symmetricKey: UInt32 = 0x11
        static let generic: UInt32 = 0x8000_0000
        static let internet: UInt32 = 0x8000_0001
        static let appleShare: UInt32 = 0x8000_0002
        static let trust: UInt32 = 0x8000_0003
        static let revocationList: UInt32 = 0x8000_0004
        static let unlockReferral: UInt32 = 0x8000_0005
        static let extended: UInt32 = 0x8000_0006
        static let certificate: UInt32 = 0x8000_1000
        static let blob: UInt32 = 0x8000_8000
    }
}
