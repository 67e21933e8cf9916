internal import KCByteStreams
internal import KCConsole
internal import KCLocalKeychains
internal import KCSecurityStatus

extension Command {
    static let exportItems = Command(
        "export", "Export certificates, private keys and identities; never passwords.",
        flags: [
            Flag("k", .value("keychain"), "The keychain; without it, all of the search list"),
            Flag("t", .value("type"), "certs, privKeys, allKeys, pubKeys, identities, or all, as without -t"),
            Flag("f", .value("format"), "pkcs12, pemseq, pkcs8, openssl or x509; one that suits the type without -f"),
            Flag("w", .none, "Encrypt private keys under the passphrase; pkcs12 and pemseq always do"),
            Flag("p", .none, "Write PEM"),
            Flag("P", .secret("passphrase"), "The passphrase"),
            Flag("o", .value("file"), "The new file; without it, standard output"),
        ],
        notes: [
            "A file is made for you alone to read, and an existing one is not overwritten.",
            "Other users can see a passphrase on the command line: leave -P out, to be asked for it.",
        ]
    ) { words, session in
        if !words.operands.isEmpty { throw UsageProblem() }
        guard let type = ExportType(rawValue: words.value("t") ?? "all") else {
            throw UsageProblem(
                reason: "the type is not one of \(ExportType.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        try session.calling("SecKeychainItemExport") { try session.export(type, words) }
        return .ok
    }
}

/// The kinds of items to export.
enum ExportType: String, CaseIterable, Sendable {
    case certs, allKeys, pubKeys, privKeys, identities, all
}

/// The supported output formats.
enum ExportFormat: String, CaseIterable, Sendable {
    case pkcs12, pemseq, pkcs8, openssl, x509

    /// True if private keys are encrypted only with `-w`.
    var isClearWithoutWrapping: Bool { self == .openssl || self == .pkcs8 }

    /// The default format for this type.
    static func suiting(_ type: ExportType) -> ExportFormat {
        switch type {
        case .identities: .pkcs12
        case .certs, .all: .pemseq
        case .allKeys, .pubKeys, .privKeys: .openssl
        }
    }
}

extension Session {
    fileprivate func export(_ type: ExportType, _ words: Words) throws {
        try checkFormat(words.value("f"), among: Set(ExportFormat.allCases.map(\.rawValue)))
        let format = words.value("f").flatMap { ExportFormat(rawValue: $0) } ?? .suiting(type)
        if words.value("P") != nil, !words.has("w"), format.isClearWithoutWrapping {
            throw UsageProblem(
                reason: "without -w, private keys are written in the clear as \(format.rawValue), and -P has no use")
        }
        let keychains = try searched(words.value("k").map { [$0] } ?? [])
        let contents = try exportContents(type, in: keychains)
        let passphrase: SecretBytes?
        if contents.keys.isEmpty && format != .pkcs12 || !words.has("w") && format.isClearWithoutWrapping {
            passphrase = nil
        } else {
            passphrase = try exportPassphrase(words)
        }
        let data = try contents.encoded(format, passphrase: passphrase, isArmored: words.has("p"))
        guard let file = words.value("o") else { return try write(data) }
        do throws(FileFailure) {
            try PrivateFile.create(world.resolve(file), data, anywhere: true)
        } catch {
            // The message for this status would mention a keychain.
            if error.problem == .exists { throw Failure(saying: "\"\(file)\" is there already and is not overwritten") }
            throw error
        }
        message("\(data.count) bytes written to \(shownInMessages(file))\n")
    }

    private func exportPassphrase(_ words: Words) throws -> SecretBytes {
        if let given = try password(words, "P") { return given }
        guard world.terminal.isAttended else { throw SecurityStatus.passphraseRequired }
        return try askForNewPassword("passphrase for export: ", "retype passphrase for export: ")
    }
}
