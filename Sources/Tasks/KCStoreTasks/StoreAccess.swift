package import KCAsking
internal import KCByteStreams
package import KCItemSources

/// The means to open a store, as far as stores of its kind need them.
package struct StoreAccess: Hashable, Sendable {
    package var key = Key.passcode(nil)
    package var file = FileAccess()
    /// True to leave out locked items of the desktop keyring.
    package var skipsLocked = false
    /// True to let the desktop ask for the password of a locked collection.
    package var asksDesktop = false
    /// The files of the home that may be missing in its archive.
    package var acceptMissing: [String] = []

    package init() {}

    package enum Key: Hashable, Sendable {
        /// The passcode of a keychain, or the password of the desktop keyring; nil to ask if it is needed.
        case passcode(SecretSource?)
        /// The key that opens a keychain for backups alone.
        case escrow(SecretSource)

        package var source: SecretSource? {
            switch self {
            case .passcode(let source): source
            case .escrow(let source): source
            }
        }

        package var passcode: SecretSource? { if case .passcode(let source) = self { source } else { nil } }

        package var escrow: SecretSource? { if case .escrow(let source) = self { source } else { nil } }
    }
}

/// The means to open another program's file.
package struct FileAccess: Hashable, Sendable {
    /// The name of its format; nil if its content tells.
    package var format: String?
    package var password: SecretSource?
    /// The path of a file that opens it, with its password or instead of it.
    package var keyFile: String?
    /// True to read it without a sandbox, where the system has none.
    package var withoutSandbox: Bool
    /// Where the source of the password is given.
    package var passwordField = SecretField.password

    package init(
        format: String? = nil, password: SecretSource? = nil, keyFile: String? = nil, withoutSandbox: Bool = false
    ) {
        self.format = format
        self.password = password
        self.keyFile = keyFile
        self.withoutSandbox = withoutSandbox
    }

    /// True if anything says how to open the file.
    package var isGiven: Bool { format != nil || password != nil || keyFile != nil }

    /// A means to open a file, besides its format.
    package enum Part: Hashable, Sendable {
        case password(SecretField)
        case keyFile
    }

    /// Refuses what contradicts itself, before anything is read.
    ///
    /// - Throws: `FileAccessProblem`, `ReadTwice`.
    package func check(with path: String, passcode: SecretSource? = nil) throws {
        if path.isEmpty { throw FileAccessProblem.emptyPath }
        if keyFile?.isEmpty == true { throw FileAccessProblem.emptyKeyFile }
        _ = try knownFormat()
        try requireOneInput([path] + (keyFile.map { [$0] } ?? []), [password, passcode])
    }

    /// The format that was asked for; nil if the content of the file tells.
    package func knownFormat() throws(FileAccessProblem) -> ForeignKind? {
        guard let name = format else { return nil }
        guard let kind = ForeignKind.allCases.first(where: { $0.name.exact == name.exact }) else {
            throw .unknownFormat(name)
        }
        return kind
    }
}

/// Why what was given to open a file does not fit.
package enum FileAccessProblem: Error, Hashable, Sendable {
    case emptyPath
    case emptyKeyFile
    case unknownFormat(String)
    /// The file is not closed by what was given.
    case opensNothing(FileAccess.Part, path: String)
}
