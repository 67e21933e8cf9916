internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
package import KCItemSources
internal import KCKeychainModel

/// KeePass databases: KDBX 4, 3.1 and 2, from KeePass, KeePassXC, KeePassDX, Strongbox and others.
package struct KeePassFormat: ForeignFormat {
    package let kind = ForeignKind.keePass

    package init() {}

    package func recognises(_ input: ForeignInput) -> Bool {
        input.file?.starts(with: KDBX.signature) ?? false
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let header = try file.bytes.withBytes { bytes in try KDBXHeader(bytes) }
        let database = try KDBXDatabase(open(file, header, secrets), header, of: file)
        let collector = RecordCollector(format: name, date: file.modified)
        if header.major > 3, try KDBXBlocks.sizeBehindEnd(of: file, header) > 0 {
            collector.remark("bytes behind the end of the database are no part of it, and were not read")
        }
        return try KeePassRecords(database, collector).read(header.major == 3 ? .kdbx3 : .kdbx4)
    }

    private func open(_ file: ForeignFile, _ header: KDBXHeader, _ secrets: any ForeignSecrets) throws -> KDBXOpening {
        let keyFile = try secrets.keyFile()
        var opened: KDBXOpening?
        /// Returns why a password, or none, does not open the file together with the key file; nil if it does.
        func attempt(_ password: borrowing SecretBytes?) throws -> ForeignFailure? {
            var key = KDBXCompositeKey()
            switch password {
            case .some(let password): try key.add(password: password)
            case .none: break
            }
            if let keyFile { key.add(keyFile: try KeePassKeyFile.key(keyFile)) }
            do {
                opened = try KDBXOpening(file, header, key: key.bytes())
                return nil
            } catch let failure as ForeignFailure
                where [.wrongPassword, .wrongPasswordOrDamaged].contains(failure)
            {
                return failure
            }
        }
        // With a key file, there may be no password to ask for.
        if keyFile != nil, !secrets.isPasswordGiven, try attempt(nil) == nil, let content = opened.take() {
            return content
        }
        try secrets.password(.file(.keePass)) { password in
            guard let failure = try attempt(password.copy()) else { return }
            // An empty password makes another key than no password, and people enter nothing for both.
            if password.isEmpty, try attempt(nil) == nil { return }
            let orDamaged = failure == .wrongPasswordOrDamaged
            throw keyFile == nil
                ? ForeignFailure.wrongPasswordOrNoKeyFile(orDamaged: orDamaged)
                : ForeignFailure.wrongPasswordOrKeyFile(orDamaged: orDamaged)
        }
        guard let content = opened.take() else { throw ForeignFailure.wrongPassword }
        return content
    }
}
