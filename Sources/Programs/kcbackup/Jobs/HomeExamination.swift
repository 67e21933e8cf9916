internal import KCByteStreams
internal import KCHomeFiles
internal import KCReportText
internal import KCTerminal

/// Finds the files of a home with secrets that anyone who can read them can use.
struct HomeExamination {
    /// The warnings, each with the command that mends its cause.
    private(set) var warnings: [String] = []

    // As many as fit a screen; a home with more has them in a few folders.
    private static let limit = 20

    /// Reads the home; what cannot be read is no secret in the clear.
    ///
    /// - Throws: as `HomeReader.read`.
    init(of home: String) throws {
        let clear = try HomeReader.read(home).clear
        warnings = clear.prefix(Self.limit).map {
            "\(quoted($0.path.shown)) holds \($0.kind.words): \(Self.remedy($0, in: home))"
        }
        if clear.count > Self.limit {
            warnings.append("\(clear.count - Self.limit) more files of the home hold secrets in the clear")
        }
    }

    private static func remedy(_ file: HomeContents.Clear, in home: String) -> String {
        let path: String = shellWord("\(home)/\(file.path.text)")
        let name: String = shellWord(file.path.text.string)
        return switch file.kind {
        case .privateKey: "'ssh-keygen -p -f \(path)' sets one"
        case .passwords:
            "'kcbackup import \(path) \(OptionName.removeFromFile.spelling)' moves them into a keychain"
        case .secret:
            "'kcbackup item add \(OptionName.service.spelling) \(name) "
                + "\(OptionName.secretFile.spelling) \(path)' keeps it in a keychain, and 'kcbackup exec "
                + "\(OptionName.withFile.spelling)' hands it to a program; then remove the file"
        }
    }
}

extension HomeContents.Clear.Kind {
    /// The contents of a file, to follow "holds ".
    var words: String {
        switch self {
        case .privateKey: "a private key without a passphrase"
        case .passwords: "passwords in the clear"
        case .secret: "a secret in the clear"
        }
    }
}
