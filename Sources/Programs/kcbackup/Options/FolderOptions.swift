internal import ArgumentParser
internal import KCBackupTasks
internal import KCByteStreams
internal import KCStoreTasks
internal import KCTerminal

/// The backup folder, and what a run may do there.
struct FolderOptions: ParsableArguments {
    @Option(
        name: OptionName.to.name,
        help: ArgumentHelp(
            "Keep the archive in this folder, as KEYCHAIN-DEVICE-TIME.kcb, and compare it with the one before.",
            valueName: "folder"),
        completion: .directory)
    var to: String?

    @Flag(name: OptionName.all.name, help: "Back up every keychain, one archive each.")
    var all = false

    @Flag(
        name: OptionName.home.name,
        help: "Back up the desktop keyring, every keychain, and the files of the home, one archive each.")
    var home = false

    @Flag(name: OptionName.ifChanged.name, help: "Keep no new archive if nothing has changed since the last one.")
    var ifChanged = false

    @Flag(
        name: OptionName.acceptShrink.name, help: "Keep the archive even if it has far fewer items than the last one.")
    var acceptShrink = false

    @Flag(
        name: OptionName.change.name,
        help: "Use the folder for another keychain, other keys or another mode from now on.")
    var change = false

    @Flag(
        name: OptionName.metadataReadable.name,
        help: "Let a remote have unencrypted archives: everyone who can read it can read the names in them.")
    var metadataReadable = false

    @OptionGroup
    var lock: LockWaitOption

    /// True if several stores are backed up in one run.
    var isOfSeveral: Bool { all || home }

    /// The first option given that requires a folder of this machine.
    var firstGiven: OptionName? {
        if all { return .all }
        if home { return .home }
        if ifChanged { return .ifChanged }
        if acceptShrink { return .acceptShrink }
        if change { return .change }
        return lock.lockWait == nil ? nil : .lockWait
    }

    var accepted: RunExceptions { RunExceptions(acceptsShrinkage: acceptShrink, mayChange: change) }

    /// A backup into a folder, by these options.
    func request(_ backup: BackupRequest, to folder: String) throws(UsageProblem) -> FolderBackupRequest {
        var request = FolderBackupRequest(backup, to: folder)
        request.ifChanged = ifChanged
        request.wait = try lock.lockWait.map { text throws(UsageProblem) in try LockWaitOption.wait(text) }
        return request
    }

    /// Returns the folder, if one was given.
    func folder() throws(UsageProblem) -> String? {
        guard let to else {
            if let firstGiven { throw .needs(firstGiven, .to) }
            if metadataReadable { throw .needs(.metadataReadable, .to) }
            return nil
        }
        if to.isEmpty { throw .empty(.to) }
        return to
    }
}

/// How long to wait for another run.
struct LockWaitOption: ParsableArguments {
    @Option(
        name: OptionName.lockWait.name,
        help: ArgumentHelp("How long to wait for another run, as in '5m'. (default: 10s)", valueName: "time"))
    var lockWait: String?

    /// Returns the time to wait.
    func wait() throws(UsageProblem) -> Duration {
        guard let lockWait else { return FileLock.defaultWait }
        return try Self.wait(lockWait)
    }

    /// Returns the text that `wait` parses.
    static func text(_ time: Duration) -> String {
        let seconds = time.components.seconds
        if seconds > 0, seconds % 3_600 == 0 { return "\(seconds / 3_600)h" }
        return seconds > 0 && seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
    }

    /// Parses a time to wait.
    static func wait(_ text: String, of option: OptionName = .lockWait) throws(UsageProblem) -> Duration {
        guard let match = text.wholeMatch(of: /(\d{1,6})(s|m|h)?/), let number = Int(match.1) else {
            throw .malformed(option, form: "a time such as '30s', '5m' or '1h'")
        }
        return .seconds(number * (match.2 == "h" ? 3_600 : match.2 == "m" ? 60 : 1))
    }
}
