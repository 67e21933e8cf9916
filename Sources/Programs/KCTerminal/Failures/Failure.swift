package import KCAgeEncryption
package import KCAsking
package import KCBackupArchive
package import KCBackupCatalogue
package import KCBackupEngine
package import KCBackupJobs
package import KCBackupTasks
package import KCByteStreams
package import KCConsole
package import KCCryptography
package import KCDeviceIdentity
package import KCForeignReader
package import KCHomeFiles
package import KCItemSources
internal import KCItemStores
package import KCKeychainModel
package import KCKeychainStore
package import KCLocalKeychains
package import KCRemotes
internal import KCReportText
package import KCSecretService
package import KCSecurityTokens
package import KCStoreTasks

/// An error of a companion, which explains it.
package protocol Explained: Error {
    var explanation: Explanation { get }
}

/// Everything that can end a run unsuccessfully, with its subject.
package enum Failure: Error, Hashable, Sendable {
    /// The command line cannot be parsed; the help of the command applies.
    case commandLine(CommandLineProblem, command: String)
    /// The program cannot read its command line.
    case argumentsMissing
    case usage(UsageProblem)
    case refused(Refusal)
    case secret(SecretProblem)
    case terminal(TerminalFailure)
    case file(FileFailure)
    case stream(StreamFailure, path: String?)
    /// The result cannot be written to standard output; the command has already done its work.
    case output(StreamFailure)
    case local(LocalKeychainFailure)
    case secretService(SecretServiceFailure)
    case home(HomeFailure)
    /// A write to the desktop keyring or the home failed after at least this many items.
    indirect case brokenOff(Failure, written: Int)
    case keychain(KeychainStoreError, name: String?)
    /// There is no keychain, but perhaps a desktop with a keyring was meant.
    case noKeychain(name: String?, KeyringHint)
    /// There is no keychain of a name that probably means another store.
    case misnamed(String, MeantStore)
    case item(ItemProblem)
    /// A line of a file of items.
    case importLine(Int, ItemLines.Problem)
    case device(DeviceKeyFailure)
    case trust(TrustedDevicesFailure)
    case token(TokenFailure)
    case age(AgeFailure, path: String?)
    case archive(ArchiveFailure, path: String?)
    case restore(RestoreRefusal, path: String?)
    /// Another program's file.
    case foreign(ForeignFailure, path: String?)
    /// The reader of another program's file.
    case reader(ReaderFailure, path: String?)
    /// In a job, if one is named.
    case catalogue(CatalogueFailure, job: String?)
    case job(JobFailure)
    case found(JobFinding)
    case cryptography(CryptographyFailure)
    case remote(RemoteFailure)
    case kit(KitProblem)
    /// An error that a companion explains.
    case explained(Explanation)
    /// The failure could be mended by a passcode, which would be refused: several keychains have one each.
    indirect case passcodeOfOne(Failure, UsageProblem.PasscodeUse)
    /// A secret is wrong; the doubts may say why.
    indirect case wrongSecret(Failure, kind: SecretQuestion.Kind, [SecretDoubt])
    /// A temporary file cannot be written to the temporary folder.
    indirect case temporaryFolder(Failure, path: String)
    /// The disk is full, and removed archives in the trash still take up space.
    indirect case full(Failure, trash: String)
    /// The state before a restore cannot be kept.
    indirect case notKept(Failure)
    /// The sheet of a recovery kit was written, and the kit cannot be entered into the list.
    indirect case kitNotEntered(Failure)
    /// A state that was kept cannot be read; the name of the store is as the user gave it.
    indirect case ofState(Failure, state: String, of: String)
    /// An unknown error; the string names a Swift type and nothing else.
    case unforeseen(type: String)

    /// The subject that a run was working on, for errors that do not carry this information themselves.
    package struct Subject: Hashable, Sendable {
        /// The keychain, or another store, as named by the user.
        package var store: String?
        /// The archive, folder or key file as named by the user.
        package var file: String?
        /// The job that the run is for.
        package var job: String?

        package init(store: String? = nil, file: String? = nil, job: String? = nil) {
            self.store = store
            self.file = file
            self.job = job
        }

        fileprivate func of(file: String) -> Subject { Subject(store: store, file: file, job: job) }
    }

    /// Converts any error from the layers below.
    package init(_ error: any Error, about subject: Subject = Subject()) {
        self =
            switch error {
            case let failure as Failure: failure
            case let problem as UsageProblem: .usage(problem)
            case let refusal as Refusal: .refused(refusal)
            case let problem as SecretProblem: .secret(problem)
            case let failure as InputFailure: Failure(failure.cause, about: subject.of(file: failure.path))
            case let failure as TerminalFailure: .terminal(failure)
            case let failure as SpoolFailure: .temporaryFolder(Failure(failure.cause), path: failure.folder)
            case let failure as FileFailure: .file(failure)
            case let failure as StreamFailure: .stream(failure, path: subject.file)
            case let failure as LocalKeychainFailure: .local(failure)
            case let failure as SecretServiceFailure: .secretService(failure)
            case let failure as HomeFailure: .home(failure)
            case let failure as StateFailure: Failure(failure, of: subject.store ?? "")
            case let failure as BrokenOffWrite:
                .brokenOff(Failure(failure.cause, about: subject), written: failure.written)
            case let error as KeychainStoreError: .keychain(error, name: subject.store)
            case let failure as KeychainFailure: .keychain(failure.error, name: failure.name)
            case let failure as PasscodeNeeded: .refused(.passcodeNeeded(failure, job: subject.job))
            case let wrong as WrongSecret:
                .wrongSecret(Failure(wrong.error, about: subject), kind: wrong.kind, wrong.doubts)
            case let problem as any AboutUsage: .usage(problem.usage)
            case let problem as ArchivePlaceProblem: problem.failure(about: subject)
            case CopyRefusal.readable(let path): .refused(.readableCopy(path: path))
            case let problem as ItemProblem: .item(problem)
            case let failure as ItemLines.Failure: .importLine(failure.line, failure.problem)
            case let failure as DeviceKeyFailure: .device(failure)
            case let failure as TrustedDevicesFailure: .trust(failure)
            case let failure as TokenFailure: .token(failure)
            case let failure as AgeFailure: .age(failure, path: subject.file)
            case let failure as ArchiveFailure: .archive(failure, path: subject.file)
            case let refusal as RestoreRefusal: .restore(refusal, path: subject.file)
            case let failure as ForeignFailure: .foreign(failure, path: subject.file)
            case let failure as ReaderFailure: .reader(failure, path: subject.file)
            case let failure as CatalogueFailure: .catalogue(failure, job: subject.job)
            case let failure as JobFailure: .job(failure)
            case let finding as JobFinding: .found(finding)
            case let failure as FolderBackupFailure:
                Failure(
                    failure.cause,
                    about: Subject(
                        store: failure.store ?? subject.store, file: failure.file ?? subject.file, job: subject.job)
                ).blaming(trash: failure.trash)
            case let nothing as NothingToBackUp: .refused(nothing.refusal)
            case SetAsideProblem.namesake(let other, let keychain):
                .refused(.namesake(of: other, keychain: keychain))
            case let problem as BackupFolderProblem: problem.failure
            case let problem as ClockProblem: .refused(.clock(problem.now))
            case let missing as HomeFilesMissing: .found(.filesMissing(job: subject.job, missing))
            case let failure as CryptographyFailure: .cryptography(failure)
            case let failure as RemoteFailure: .remote(failure)
            case let problem as KitProblem: .kit(problem)
            case let problem as any Explained: .explained(problem.explanation)
            default: .unforeseen(type: "\(type(of: error))")
            }
    }

    /// Adds that the trash of the folder could be emptied, if the disk is full.
    package func blaming(trash: String?) -> Failure {
        guard let trash, isOfFullDisk else { return self }
        return .full(self, trash: trash)
    }

    /// True if the disk is full.
    private var isOfFullDisk: Bool {
        switch self {
        case .file(let failure), .archive(.file(let failure), _), .catalogue(.file(let failure), _):
            if case .system(let code, _) = failure.problem { isFull(code) } else { false }
        case .stream(let failure, _), .archive(.stream(let failure), _):
            if case .system(let code) = failure.kind { isFull(code) } else { false }
        default: false
        }
    }

    /// True if standard output does not accept the result.
    package var isOfOutput: Bool { if case .output = self { true } else { false } }

    /// The explanation for the user.
    package var explanation: Explanation {
        switch self {
        case .commandLine(let problem, let command): explainCommandLine(problem, command)
        case .argumentsMissing: explainMissingArguments()
        case .usage(let problem): problem.explanation
        case .refused(let refusal): refusal.explanation
        case .secret(let problem): explainSecret(problem)
        case .terminal(let failure): explainTerminal(failure)
        case .file(let failure): explainFile(failure)
        case .stream(let failure, let path): explainStream(failure, path)
        case .output(let failure): explainOutput(failure)
        case .local(let failure): explainLocalKeychain(failure)
        case .secretService(let failure): explainSecretService(failure)
        case .home(let failure): explainHome(failure)
        case .brokenOff(let failure, let written): explainBrokenOff(failure, written: written)
        case .keychain(let error, let name): explainKeychain(error, keychain: name)
        case .noKeychain(let name, .absent):
            Explanation(
                .notFound, "no desktop keyring runs here, and there is no \(name.map(storeWords) ?? "keychain")",
                hint: KeyringHint.absent.words, "'kcbackup keychain create' makes a keychain of kcbackup's own")
        case .noKeychain(let name, let hint):
            explainKeychain(.notFound(name ?? ""), keychain: name).adding([hint.words])
        case .misnamed(let name, let meant):
            Explanation(.notFound, "there is no \(storeWords(name))", hint: meant.words)
        case .item(let problem): explainItem(problem)
        case .importLine(let number, let problem): explainImportLine(problem).prefixed("line \(number): ")
        case .device(let failure): explainDeviceKey(failure)
        case .trust(let failure): explainTrustedDevices(failure)
        case .token(let failure): explainToken(failure)
        case .age(let failure, let path): explainAge(failure, path)
        case .archive(let failure, let path): explainArchive(failure, path)
        case .restore(let refusal, let path): explainRestoreRefusal(refusal, path)
        case .foreign(let failure, let path): explainForeign(failure, path)
        case .reader(let failure, let path): explainReader(failure, path)
        case .catalogue(let failure, let job): explainCatalogue(failure, job: job)
        case .job(let failure): explainJob(failure)
        case .found(let finding): explainFinding(finding)
        case .cryptography(let failure): explainCryptography(failure)
        case .remote(let failure): explainRemote(failure)
        case .kit(let problem): explainKit(problem)
        case .explained(let explanation): explanation
        case .passcodeOfOne(let failure, let use): failure.explanation.replacingPasscode(by: use.ways)
        case .wrongSecret(let failure, let kind, let doubts):
            failure.explanation.adding(doubts.map { $0.words(kind) })
        case .temporaryFolder(let failure, let path): explainTemporaryFolder(failure.explanation, path)
        case .full(let failure, let trash):
            failure.explanation.adding([
                "archives that were removed still take room in \(quoted(trash)): remove them with 'rm'"
            ])
        case .notKept(let failure): explainNotKept(failure.explanation)
        case .kitNotEntered(let failure):
            failure.explanation.prefixed("nothing was made, since the kit cannot be entered into the list: ")
        case .ofState(let failure, let state, let store): explainState(failure, state, of: store)
        case .unforeseen(let type): explainBug("an unforeseen error of type '\(type)'")
        }
    }
}

/// The hint about the desktop keyring by a command that found no keychain.
package enum KeyringHint: Hashable, Sendable, CaseIterable {
    case running
    case unreachable
    /// None is running, and the command is for backups of one.
    case absent

    /// The hint as text.
    package var words: String {
        let option = "\(OptionName.keychain.spelling) \(DesktopKeyring.all.name)"
        return switch self {
        case .running: "'\(option)' is the desktop keyring"
        case .absent: "log in to the desktop to back up its keyring; '\(option)' says what is missing"
        case .unreachable: "the desktop keyring cannot be reached: '\(option)' says why"
        }
    }
}

/// The ways in which a command can use the desktop keyring.
package enum KeyringUse: Sendable {
    case direct
    /// The command makes backups of the keyring, for which most people want it.
    case backedUp
    case none
}

/// Returns the path of an input in quotation marks, or "standard input".
package func quotedInput(_ path: String) -> String {
    path == InputFile.standardInputName ? "standard input" : quoted(path)
}

/// Explains a bug.
package func explainBug(_ what: String) -> Explanation {
    Explanation(
        .internal, "\(what); nothing was changed",
        hint: "this is a bug; please report it with the command that led here")
}
