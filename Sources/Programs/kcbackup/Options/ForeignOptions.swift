internal import ArgumentParser
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The options for opening another program's file.
struct ForeignOptions: ParsableArguments {
    @Option(
        name: OptionName.from.name,
        help: ArgumentHelp("The format of the file, if its content does not tell.", valueName: "format"),
        completion: .list(ForeignKind.allCases.map(\.name)))
    var from: String?

    @Option(
        name: OptionName.password.name,
        help: ArgumentHelp("Where the password of the file comes from.", valueName: "source"))
    var password: SecretSource?

    @Option(
        name: OptionName.keyFile.name,
        help: ArgumentHelp("A key file that opens it, with its password or instead of it.", valueName: "file"),
        completion: .file())
    var keyFile: String?

    @OptionGroup
    var sandbox: SandboxOption

    var withoutSandbox: Bool {
        get { sandbox.withoutSandbox }
        set { sandbox.withoutSandbox = newValue }
    }

    /// The first option that was given.
    var firstGiven: OptionName? {
        from != nil
            ? .from : password != nil ? .password : keyFile != nil ? .keyFile : withoutSandbox ? .withoutSandbox : nil
    }

    var access: FileAccess {
        FileAccess(format: from, password: password, keyFile: keyFile, withoutSandbox: withoutSandbox)
    }
}
