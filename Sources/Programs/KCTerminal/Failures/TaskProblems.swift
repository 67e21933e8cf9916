internal import KCAsking
package import KCBackupTasks
internal import KCByteStreams
internal import KCForeignFormats
internal import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
internal import KCLocalKeychains
package import KCStoreTasks

/// A problem of a task that comes from what the user gave on the command line.
package protocol AboutUsage: Error {
    var usage: UsageProblem { get }
}

extension KeychainNameProblem: AboutUsage {
    package var usage: UsageProblem {
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
    package var usage: UsageProblem {
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
    package var usage: UsageProblem {
        switch self {
        case .givenForBoth: .recipientForBoth
        case .noRestoreKey(let field): .noRestoreKey(field.option)
        case .passphraseOfNoFile: .needs(.recipientsPassphrase, .recipientsFile)
        }
    }
}

extension FileAccessProblem: AboutUsage {
    package var usage: UsageProblem {
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
    package var usage: UsageProblem { .twoStores(keychain: keychain, doubt) }
}

extension PasscodeOfOne: AboutUsage {
    package var usage: UsageProblem { .passcodeOfOne(of: keychains, for: .backup) }
}

extension DesktopUnattended: AboutUsage {
    package var usage: UsageProblem { .needsTerminal(.unlock) }
}

extension NotInHome: AboutUsage {
    package var usage: UsageProblem { .malformed(.acceptMissing, form: "a path in your home") }
}

extension ReadTwice: AboutUsage {
    package var usage: UsageProblem { .readTwice(path) }
}

extension NothingToBackUp {
    package var refusal: Refusal {
        switch self {
        case .noKeychains(let isRunning): .noKeychains(isDesktopRunning: isRunning)
        case .keychainGone(let gone): .noKeychain(gone)
        }
    }
}
