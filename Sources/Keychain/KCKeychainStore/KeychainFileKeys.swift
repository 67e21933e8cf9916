internal import KCByteStreams
package import KCKeychainKeys
internal import KCKeychainModel

/// Keys of files, for which no passcode is needed while the keychain is as unlocked as their class demands.
extension Keychain {
    /// The keys that open the files of a class, newest first; none if none was ever needed.
    ///
    /// - Throws: `locked` unless it is unlocked as far as the class demands, `damaged`, `busy`, `sqlite`.
    package func fileKeys(_ fileClass: FileKeyClass) throws(KeychainStoreError) -> [FileKey] {
        try withReadTransaction { _ throws(KeychainStoreError) in }
        guard let keys = try withKeys(keybag.fileKeys(fileClass, under: classKeys)) else {
            throw .locked(fileClass.accessibility)
        }
        return keys
    }

    /// The public key to which files of a class are encrypted; the first call makes it.
    ///
    /// - Throws: `locked` unless the keychain is unlocked as far as the class demands, or the key is known without; `damaged`,
    ///   `busy`, `diskFull`, `readOnly`, `sqlite`.
    package func filePublicKey(_ fileClass: FileKeyClass) throws(KeychainStoreError) -> [UInt8] {
        try withReadTransaction { _ throws(KeychainStoreError) in }
        if let key = try presentFilePublicKey(fileClass) { return key }
        let after = try change { database throws(KeychainStoreError) in
            let after = try sealing(keybag.withFileKeys(under: classKeys, deviceKey))
            try StoreRecord.replace(with: after, in: database)
            return after
        }
        adopt(after, classKeys)
        guard let key = try presentFilePublicKey(fileClass) else { throw .locked(fileClass.accessibility) }
        return key
    }

    /// True if `filePublicKey` gives a key now.
    package func knowsFilePublicKey(_ fileClass: FileKeyClass) -> Bool {
        keybag.openFilePublicKey(fileClass) != nil || classKeys[fileClass.accessibility] != nil
    }

    private func presentFilePublicKey(_ fileClass: FileKeyClass) throws(KeychainStoreError) -> [UInt8]? {
        // An open class key also shows that the public half is genuine.
        if classKeys[fileClass.accessibility] != nil { return try fileKeys(fileClass).first?.publicKey }
        guard let key = keybag.openFilePublicKey(fileClass) else { throw .locked(fileClass.accessibility) }
        return key
    }
}
