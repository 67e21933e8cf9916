internal import KCAgeEncryption
internal import KCAsking
internal import KCByteStreams
internal import KCFileProtection
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// The plan of `protect`, after each file was found fit for it; a dry run ends here.
struct ProtectionPlan {
    /// The files, with the place of the key to which an earlier run has encrypted them already, and true if that run has
    /// given them their names too.
    let files: [(file: FileToProtect, earlier: FileKeyPlaces.Place?, isDone: Bool)]

    /// Looks at all files, and changes none.
    ///
    /// - Parameter keychain: the name of the keychain that the user named.
    /// - Throws: `ProtectionProblem`, `FileFailure`, `UsageProblem` for a file that is given twice, and as
    ///   `FileKeyPlaces.init`.
    init(_ paths: [String], _ keychain: String?, in session: Session) throws {
        let opened = try paths.map { path in
            let path = try session.machine.resolve(file: path)
            if Self.isOwn(path, in: session.machine) { throw ProtectionProblem.ownFile(path) }
            if let done = try Self.done(path) { return (file: done, isDone: true) }
            let file = try FileToProtect(path)
            session.subject.file = path
            if try file.isKeychain { throw ProtectionProblem.ownFile(path) }
            return (file: file, isDone: false)
        }
        try requireOnce(opened.map(\.file))
        let places = try FileKeyPlaces(keychain, in: session.machine)
        files = try opened.map { file, isDone in
            session.subject.file = file.path
            let earlier = try file.stanzas.flatMap(places.place(of:))
            if isDone, earlier != nil { return (file, earlier, true) }
            if earlier == nil, let stanzas = file.stanzas, ProtectionMark.isMarked(stanzas) {
                try places.requireAll()
                throw ProtectionProblem.keyElsewhere(file.path)
            }
            if earlier != nil, file.hasEnding { throw ProtectionProblem.alreadyProtected(file.path) }
            try file.requireProtectable(isEncrypted: earlier != nil)
            return (file, earlier, false)
        }
    }

    /// The protected file that an earlier run has made of a file, which is gone since; nil if that may not be so.
    private static func done(_ path: String) throws -> FileToProtect? {
        guard try !Path.exists(path), try Path.kind(of: path + FileToProtect.ending) == .file else { return nil }
        let file = try FileToProtect(path + FileToProtect.ending)
        return ProtectionMark.isMarked(file.stanzas ?? []) ? file : nil
    }

    /// Refuses a file that is encrypted already, unless its key is the one that is wanted.
    ///
    /// - Parameter hasOthers: true if further keys are wanted; whether a file has them cannot be told.
    func requireKey(of place: FileKeyPlaces.Place, hasOthers: Bool) throws(ProtectionProblem) {
        for case (let file, let earlier?, let isDone) in files where hasOthers || earlier.holder != place.holder {
            if isDone { throw .alreadyProtected(file.path) }
            throw .encryptedOtherwise(file.path, earlier.protection, keychain: earlier.keychain?.name)
        }
    }

    /// True for what is in the data folder, such as the device key.
    private static func isOwn(_ path: String, in machine: Machine) -> Bool {
        guard let folder = Path.real(Path.split(path).folder), let own = Path.real(machine.dataFolder.path) else {
            return false
        }
        return (folder + "/").exact.hasPrefix(own + "/")
    }

    /// Protects the files, one after the other.
    func run(for recipients: [any Recipient], in session: Session) throws {
        for (number, (file, earlier, _)) in files.filter({ !$0.isDone }).enumerated() {
            session.subject.file = file.path
            if earlier == nil {
                try file.protect(for: recipients)
                session.done = words(number, "\(quoted(file.path)) is encrypted under its old name")
            }
            try file.finishProtecting()
            session.done = words(number + 1)
        }
    }

    /// Says what was done, for a failure that comes after it.
    private func words(_ count: Int, _ more: String = "") -> String {
        [count == 0 ? "" : "\(counted(count, "file")) protected", more].filter { !$0.isEmpty }
            .joined(separator: ", and ")
    }
}

/// The plan of `unprotect`, after each file was found fit for it and its key's place is known; a dry run ends here.
struct UnprotectionPlan {
    let files: [(file: FileToProtect, place: FileKeyPlaces.Place)]

    /// Looks at all files, and changes none.
    ///
    /// - Parameter keychain: the name of the keychain that the user named.
    /// - Throws: as `ProtectionPlan.init`.
    init(_ paths: [String], _ keychain: String?, in session: Session) throws {
        let places = try FileKeyPlaces(keychain, in: session.machine)
        files = try paths.map { path in
            let path = try session.machine.resolve(file: path)
            try Self.requireName(path)
            let file = try FileToProtect(path)
            session.subject.file = file.path
            guard let stanzas = file.stanzas else { throw ProtectionProblem.notEncrypted(file.path) }
            guard ProtectionMark.isMarked(stanzas), file.hasEnding else {
                throw ProtectionProblem.notProtected(file.path)
            }
            guard let place = try places.place(of: stanzas) else {
                try places.requireAll()
                throw ProtectionProblem.keyElsewhere(file.path)
            }
            try file.requireUnprotectable()
            return (file, place)
        }
        try requireOnce(files.map(\.file))
    }

    /// Refuses the name that a protected file had before, by which it is often called.
    private static func requireName(_ path: String) throws {
        let name = path + FileToProtect.ending
        if try Path.exists(path) || !Path.exists(name) { return }
        throw Refusal(
            .notFound, "\(quoted(path)) does not exist", hint: "did you mean 'kcbackup unprotect \(shellWord(name))'?")
    }

    /// Decrypts the files, one after the other.
    ///
    /// - Parameter opening: what opens each of them.
    func run(_ opening: [[any Identity]], in session: Session) throws {
        for (number, (file, _)) in files.enumerated() {
            session.subject.file = file.path
            try file.unprotect(with: opening[number])
            session.done = "\(counted(number + 1, "file")) decrypted"
        }
    }

    /// Returns what opens each file, once each was found to open, and changes none.
    ///
    /// - Parameter choice: the keychain that the user named, and a passcode.
    func open(_ choice: LocalKeychainOptions, in session: Session) throws -> [[any Identity]] {
        let passcodes = try passcodes(choice, in: session)
        // A keychain is asked for once, however many of its files there are.
        var keys: [FileKeyHolder: [any Identity]] = [:]
        var opening: [[any Identity]] = []
        var unlocked: [LocalKeychain] = []
        for (file, place) in files {
            session.subject.file = file.path
            let source = passcodes(place)
            var given = source.given
            // A passcode given for one class has opened the others, and cannot be read twice.
            if let keychain = place.keychain, unlocked.contains(keychain) { given = nil }
            let identities =
                try keys[place.holder]
                ?? place.identities(given, canBeGiven: source.canBeGiven, in: session.context)
            if let keychain = place.keychain { unlocked.append(keychain) }
            keys[place.holder] = identities
            try file.requireOpens(with: identities)
            try file.requireClearName(with: identities)
            opening.append(identities)
        }
        return opening
    }

    /// Returns the passcode for each keychain, and whether it is the one that a passcode is for: one that is given is tried on
    /// that keychain alone, since another one would count it as a wrong one.
    private func passcodes(
        _ choice: LocalKeychainOptions, in session: Session
    ) throws -> (FileKeyPlaces.Place) -> (given: SecretSource?, canBeGiven: Bool) {
        let given = choice.passcode
        let named = try choice.keychain.map { try LocalKeychain($0, in: session.machine) }
        var asking: [LocalKeychain] = []
        for case .keychain(let local, let keychain, _) in files.map(\.place) where keychain.hasPasscode {
            if !asking.contains(local) { asking.append(local) }
        }
        let candidate = named ?? (asking.count == 1 ? asking[0] : nil)
        guard given != nil else { return { (nil, $0.keychain == candidate) } }
        if named == nil, asking.count > 1 { throw UsageProblem.passcodeOfOne(of: asking.map(\.name), for: .files) }
        guard let meant = candidate, asking.contains(meant) else {
            session.note("no file needs that passcode, so '\(OptionName.passcode.spelling)' is not read")
            return { _ in (nil, false) }
        }
        return { $0.keychain == meant ? (given, true) : (nil, false) }
    }
}

extension Machine {
    /// Resolves the path of a file, as `resolve` does; an empty one would be the working folder.
    func resolve(file path: String) throws(UsageProblem) -> String {
        if path.isEmpty { throw .emptyFile }
        return resolve(path)
    }
}

extension FileToProtect {
    /// True for a keychain of kcbackup, wherever it is: an SQLite database with its application ID.
    fileprivate var isKeychain: Bool {
        get throws {
            try holds(Array("SQLite format 3\0".utf8), at: 0) && holds(Array("kcbk".utf8), at: 68)
        }
    }
}

/// Refuses a file that is given twice, perhaps by two spellings of its path.
private func requireOnce(_ files: [FileToProtect]) throws(UsageProblem) {
    for (number, file) in files.enumerated() where files[..<number].contains(where: { $0.isSame(as: file) }) {
        throw UsageProblem("\(quoted(file.path)) is given twice", hint: "leave one out")
    }
}
