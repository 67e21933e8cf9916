internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// KDE wallets (`*.kwl`, each with a `*.salt` beside it).
///
/// Source: kwallet, `backend/backendpersisthandler.cpp`, and the output of its daemon.
package struct KWalletFormat: ForeignFormat {
    package let kind = ForeignKind.kwallet

    package init() {}

    static let magic = Array("KWALLET\n\r\0\r\n".utf8)
    private static let headerLength = magic.count + 4
    /// The maximum number of folders in a wallet, which is also KDE's limit.
    private static let folderLimit = 65_535
    /// The maximum number of entries in a folder: a thousand times as many as people have.
    static let entryLimit = 1_000_000
    /// The maximum size of a salt in bytes; KDE writes 56.
    private static let saltLimit = 1_024

    package func recognises(_ input: ForeignInput) throws -> Bool { input.file?.starts(with: Self.magic) == true }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let stem = file.name.exact.removingSuffix(".kwl") ?? file.name
        let isOfGnuPG = try file.bytes.withBytes { bytes throws(ForeignFailure) in
            try Self.requireVersion(bytes)
            return bytes[Self.magic.count + 2] == Self.cipherOfGnuPG
        }
        if isOfGnuPG { return try readMessage(input, file, stem, secrets) }
        let (kind, derivation) = try file.bytes.withBytes { bytes throws(ForeignFailure) in try Self.head(bytes) }
        var salt: [UInt8] = []
        if derivation == .pbkdf2 {
            guard let file = try input.sibling(stem + ".salt") else {
                throw ForeignFailure.needsFile(displayed(stem) + ".salt")
            }
            let count = file.bytes.count
            guard count > 0, count <= Self.saltLimit else {
                throw ForeignFailure.damaged("it has a salt that its cipher does not use")
            }
            salt = file.bytes.withBytes { $0.array(0..<count) }
        }
        let cipher = WalletCipher(kind: kind, derivation: derivation, salt: salt)
        let (index, ciphertext) = try file.bytes.withBytes { bytes throws(ForeignFailure) in try Self.parts(bytes) }
        var plain = SecretBytes(capacity: 0)
        try secrets.password(.file(.kwallet)) { password in
            plain = try file.bytes.withBytes { try cipher.open($0.extracting(ciphertext), password) }
        }
        var wallet = WalletReader(file)
        try plain.withBytes { bytes throws(ForeignFailure) in try wallet.add(bytes, entryLimit: Self.entryLimit) }
        guard try WalletIndex(of: wallet.names) == index else {
            throw ForeignFailure.damaged("its index does not match its contents")
        }
        return try wallet.finish(details: "wallet '\(stem)'")
    }

    private static func requireVersion(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        guard bytes.count >= headerLength else { throw .damaged("it ends within its last record") }
        let (major, minor) = (bytes[magic.count], bytes[magic.count + 1])
        guard major == 0, minor <= 1 else { throw .unknownVariant("version \(major).\(minor)") }
    }

    private static func head(
        _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (WalletCipher.Kind, WalletCipher.Derivation) {
        guard let kind = WalletCipher.Kind(rawValue: bytes[magic.count + 2]),
            let derivation = WalletCipher.Derivation(rawValue: bytes[magic.count + 3])
        else { throw .unknownVariant("a cipher or hash other than KDE's") }
        return (kind, derivation)
    }

    /// The clear part, and the position of the encrypted one.
    private static func parts(
        _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (index: WalletIndex, ciphertext: Range<Int>) {
        var cursor = ByteCursor(headerLength..<bytes.count)
        let index = try index(&cursor, bytes)
        guard cursor.left > 0, cursor.left.isMultiple(of: 8) else {
            throw .damaged("its encrypted part does not consist of whole blocks")
        }
        return (index, cursor.position..<cursor.end)
    }

    private static func index(
        _ cursor: inout ByteCursor, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> WalletIndex {
        let count = try cursor.count(ofAtLeast: 20, "folders", limit: folderLimit, in: bytes)
        var folders: [WalletIndex.Folder] = []
        for _ in 0..<count {
            let name = bytes.array(try cursor.take(16))
            let entries = try cursor.count(ofAtLeast: 16, "entries", limit: entryLimit, in: bytes)
            var keys: [[UInt8]] = []
            for _ in 0..<entries { keys.append(bytes.array(try cursor.take(16))) }
            folders.append(WalletIndex.Folder(name: name, keys: keys))
        }
        return WalletIndex(folders)
    }

    // MARK: GnuPG

    /// The number of GnuPG among the ciphers of wallets.
    private static let cipherOfGnuPG: UInt8 = 2
    /// The maximum size of a decrypted wallet in bytes: thousands of times that of a large one.
    private static let messageLimit = 256 << 20

    /// Reads a wallet that is an OpenPGP message behind the header.
    private func readMessage(
        _ input: ForeignInput, _ file: ForeignFile, _ stem: String, _ secrets: any ForeignSecrets
    ) throws -> ForeignContents {
        guard input.path.exact != InputFile.standardInputName.exact else {
            throw ForeignFailure.refused(
                title: "a wallet encrypted by GnuPG, from a pipe", hint: "give the path of the wallet: gpg opens it")
        }
        let plain: SecretBytes
        do {
            plain = try secrets.decryptedByGPG(input.path, skipping: Self.headerLength, limit: Self.messageLimit)
        } catch let problem as UnopenedFile {
            switch problem {
            case .noKey: throw ForeignFailure.noKeyOpens("keys of gpg")
            case .needsPassphrase: throw ForeignFailure.damaged("it is encrypted with a passphrase, and not for a key")
            case .damaged: throw ForeignFailure.damaged("gpg does not decrypt it to its end")
            case .tooLarge(let limit):
                throw ForeignFailure.limit("bytes, decrypted", found: UInt64(limit) + 1, allowed: UInt64(limit))
            }
        }
        var wallet = WalletReader(file)
        let index = try plain.withBytes { bytes throws(ForeignFailure) in
            var cursor = ByteCursor(0..<bytes.count)
            // The key that the wallet is encrypted for, in hexadecimal.
            _ = try cursor.piece(in: bytes)
            let clear = try cursor.piece(in: bytes) ?? 0..<0
            let data = try cursor.piece(in: bytes) ?? 0..<0
            guard cursor.left == 0 else { throw .damaged("data follows its contents") }
            var names = ByteCursor(clear)
            let index = try Self.index(&names, bytes)
            guard names.left == 0 else { throw .damaged("data follows its index") }
            try wallet.add(bytes.extracting(data), entryLimit: Self.entryLimit)
            return index
        }
        guard try WalletIndex(of: wallet.names) == index else {
            throw ForeignFailure.damaged("its index does not match its contents")
        }
        return try wallet.finish(details: "wallet '\(stem)', encrypted by GnuPG")
    }
}
