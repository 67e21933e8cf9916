internal import KCAsking
package import KCBackupTasks
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
internal import KCLocalKeychains
internal import KCRemotes
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
        case .emptyPath: .emptyFile
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
        case .withoutSandbox: .withoutSandbox
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
            .malformed(.from, form: "one of " + ForeignKind.allCases.map(\.name).joined(separator: ", "))
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

extension RekeyProblem: AboutUsage {
    package var usage: UsageProblem {
        switch self {
        case .noNewKeys:
            UsageProblem(
                "no keys are given for the archives",
                hint: "use '\(OptionName.recipient.spelling) age1…' or '\(OptionName.newPassphrase.spelling) SOURCE'")
        }
    }
}

extension BackupFolderProblem {
    package var failure: Failure {
        switch self {
        case .isFile(let path): .usage(.fileForFolder(path))
        case .isOfData(let path): .refused(.insideOfData(path))
        }
    }
}

extension ArchivePlaceProblem {
    package func failure(about subject: Failure.Subject) -> Failure {
        switch self {
        case .unnamed: .usage(.emptyArchive)
        case .ambiguous(let given): .usage(.ambiguousPlace(given))
        case .meansKeychain(let location): .usage(.keychainPrefix(location.text, keychain: location.path))
        case .noArchives(let folder): .refused(.noArchives(in: folder))
        case .unreadableName(let path): .refused(.unreadableName(path: path))
        case .empty(let path): .refused(.emptyArchive(path: path))
        case .ownFile(let path, let file): .refused(.ownFile(path: path, file))
        case .foreign(let path, let title): .refused(.foreignFile(path: path, title: title))
        case .originalUnreadable(let path, let error, let copy):
            .refused(
                .originalUnreadable(path, Failure(error, about: subject).explanation.message, copy: copy))
        }
    }
}

extension NothingToBackUp {
    package var refusal: Refusal {
        switch self {
        case .noKeychains(let isRunning): .noKeychains(isDesktopRunning: isRunning)
        case .keychainGone(let gone): .noKeychain(gone)
        }
    }
}
