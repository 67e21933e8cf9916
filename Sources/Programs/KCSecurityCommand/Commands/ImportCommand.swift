internal import KCByteStreams
internal import KCCertificateItems
internal import KCConsole
internal import KCCryptography
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecurityStatus

extension Command {
    static let importItems = Command(
        "import", "Import certificates, keys and identities from a file.",
        flags: [
            Flag("k", .value("keychain"), "The keychain; without it, the default one"),
            Flag("t", .value("type"), "What the file must hold: pub, priv, cert, or agg for anything"),
            Flag("f", .value("format"), "Its format, which is detected in any case"),
            Flag("w", .none, "Without meaning here"),
            Flag("x", .none, "Make private keys that cannot be exported"),
            Flag("P", .secret("passphrase"), "The passphrase of the file"),
            Flag("A", .none, "Without meaning here"),
            Flag("T", .value("application"), "Without meaning here", isRepeatable: true),
        ],
        operands: "inputfile", operandFirst: true,
        notes: [
            "Reads certificates and keys in PEM and DER, PKCS#7, PKCS#8, PKCS#1, SEC 1 and PKCS#12.",
            "Other users can see a passphrase on the command line: leave -P out, to be asked for it.",
        ]
    ) { words, session in
        guard words.operands.count == 1, let file = words.operands.first else { throw UsageProblem() }
        if words.has("A") || words.has("T") { session.noteAccessLists() }
        return try session.calling("SecKeychainItemImport") { try session.importItems(file, words) }
    }
}

extension Session {
    fileprivate func importItems(_ file: String, _ words: Words) throws -> ExitStatus {
        try checkFormat(words.value("f"), among: importFormats)
        let data = try readFile(file)
        let imported = try read(data, named: file, words)
        try check(imported, words.value("t"))
        let local = try namedOrDefault(words.value("k"))
        let keychain = try open(local)
        let needsKey = imported.items.contains { $0.draft.itemClass != .certificate }
        if needsKey { try unlock(keychain, local, for: .whenUnlocked) }

        var added: Set<Int> = []
        try keychain.write { writer in
            for (position, item) in imported.items.enumerated() {
                let secret: SecretBytes? = item.secret.copy()
                do throws(KeychainStoreError) {
                    try writer.add(draft(item, words), secret: secret, now: now)
                    added.insert(position)
                } catch {
                    // A chain may contain certificates that already exist, and a renewed certificate comes with its
                    // existing key.
                    if error != .duplicateItem { throw error }
                }
            }
        }
        if added.isEmpty { throw SecurityStatus.duplicateItem }
        let known = imported.items.count - added.count
        if known > 0 { note("\(known) of \(imported.items.count) items were there already") }
        for what in imported.skipped { note("left out: \(what)", evenIfQuiet: true) }
        try write(counts(imported, added, isPKCS12: data.withBytes { CertificateFormat(of: $0) } == .pkcs12))
        return .ok
    }

    private func draft(_ item: ImportedItem, _ words: Words) -> ItemDraft {
        var draft = item.draft
        if words.has("x"), draft.attributes.number(.kcls) == KeyClass.privateKey.rawValue {
            draft.attributes[.extr] = .number(0)
            draft.attributes[.sens] = .number(1)
        }
        return draft
    }

    private func read(_ data: borrowing SecretBytes, named file: String, _ words: Words) throws -> ImportedItems {
        let given = try password(words, "P")
        do {
            return try items(of: data, given)
        } catch CertificateFailure.passphraseRequired where world.terminal.isAttended {}
        let name = displayed(Path.split(file).name, limit: 100)
        return try quietly {
            let passphrase: SecretBytes? = try askForPassword("passphrase for \(name): ")
            return try checking { try items(of: data, passphrase) }
        }
    }

    private func items(of data: borrowing SecretBytes, _ passphrase: borrowing SecretBytes?) throws -> ImportedItems {
        try data.withBytes { bytes in
            do {
                return try ImportedItems(reading: bytes, passphrase: passphrase)
            } catch CertificateFailure.wrongPassphrase where CertificateFormat(of: bytes) == .pkcs12 {
                // The message for this status describes a check that only PKCS #12 has.
                throw SecurityStatus.pkcs12VerifyFailure
            }
        }
    }

    /// Checks that a file contains the kind of items given with `-t`.
    private func check(_ imported: ImportedItems, _ type: String?) throws {
        let fits: (ItemDraft) -> Bool
        switch type {
        case nil, "agg": return
        case "cert": fits = { $0.itemClass == .certificate }
        case "pub": fits = { $0.attributes.number(.kcls) == KeyClass.publicKey.rawValue }
        case "priv": fits = { $0.attributes.number(.kcls) == KeyClass.privateKey.rawValue }
        case "session": throw SecurityStatus.unsupportedFormat
        case .some: throw UsageProblem(reason: "the type is not one of pub, priv, session, cert, agg")
        }
        if !imported.items.allSatisfy({ fits($0.draft) }) { throw SecurityStatus.unknownFormat }
    }

    /// Returns the import counts, one line for each kind; a matching key and certificate from PKCS #12 count as one.
    private func counts(_ imported: ImportedItems, _ added: Set<Int>, isPKCS12: Bool) -> String {
        let pairs = isPKCS12 ? imported.identities : []
        let identities = pairs.count { added.contains($0.key) || added.contains($0.certificate) }
        let paired = Set(pairs.flatMap { [$0.key, $0.certificate] })
        let others = added.subtracting(paired)
        let certificates = others.count { imported.items[$0].draft.itemClass == .certificate }
        let kinds = [
            (identities, "identity", "identities"), (others.count - certificates, "key", "keys"),
            (certificates, "certificate", "certificates"),
        ]
        return kinds.filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2) imported.\n" }.joined()
    }
}

/// The supported formats for `-f`.
private let importFormats: Set = ["openssl", "pkcs7", "pkcs8", "pkcs12", "pemseq", "x509"]

extension Session {
    /// Refuses unknown formats, and macOS formats that are not supported.
    func checkFormat(_ format: String?, among known: Set<String>) throws {
        guard let format, !known.contains(format) else { return }
        if ["openssh1", "openssh2", "bsafe", "raw", "netscape", "pkcs7"].contains(format) {
            throw SecurityStatus.unsupportedFormat
        }
        throw UsageProblem(reason: "the format is not one of \(known.sorted().joined(separator: ", "))")
    }

    /// Reads a file named by the user.
    fileprivate func readFile(_ file: String) throws -> SecretBytes {
        do throws(FileFailure) {
            return try PrivateFile.readPublic(world.resolve(file), limit: CertificateLimit.fileSize.value)
        } catch {
            // The message for this status would mention a keychain.
            if error.problem == .notFound { throw Failure(saying: "unable to read \"\(file)\": there is no such file") }
            throw error
        }
    }
}
