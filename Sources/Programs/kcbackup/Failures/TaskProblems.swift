internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCForeignFormats
internal import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
internal import KCLocalKeychains
internal import KCStoreTasks

/// A problem of a task that comes from what the user gave on the command line.
protocol AboutUsage: Error {
    var usage: UsageProblem { get }
}

extension KeychainNameProblem: AboutUsage {
    var usage: UsageProblem {
        switch self {
        case .fileOfItems: .notAKeychain
        case .desktopKeyring: .desktopKeyring
        case .files(let root): .areFiles(root)
        case .misnamed(let name, let meant): .misnamed(name, meant)
        case .emptyPath: .empty(.keychain)
        }
    }
}

extension StoreUnfit: AboutUsage {
    var usage: UsageProblem {
        switch self {
        case .onlyRead: .notAKeychain
        case .areFiles(let root): .areFiles(root)
        case .lacks(let demand, let kind, let able): .unmet(demand.option, kind, able)
        }
    }
}

extension UsageProblem {
    /// An option is given that the kind of the store lacks, and others have.
    fileprivate static func unmet(_ option: OptionName, _ kind: StoreKind, _ able: [StoreKind]) -> UsageProblem {
        switch (able, kind) {
        case ([.file], _): .needsFile(option)
        case ([.home], _): .needsHome(option)
        case ([.keyring], _): .needsDesktop(option)
        case (_, .file): .notOfFile(option)
        case (_, .home): .notOfHome(option)
        case (_, .keyring), (_, .keychain): .notOfDesktop(option)
        }
    }
}

extension StoreDemand {
    /// The option that makes the demand.
    fileprivate var option: OptionName {
        switch self {
        case .escrow: .escrow
        case .skipsLocked: .skipLocked
        case .asksDesktop: .unlock
        case .format: .from
        case .password: .password
        case .keyFile: .keyFile
        case .passcode: .passcode
        case .acceptMissing: .acceptMissing
        case .unencrypted: .unencrypted
        case .replaces: .replace
        case .replacesUnarchived: .replaceUnarchived
        case .givesUpBinding: .giveUpDeviceBinding
        case .noPasscode: .noPasscode
        case .removesFromFile: .removeFromFile
        }
    }
}

extension ArchiveKeyProblem: AboutUsage {
    var usage: UsageProblem {
        switch self {
        case .givenForBoth: .recipientForBoth
        case .noRestoreKey(let field): .noRestoreKey(field.option)
        case .passphraseOfNoFile: .needs(.recipientsPassphrase, .recipientsFile)
        }
    }
}

extension FileAccessProblem: AboutUsage {
    var usage: UsageProblem {
        switch self {
        case .emptyPath: .emptyFile
        case .emptyKeyFile: .empty(.keyFile)
        case .unknownFormat:
            .malformed(.from, form: "one of " + KnownFormats.all.map(\.name).joined(separator: ", "))
        case .opensNothing(let part, let path): .opensNothing(part.option, path: path)
        }
    }
}

extension StoreUndecided: AboutUsage {
    var usage: UsageProblem { .twoStores(keychain: keychain, doubt) }
}

extension PasscodeOfOne: AboutUsage {
    var usage: UsageProblem { .passcodeOfOne(of: keychains, for: .backup) }
}

extension DesktopUnattended: AboutUsage {
    var usage: UsageProblem { .needsTerminal(.unlock) }
}

extension NotInHome: AboutUsage {
    var usage: UsageProblem { .malformed(.acceptMissing, form: "a path in your home") }
}

extension ReadTwice: AboutUsage {
    var usage: UsageProblem { .readTwice(path) }
}

extension NothingToBackUp {
    var refusal: Refusal {
        switch self {
        case .noKeychains(let isRunning): .noKeychains(isDesktopRunning: isRunning)
        case .keychainGone(let gone): .noKeychain(gone)
        }
    }
}
