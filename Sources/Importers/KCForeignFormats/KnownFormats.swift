internal import KCByteStreams
package import KCItemSources

/// The formats that can be read, and the lookup of an input's format.
package enum KnownFormats {
    /// All formats that can be read; a new one is a folder beside this file, or a file in one of its kind, and a line here.
    package static let all: [any ForeignFormat] = [
        GnomeKeyringFormat(),
        ItemLinesFormat(),
        KWalletFormat(),
        KWalletXMLFormat(),
        CSVFormat(),
        MacKeychainFormat(),
        KeychainDumpFormat(),
        BitwardenFormat(),
        OnePasswordFormat(),
        PIFFormat(),
        OPVaultFormat(),
        DashlaneFormat(),
        ProtonPassFormat(),
        KeeperFormat(),
        EnpassFormat(),
        GitCredentialsFormat(),
        PassFormat(),
        PassageFormat(),
        CXFFormat(),
        KeePassFormat(),
        KeePassXMLFormat(),
        KeePass1Format(),
        PasswordSafeFormat(),
        AppleBackupFormat(),
        FirefoxFormat(),
        ChromiumFormat(),
        NetrcFormat(),
        NetworkManagerFormat(),
        OTPAuthFormat(),
        QRPictureFormat(),
        AegisFormat(),
        TwoFASFormat(),
        AndOTPFormat(),
        FreeOTPPlusFormat(),
        FreeOTPFormat(),
        TwoFAuthFormat(),
        ProtonAuthenticatorFormat(),
        StratumFormat(),
        EnteFormat(),
        KubernetesFormat(),
    ]

    /// The format of a kind.
    package static func format(of kind: ForeignKind) -> any ForeignFormat {
        guard let format = all.first(where: { $0.kind == kind }) else { preconditionFailure("each kind has a format") }
        return format
    }

    /// The format of an input, which has to be the chosen one if there is one.
    ///
    /// - Throws: as `recognise`, and `ForeignFailure` (`notOfFormat`, and what else is wrong with an input for the chosen
    ///   format).
    package static func format(of input: ForeignInput, as chosen: (any ForeignFormat)?) throws -> any ForeignFormat {
        guard let format = chosen else { return try recognise(input) }
        if input.file?.isBlank == true { throw ForeignFailure.empty }
        guard try format.recognises(input) else {
            if let other = try other(of: input) {
                throw ForeignFailure.notOfFormat(title: format.title, found: other.title)
            }
            if let refused = try refusal(of: input, as: format) { throw refused.failure }
            throw try format.problem(with: input) ?? ForeignFailure.notOfFormat(title: format.title)
        }
        return format
    }

    /// A format that recognizes an input that is not of the requested one.
    private static func other(of input: ForeignInput) throws -> (any ForeignFormat)? {
        do {
            return try all.first { try $0.recognises(input) }
        } catch is ForeignFailure {
            // A problem with the input in another format does not matter.
            return nil
        }
    }

    /// Determines the format of `input` by its content alone.
    ///
    /// - Throws: `ForeignFailure` (`empty`, `unknownFormat`, `unknownColumns`, `folderOfFiles`, `ambiguous`, that of a kind
    ///   that is not read; what is wrong with a zip file, or with a file named like a table), `FileFailure`,
    ///   `StreamFailure`.
    package static func recognise(_ input: ForeignInput) throws -> any ForeignFormat {
        if input.file?.isBlank == true { throw ForeignFailure.empty }
        let fitting = try all.filter { try $0.recognises(input) }
        guard let format = fitting.first else {
            if let refused = try refusal(of: input) { throw refused.failure }
            if case .folder = input.content { try refuseFolderOfFiles(input.path) }
            throw try problem(with: input)
        }
        if fitting.count > 1 { throw ForeignFailure.ambiguous(names: fitting.map(\.name)) }
        return format
    }

    /// The known kind of file that is not read, of which an input is that no format recognizes; nil if it is of none.
    ///
    /// - Parameter chosen: the format that the user says it has.
    /// - Throws: `FileFailure`, `StreamFailure`.
    package static func refusal(
        of input: ForeignInput, as chosen: (any ForeignFormat)? = nil
    ) throws -> RefusedFormat? {
        let refused = try RefusedFormat.all.first { try $0.recognises(input) }
        // Tables are read in UTF-16, so something else is wrong with one.
        return refused?.name.exact == RefusedFormat.utf16Name.exact && chosen is CSVFormat ? nil : refused
    }

    /// The maximum size of the files in a folder that are examined for a better message.
    private static let glanceLimit = 16 << 20

    /// Refuses a folder that contains a file of a known format.
    private static func refuseFolderOfFiles(_ path: String) throws {
        var unreadable = 0
        let names = try Path.names(in: path, unreadable: &unreadable).sorted().prefix(1_000)
        for name in names where !name.exact.hasPrefix(".") {
            let place = path + "/" + name
            guard try Path.kind(of: place) == .file else { continue }
            let file = try OpenFile.reading(place)
            guard try file.size() <= glanceLimit else { continue }
            let input = ForeignInput(path: place, .file(try ForeignFile(reading: file)))
            if let format = try all.first(where: { try $0.recognises(input) }) {
                throw ForeignFailure.folderOfFiles(name: name, title: format.title)
            }
        }
    }

    /// Why no format recognizes an input.
    private static func problem(with input: ForeignInput) throws -> ForeignFailure {
        if CSVFormat.isTable(input) { return .unknownColumns }
        if let file = input.file, CSVFormat.isNamedTable(file) {
            return try CSVFormat().problem(with: input) ?? .unknownFormat
        }
        let name = input.file?.name.lowercased() ?? ""
        // If the file is not valid JSON, that is the problem to report for every JSON format.
        if name.exact.hasSuffix(".json") { return CXFFormat().problem(with: input) ?? .unknownFormat }
        return .unknownFormat
    }
}
