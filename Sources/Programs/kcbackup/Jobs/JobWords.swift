internal import KCBackupJobs
internal import KCByteStreams
internal import KCRemotes

/// The options of a job, in their order, as they are merged with others.
struct JobWords {
    private var entries: [(option: OptionName, value: String?)] = []

    /// The options of a job that have no value.
    private static let flags: Set<OptionName> = [.all, .home, .ifChanged, .metadataReadable, .skipLocked, .unencrypted]
    private static let keys: [OptionName] = [
        .passphrase, .recipient, .recipientsFile, .recipientsPassphrase, .inspectRecipient,
    ]

    /// The options of a job.
    ///
    /// - Throws: `JobFailure.damaged` if one of them is not an option.
    init(of job: Job) throws(JobFailure) {
        guard add(job.arguments + job.keep) else { throw .damaged(job: job.name, path: nil) }
        entries.append((.at, job.time))
        entries += job.copyTo.map { (.copyTo, $0) }
        add([
            (.fleet, job.fleet), (.onSuccess, job.onSuccess), (.onFailure, job.onFailure),
            (.hookTimeout, job.hookTimeout),
        ])
    }

    /// The options that were given.
    ///
    /// - Throws: as `CreateOptions.otherWords`.
    init(_ options: JobOptions, in session: Session) throws {
        // A folder of a remote is refused later, by the name that it was given.
        if let to = options.create.folder.to {
            entries.append((.to, RemoteLocation(to) == nil ? session.absolute(to) : to))
        }
        guard add(try options.create.otherWords(in: session) + options.rules.words) else {
            preconditionFailure("the words of options are options")
        }
        entries += options.copyTo.map { (.copyTo, $0) }
        add([
            (.at, options.at), (.fleet, options.fleet), (.onSuccess, options.onSuccess),
            (.onFailure, options.onFailure), (.hookTimeout, options.hookTimeout),
        ])
    }

    /// True if there is no option.
    var isEmpty: Bool { entries.isEmpty }

    /// The names of the options, each once.
    var names: [String] { Set(entries.map(\.option.rawValue)).sorted() }

    /// The options as the parser reads them.
    var words: [String] {
        entries.flatMap { entry -> [String] in
            guard let value = entry.value else { return [entry.option.spelling] }
            // For the parser, a word that begins with a dash is no value, and neither is nothing after "=", which is not
            // even a "=" before a combining character.
            return value.exact.hasPrefix("-")
                ? ["\(entry.option.spelling)=\(value)"] : [entry.option.spelling, value]
        }
    }

    /// Removes an option; false if there is none with this name.
    mutating func remove(_ name: String) -> Bool {
        let count = entries.count
        entries.removeAll { $0.option.rawValue.exact == name.exact }
        return entries.count < count
    }

    /// Puts other options in the place of those with the same names, and of those that they exclude.
    mutating func replace(with others: JobWords) {
        for option in Set(others.entries.map(\.option)) {
            let gone: [OptionName] =
                switch option {
                case .all: [.keychain, .home]
                case .home: [.keychain, .all]
                case .keychain: [.all, .home]
                case .unencrypted: Self.keys
                case let key where Self.keys.contains(key): [.unencrypted]
                default: []
                }
            entries.removeAll { $0.option == option || gone.contains($0.option) }
        }
        entries += others.entries
    }

    private mutating func add(_ given: [(OptionName, String?)]) {
        for case (let option, let value?) in given { entries.append((option, value)) }
    }

    /// Adds words; false if they are not options with their values.
    private mutating func add(_ words: [String]) -> Bool {
        var rest = words[...]
        while let word = rest.popFirst() {
            guard let option = OptionName(argument: word) else { return false }
            if Self.flags.contains(option) {
                entries.append((option, nil))
            } else {
                guard let value = rest.popFirst() else { return false }
                entries.append((option, value))
            }
        }
        return true
    }
}
