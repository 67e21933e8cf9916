internal import ArgumentParser
internal import KCAsking
internal import KCBackupCatalogue
internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// An option of a job, and where its value is.
struct JobSetting {
    let option: OptionName
    private let place: Place

    private enum Place {
        case flag(WritableKeyPath<JobOptions, Bool>)
        case text(WritableKeyPath<JobOptions, String?>)
        case list(WritableKeyPath<JobOptions, [String]>)
        case source(WritableKeyPath<JobOptions, SecretSource?>)
    }

    private init(_ option: OptionName, _ place: Place) {
        self.option = option
        self.place = place
    }

    /// All options that a job keeps, in the order in which they are shown.
    static var all: [JobSetting] { [to] + ofCreate + ofRetention + ofJob }

    fileprivate static var to: JobSetting { JobSetting(.to, .text(\.create.folder.to)) }

    fileprivate static var ofCreate: [JobSetting] {
        [
            JobSetting(.all, .flag(\.create.folder.all)),
            JobSetting(.home, .flag(\.create.folder.home)),
            JobSetting(.ifChanged, .flag(\.create.folder.ifChanged)),
            JobSetting(.skipLocked, .flag(\.create.skipLocked)),
            JobSetting(.acceptMissing, .list(\.create.acceptMissing)),
            JobSetting(.unencrypted, .flag(\.create.unencrypted)),
            JobSetting(.metadataReadable, .flag(\.create.folder.metadataReadable)),
            JobSetting(.lockWait, .text(\.create.folder.lock.lockWait)),
            JobSetting(.keychain, .text(\.create.keychain.keychain)),
            JobSetting(.from, .text(\.create.foreign.from)),
            JobSetting(.password, .source(\.create.foreign.password)),
            JobSetting(.keyFile, .text(\.create.foreign.keyFile)),
            JobSetting(.withoutSandbox, .flag(\.create.foreign.withoutSandbox)),
            JobSetting(.passcode, .source(\.create.keychain.passcodeOption.passcode)),
            JobSetting(.escrow, .source(\.create.escrowSource)),
            JobSetting(.passphrase, .source(\.create.keys.passphrase)),
            JobSetting(.recipient, .list(\.create.keys.restoring.recipient)),
            JobSetting(.recipientsFile, .list(\.create.keys.restoring.recipientsFile)),
            JobSetting(.recipientsPassphrase, .source(\.create.keys.restoring.recipientsPassphrase)),
            JobSetting(.inspectRecipient, .list(\.create.keys.inspectRecipient)),
        ]
    }

    fileprivate static var ofRetention: [JobSetting] {
        Retention.Rule.allCases.map { JobSetting(RetentionOptions.option($0), .text(RetentionOptions.place($0))) }
            + [JobSetting(.keepWithin, .text(\.rules.keepWithin))]
    }

    private static var ofJob: [JobSetting] {
        [
            JobSetting(.at, .text(\.at)), JobSetting(.onChange, .flag(\.onChange)),
            JobSetting(.copyTo, .list(\.copyTo)),
            JobSetting(.verifyCopies, .text(\.verifyCopies)), JobSetting(.fleet, .text(\.fleet)),
            JobSetting(.onSuccess, .text(\.onSuccess)), JobSetting(.onFailure, .text(\.onFailure)),
            JobSetting(.hookTimeout, .text(\.hookTimeout)),
        ]
    }

    /// The values in options: none for a flag that is set, nil if the option is not given.
    private func values(in options: JobOptions) -> [String]? {
        switch place {
        case .flag(let path): options[keyPath: path] ? [] : nil
        case .text(let path): options[keyPath: path].map { [$0] }
        case .list(let path): options[keyPath: path].isEmpty ? nil : options[keyPath: path]
        case .source(let path): options[keyPath: path].map { [$0.text] }
        }
    }

    func isGiven(in options: JobOptions) -> Bool { values(in: options) != nil }

    /// The words that give the option.
    fileprivate func words(in options: JobOptions) -> [String] {
        guard let values = values(in: options) else { return [] }
        if values.isEmpty { return [option.spelling] }
        return values.flatMap { value in
            // For the parser, a word that begins with a dash is no value, and neither is nothing after "=", which is not
            // even a "=" before a combining character.
            value.exact.hasPrefix("-") ? ["\(option.spelling)=\(value)"] : [option.spelling, value]
        }
    }

    /// Takes the option from other options, as it is there.
    func copy(from others: JobOptions, to options: inout JobOptions) {
        switch place {
        case .flag(let path): options[keyPath: path] = others[keyPath: path]
        case .text(let path): options[keyPath: path] = others[keyPath: path]
        case .list(let path): options[keyPath: path] = others[keyPath: path]
        case .source(let path): options[keyPath: path] = others[keyPath: path]
        }
    }

    /// The options that cannot stand beside this one.
    private var excluded: [OptionName] {
        let keys: [OptionName] = [
            .passphrase, .recipient, .recipientsFile, .recipientsPassphrase, .inspectRecipient,
        ]
        return switch option {
        case .all: [.keychain, .home]
        case .home: [.keychain, .all]
        case .keychain: [.all, .home]
        case .unencrypted: keys
        case let key where keys.contains(key): [.unencrypted]
        default: []
        }
    }

    /// Puts options in the place of those with the same names, and of those that they exclude.
    static func merge(_ given: JobOptions, into options: inout JobOptions) {
        let settings = all.filter { $0.isGiven(in: given) }
        let excluded = settings.flatMap(\.excluded)
        for setting in all where excluded.contains(setting.option) { setting.copy(from: .none, to: &options) }
        for setting in settings { setting.copy(from: given, to: &options) }
    }
}

extension JobOptions {
    /// No options.
    static var none: JobOptions {
        do {
            return try parse([])
        } catch {
            preconditionFailure("no option of a job is required")
        }
    }

    /// The options that describe a job.
    init(_ job: Job) {
        self = .none
        let (request, backup) = (job.request, job.backup)
        create.folder.to = request.folder
        create.folder.all = backup.stores == .everyKeychain
        create.folder.home = backup.stores == .home
        create.folder.ifChanged = request.ifChanged
        create.folder.metadataReadable = job.copiesReadable
        create.folder.lock.lockWait = request.wait.map(LockWaitOption.text)
        create.keychain.keychain = backup.storeName
        create.keychain.passcodeOption.passcode = backup.access.key.passcode
        create.escrowSource = backup.access.key.escrow
        create.foreign.from = backup.access.file.format
        create.foreign.password = backup.access.file.password
        create.foreign.keyFile = backup.access.file.keyFile
        create.foreign.withoutSandbox = backup.access.file.withoutSandbox
        create.skipLocked = backup.access.skipsLocked
        create.acceptMissing = backup.access.acceptMissing
        create.unencrypted = backup.isUnencrypted
        if let keys = backup.keys {
            create.keys.passphrase = keys.passphrase
            create.keys.restoring.recipient = keys.restoring.keys
            create.keys.restoring.recipientsFile = keys.restoring.files
            create.keys.restoring.recipientsPassphrase = keys.restoring.passphrase
            create.keys.inspectRecipient = keys.inspecting
        }
        for (rule, count) in job.keep.counts where count > 0 {
            self[keyPath: RetentionOptions.place(rule)] = String(count)
        }
        rules.keepWithin = job.keep.within?.description
        at = job.time
        onChange = job.onChange
        copyTo = job.copyTo
        verifyCopies = job.verifiedCopies == Job.usualVerifiedCopies ? nil : String(job.verifiedCopies)
        fleet = job.fleet
        onSuccess = job.onSuccess
        onFailure = job.onFailure
        hookTimeout = job.hookTimeout.map(LockWaitOption.text)
    }

    /// The words that these options are parsed from.
    var words: [String] { JobSetting.all.flatMap { $0.words(in: self) } }
}

extension RetentionOptions {
    fileprivate static func option(_ rule: Retention.Rule) -> OptionName {
        switch rule {
        case .last: .keepLast
        case .hourly: .keepHourly
        case .daily: .keepDaily
        case .weekly: .keepWeekly
        case .monthly: .keepMonthly
        case .yearly: .keepYearly
        }
    }

    fileprivate static func place(_ rule: Retention.Rule) -> WritableKeyPath<JobOptions, String?> {
        switch rule {
        case .last: \.rules.keepLast
        case .hourly: \.rules.keepHourly
        case .daily: \.rules.keepDaily
        case .weekly: \.rules.keepWeekly
        case .monthly: \.rules.keepMonthly
        case .yearly: \.rules.keepYearly
        }
    }
}

extension Job {
    /// The JSON object "job".
    var json: JSONValue {
        let options = JobOptions(self)
        let ofCreate = ([JobSetting.to] + JobSetting.ofCreate).flatMap { $0.words(in: options) }
        let ofRetention = JobSetting.ofRetention.flatMap { $0.words(in: options) }
        return .members([
            ("name", .text(name)), ("folder", .text(folder)), ("time", time.map { .text($0) }),
            ("onChange", onChange ? .flag(true) : nil),
            ("create", .list(ofCreate.map { .text($0) })), ("keep", .list(ofRetention.map { .text($0) })),
            ("copyTo", copyTo.isEmpty ? nil : .list(copyTo.map { .text($0) })),
            ("verifyCopies", options.verifyCopies.map { .text($0) }), ("fleet", fleet.map { .text($0) }),
            ("onSuccess", onSuccess.map { .text($0) }), ("onFailure", onFailure.map { .text($0) }),
            ("hookTimeout", options.hookTimeout.map { .text($0) }),
        ])
    }

    /// The command that makes the job.
    var command: String {
        (["kcbackup", "schedule", "add", name] + JobOptions(self).words).map { Quoted.shellWord($0) }
            .joined(separator: " ")
    }
}
