internal import KCAgeEncryption
internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The folder of passage: like that of pass, but encrypted with age.
package struct PassageFormat: ForeignFormat {
    package let kind = ForeignKind.passage

    private static let ending = ".age"

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard case .folder = input.content, try Path.kind(of: input.path + "/.gpg-id") == nil else { return false }
        if try Self.isWhole(input) || Path.kind(of: input.path + "/.age-recipients") == .file { return true }
        func contains(_ isIt: (String) -> Bool) throws -> Bool {
            try ForeignFolder.first(below: input.path, where: isIt) != nil
        }
        // A folder without such files may be anyone's, with some encrypted files among others.
        if try Self.hasNoIdentities(beside: input), try contains({ !$0.exact.hasSuffix(Self.ending) }) { return false }
        return try contains { $0.exact.hasSuffix(Self.ending) }
    }

    /// True for a folder that contains both the store and the identities.
    private static func isWhole(_ input: ForeignInput) throws -> Bool {
        try Path.kind(of: input.path + "/store") == .folder && Path.kind(of: input.path + "/identities") == .file
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard case .folder = input.content else { throw ForeignFailure.notOfFormat(title: title) }
        let isWhole = try Self.isWhole(input)
        let folder = try ForeignFolder(isWhole ? input.path + "/store" : input.path)
        guard let keys = try secrets.keyFile() ?? Self.identities(beside: input, isWhole: isWhole) else {
            throw ForeignFailure.needsKeyFile
        }
        let identities = try Self.identities(in: keys, secrets)
        let fileKeys = try PassageKeys(
            of: folder.files.filter { $0.exact.hasSuffix(Self.ending) }, in: folder, identities)
        let collector = RecordCollector(format: name, date: .reference)
        var opened = 0
        var locked = 0
        for file in folder.files where file.exact.hasSuffix(Self.ending) {
            let path = file.exact.removingSuffix(Self.ending) ?? file
            do {
                let encrypted = try folder.read(file)
                let content = try Self.open(encrypted, fileKeys[file].map { [$0] } ?? identities.held)
                opened += 1
                try StoreEntry(path: path, modified: encrypted.modified).add(content, to: collector)
            } catch let problem as UnopenedFile {
                if problem == .noKey { locked += 1 }
                collector.refuse(path, problem.problem(of: "no identity"))
            } catch let failure as FileFailure {
                collector.refuse(path, try StoreEntry.problem(of: failure))
            }
        }
        if opened == 0, locked > 0 { throw ForeignFailure.noKeyOpens("identities") }
        folder.countRest(in: collector, ending: Self.ending)
        return try collector.finish(details: "", isPlaintext: false)
    }

    /// The identities file that passage itself uses.
    private static func identities(beside input: ForeignInput, isWhole: Bool) throws -> ForeignFile? {
        if isWhole { return try ForeignFile(reading: OpenFile.reading(input.path + "/identities")) }
        return try hasNoIdentities(beside: input) ? nil : input.sibling("identities")
    }

    /// True if there is no file in the place of the identities, which anything else is not.
    private static func hasNoIdentities(beside input: ForeignInput) throws -> Bool {
        do throws(FileFailure) {
            return try input.neighbours.open("identities") == nil
        } catch {
            guard error.problem == .notRegular else { throw error }
            return true
        }
    }

    /// The identities in a file, which may be encrypted with a passphrase.
    private static func identities(
        in file: ForeignFile, _ secrets: any ForeignSecrets
    ) throws -> IdentityFile {
        guard let encrypted = try EncryptedKeyFile(file.bytes) else {
            return try IdentityFile.parse(file.bytes, plugins: secrets.agePlugins)
        }
        try encrypted.requirePassphrase()
        var identities: IdentityFile?
        try secrets.password(.file(.passage)) { passphrase in
            do throws(AgeFailure) {
                let text = try encrypted.open(with: [ScryptIdentity(passphrase: passphrase)])
                identities = try IdentityFile.parse(text, plugins: secrets.agePlugins)
            } catch {
                throw error == .wrongPassphrase ? ForeignFailure.wrongPassword : error
            }
        }
        guard let identities else { throw AgeFailure.noIdentities }
        return identities
    }

    /// - Throws: `UnopenedFile`; `StreamFailure` if the cause is not the file itself.
    private static func open(_ file: ForeignFile, _ identities: [any Identity]) throws -> SecretBytes {
        do {
            var decryptor = try AgeDecryptor(ForeignFileSource(file: file), identities: identities)
            return try decryptor.readAll(limit: StoreEntry.sizeLimit, as: "size of a secret")
        } catch AgeFailure.noMatchingIdentity {
            throw UnopenedFile.noKey
        } catch let failure as AgeFailure {
            if case .stream(let failure) = failure { throw Self.problem(of: failure) }
            throw UnopenedFile.damaged
        } catch let failure as StreamFailure {
            throw Self.problem(of: failure)
        }
    }

    private static func problem(of failure: StreamFailure) -> any Error {
        switch failure.kind {
        case .limitExceeded: UnopenedFile.tooLarge(limit: StoreEntry.sizeLimit)
        case .interrupted: failure
        default: failure.systemCode == nil ? UnopenedFile.damaged : failure
        }
    }
}
