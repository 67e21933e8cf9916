extension ForeignFailure {
    /// Why one of several keyrings cannot be read; contains no foreign text.
    package var keyringWords: String {
        switch self {
        case .wrongPassword: "another password opens it: import it by itself"
        case .wrongPasswordOrDamaged: "another password opens it, or it is damaged: import it by itself"
        case .damaged(let rule): "it is damaged: \(rule)"
        case .damagedLine(let line, let rule): "line \(line): \(rule)"
        case .unknownVariant(let what): "it is of an unknown kind: \(what)"
        case .limit(let what, let found, let allowed): "over a limit: \(what) \(found), and \(allowed) is allowed"
        case .empty: "it is empty"
        // Reading a keyring throws none of these.
        case .wrongPasswordOrNoKeyFile, .wrongPasswordOrKeyFile, .noKeyOpens, .needsKeyFile, .damagedKeyFile,
            .needsFile, .refused, .own, .age, .inUse, .noBrowserKey, .noAppSecret, .needsProgram, .folderOfFiles,
            .unknownFormat, .notUTF8, .unknownColumns, .noSuchColumn, .columnTwice, .notOfFormat, .ambiguous:
            "it cannot be read"
        }
    }
}
