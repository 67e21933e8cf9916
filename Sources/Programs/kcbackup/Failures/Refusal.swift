internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKernelKeyring
internal import KCKeychainModel
internal import KCReportText

/// A rule of this program, or an answer from the user, that ends a run.
enum Refusal: Error, Hashable, Sendable {
    /// The question needs an answer, but there is no terminal; the option answers it.
    case unattended(question: String, OptionName)
    /// Whether this machine is still this device needs an answer.
    case whichDevice(DeviceID)
    /// The answer was no.
    case declined
    /// The clock is outside the range of archive dates.
    case clock(day: String)
    /// The typed name is not the name of the keychain.
    case otherName(keychain: String)
    /// An archive would be written to the terminal.
    case archiveOnTerminal
    /// This many items were selected, but none of them can be exported; an archive carries some of them elsewhere.
    case nothingLeaves(Int, archiveCarries: Bool)
    /// This many items cannot be exported, but all were required.
    case notExported(Int)
    /// The keychain is locked, and there is no terminal for its passcode.
    case locked(keychain: String)
    /// The keychain has a passcode, which the job was not given; `isLocked` if that has made a run fail.
    case jobWithoutPasscode(job: String, keychain: String, isLocked: Bool)
    /// The keychain has an item with the same unique key; the options select it, if any do.
    case itemExists(keychain: String, selection: String?)
    /// Another device key cannot be imported, since these keychains need the present one.
    case deviceKeyNeeded(keychains: [String])
    /// The archive names a keychain that does not exist, and there is no terminal to ask the user.
    case noKeychainNamed(String, needsPasscode: Bool)
    /// The archive was made from a keychain that was given by its path.
    case keychainByPath(String)
    /// The keychain needs a key that another one has replaced.
    case retiredKey(keychain: String, device: DeviceID, path: String)
    /// The last successful backups of these jobs and keychains are too old.
    case stale(what: [String], limit: String)
    /// The file of the newest backup is missing.
    case newestGone(keychain: String, path: String)
    /// The backup folder is inside the folder with the user's keychains and keys.
    case backupsInDataFolder(String)
    /// A trial restore differs from the archive.
    case drillDiffers(Int)
    /// There has been no trial restore of a backup in the folder since that day.
    case notDrilled(folder: String, since: String, archive: String, needsKey: Bool)
    /// The user's systemd units stop when the user logs out.
    case noLinger
    /// A system unit cannot run this job, which needs the session bus of its user.
    case noBusInSystemUnit(job: String)
    /// The disk has less free space than making a new archive needs.
    case littleRoom(folder: String, free: UInt64, wanted: UInt64)
    /// A key is stored next to the archives that it may open.
    case identityBesideArchives(path: String)
    /// A run of the job is still in progress.
    case jobRuns(String)
    /// An archive is given where a device key is needed.
    case archiveForKey(path: String)
    /// A file of another program is given where an archive is needed.
    case foreignForArchive(path: String, title: String)
    /// An unencrypted archive would be copied to where others can read it.
    case readableCopy(path: String)
    /// The file is not a certificate.
    case notACertificate(path: String)
    /// There is no keychain to back up, but perhaps a desktop keyring.
    case noKeychains(isDesktopRunning: Bool)
    /// No state of the store is kept, or none with this name.
    case noState(String?, of: String)
    /// The named state is the present one.
    case stateIsPresent(keychain: String, state: String)
    /// An item of the desktop keyring has no room for what a state adds to it.
    case unkeepable(label: String)
    /// The passcode has been changed since the state was kept.
    case stateOfOtherPasscode(path: String)
    /// The device to be untrusted is not on the list.
    case notTrusted(device: String)
    /// A keychain without a passcode cannot be locked.
    case nothingToLock(keychain: String)
    /// Unlocking would last for this command only, because the kernel does not store the keys, for this reason.
    case nothingIsKept(KeyRetentionFailure)
}

extension Refusal {
    /// The explanation for the user.
    var explanation: Explanation { explainRefusal(self) }
}

/// Explains a refusal.
func explainRefusal(_ refusal: Refusal) -> Explanation {
    switch refusal {
    case .unattended(let question, let flag):
        Explanation(
            .refused, "'\(question)' needs an answer, and there is no terminal to ask on",
            hint: "add '\(flag.spelling)\(flag == .confirm ? " NAME" : "")' if that is what you want")
    case .whichDevice(let device):
        Explanation(
            .refused, "whether this is still device \(device) needs an answer, and there is no terminal to ask on",
            hint: "'\(OptionName.keepKey.spelling)' if it is (a reinstalled system, a disk in a new machine)",
            "'\(OptionName.newKey.spelling)' if it is another one (a copied home folder)")
    case .clock(let day):
        Explanation(
            .refused, "the clock says \(day), and an archive can hold dates from 1970 to 2241",
            hint: "set the clock, and try again")
    case .archiveOnTerminal:
        Explanation(
            .refused, "standard output is a terminal, and an archive is binary",
            hint: "send it to a program or a file: '| ssh host …', '> laptop.kcb'")
    case .nothingLeaves(let count, let archiveCarries):
        Explanation(
            .refused,
            (count == 1 ? "the item cannot be exported" : "none of the \(count) items can be exported")
                + ", so no file was made"
        ).adding(archiveCarries ? ["an archive carries more to another machine: 'kcbackup create'"] : [])
    case .notExported(let count):
        Explanation(
            .refused, "\(counted(count, "item")) would not be in the file; nothing was written",
            hint: "leave out '\(OptionName.requireAll.spelling)' to export the others")
    case .declined: Explanation(.refused, "not confirmed; nothing was changed")
    case .otherName(let keychain):
        Explanation(
            .refused, "that is not the name of the keychain; nothing was deleted",
            hint: "type \(quoted(keychain)), or give it with '\(OptionName.confirm.spelling)'")
    case .locked(let keychain):
        Explanation(
            .locked, "keychain \(quoted(keychain)) is locked, and there is no terminal to ask for its passcode on",
            hint: "'kcbackup keychain unlock' opens it for later commands",
            "'\(OptionName.passcode.spelling) SOURCE' opens it for this one, where SOURCE is \(SecretSource.forms)")
    case .jobWithoutPasscode(let job, let keychain, let isLocked):
        Explanation(
            .locked,
            "keychain \(quoted(keychain)) "
                + (isLocked
                    ? "is locked, and the job has no passcode for it"
                    : "has a passcode, and the job has none: it fails while the keychain is locked"),
            hint: "'kcbackup schedule edit \(shellWord(job)) \(OptionName.passcode.spelling) file:PATH', or "
                + "'\(OptionName.escrow.spelling) FILE' with its escrow key")
    case .itemExists(let keychain, let selection):
        Explanation(
            .exists, "\(storeWords(keychain)) has an item with the same unique key",
            hint: selection.map { "'kcbackup item find \($0)' shows it, and 'kcbackup item update \($0)' changes it" }
                ?? "'kcbackup item list' shows the items, and 'kcbackup item update' changes one")
    case .deviceKeyNeeded(let keychains):
        Explanation(
            .exists,
            "this device has another key, which \(keychains.count == 1 ? "keychain" : "keychains") "
                + "\(keychains.map(quoted).joined(separator: ", ")) may need, and cannot be opened to be moved",
            hint: "mend it, or delete it: 'kcbackup keychain info' says what is wrong, 'kcbackup keychain delete'",
            "in another data folder ('XDG_DATA_HOME=~/other kcbackup …') the other key can be used")
    case .noKeychainNamed(let keychain, let needsPasscode):
        Explanation(
            .refused, "the archive was made from keychain \(quoted(keychain)), which does not exist here",
            hint: "'\(OptionName.keychain.spelling) \(shellWord(keychain))"
                + (needsPasscode ? " \(OptionName.passcode.spelling) SOURCE" : "") + "' makes it and restores into it"
                + (needsPasscode ? ", where SOURCE of its passcode is \(SecretSource.forms)" : ""))
    case .keychainByPath(let name):
        Explanation(
            .refused, "the archive was made from a keychain file \(quoted(name)), named by its path",
            hint: "'\(OptionName.keychain.spelling) NAME' names the keychain to restore into")
    case .retiredKey(let keychain, let device, let path):
        Explanation(
            .refused, "keychain \(quoted(keychain)) belongs to device \(device), whose key was replaced",
            hint:
                "its key is kept: 'kcbackup device import \(shellWord(path))' makes it the key of this device again, and "
                + "moves the keychains that were made since to it",
            "'kcbackup restore ARCHIVE \(OptionName.keychain.spelling) NAME' restores a backup into a new one",
            "'kcbackup keychain delete' deletes this one, after which its name can be used again")
    case .stale(let what, let limit):
        Explanation(
            .stale, "no good backup in the last \(displayed(limit)): \(what.joined(separator: ", "))",
            hint: "'kcbackup status' says why, 'kcbackup doctor' finds what would make the next run fail")
    case .newestGone(let keychain, let path):
        Explanation(
            .notFound, "the newest backup of \(storeWords(keychain)) is gone: \(quoted(path))",
            hint: "is the disk mounted, and is it the right one?",
            "if it was removed on purpose, 'kcbackup list \(OptionName.rebuild.spelling) "
                + "\(shellWord(Path.split(path).folder))' forgets it")
    case .backupsInDataFolder(let folder):
        Explanation(
            .refused, "\(quoted(folder)) is where kcbackup keeps keychains and keys",
            hint: "choose another folder, preferably on another disk, so that no single failure takes both")
    case .drillDiffers(let count):
        Explanation(
            .damaged, "\(counted(count, "item")) read back differ from the archive",
            hint: "this is a bug, or the disk or the memory of this machine is failing: try it on another machine")
    case .notDrilled(let folder, let since, let archive, let needsKey):
        Explanation(
            .stale, "no backup in \(quoted(folder)) has had a trial restore since \(since)",
            hint: "'kcbackup verify \(OptionName.drill.spelling) \(shellWord(archive))\(needsKey ? " -i FILE" : "")'")
    case .noLinger:
        Explanation(
            .refused, "the user's timers stop at logout", hint: "run 'loginctl enable-linger'")
    case .noBusInSystemUnit(let job):
        Explanation(
            .usage,
            "'\(OptionName.system.spelling)' is not for job \(quoted(job)): a system unit has no session bus, and so no "
                + "desktop keyring",
            hint: "'kcbackup schedule install \(shellWord(job))' installs it for its user, while they are logged in")
    case .littleRoom(let folder, let free, let wanted):
        Explanation(
            .io, "\(byteCount(free)) are left in \(quoted(folder)), and the next archive may take \(byteCount(wanted))",
            hint: "make room, or keep fewer archives: 'kcbackup prune'")
    case .identityBesideArchives(let path):
        Explanation(
            .refused, "\(quoted(path)) is an identity file, and lies beside the archives",
            hint: "keep it where someone who steals the archives will not find it: 'mv \(shellWord(path)) …'")
    case .jobRuns(let job):
        Explanation(
            .busy, "a run of job \(quoted(job)) has not ended yet",
            hint: "'\(OptionName.lockWait.spelling) TIME' waits for it")
    case .archiveForKey(let path):
        Explanation(
            .damaged, "\(quoted(path)) is an archive, not the key of a device",
            hint: "'kcbackup restore \(shellWord(path))' restores it",
            "'kcbackup device export' writes the key of a device")
    case .foreignForArchive(let path, let title):
        Explanation(
            .damaged, "\(quoted(path)) is not a kcbackup archive, but a \(title)",
            hint: "'kcbackup import \(shellWord(path))' imports it")
    case .readableCopy(let path):
        Explanation(
            .refused, "\(quoted(path)) is unencrypted: whoever can read the remote can read the names in it",
            hint: "copy an encrypted archive, or add '\(OptionName.metadataReadable.spelling)'")
    case .notACertificate(let path):
        Explanation(
            .damaged, "\(quoted(path)) is not a DER or PEM certificate",
            hint: "for other content, leave out '\(OptionName.class.spelling) cert'")
    case .noKeychains(let isDesktopRunning):
        Explanation(
            .notFound, "there is no keychain to back up", hint: "'kcbackup keychain create' makes the first one"
        ).adding(
            isDesktopRunning
                ? [
                    "the desktop keyring is backed up with '\(OptionName.keychain.spelling) \(DesktopKeyring.all.name)' "
                        + "instead of '\(OptionName.all.spelling)'"
                ] : [])
    case .noState(nil, let store):
        Explanation(
            .notFound, "no earlier state of \(storeWords(store)) is kept",
            hint: "one is kept before each command that changes items",
            "'kcbackup restore ARCHIVE\(keyringOption(store))' restores a backup")
    case .noState(.some, let store):
        Explanation(
            .notFound, "there is no such state of \(storeWords(store))",
            hint: "'kcbackup undo \(OptionName.list.spelling)\(keyringOption(store))' shows those that are kept")
    case .stateIsPresent(let keychain, let state):
        Explanation(
            .notFound,
            "there is nothing to take back: \(keychain) is as in the state of \(displayed(state, limit: 100))",
            hint: "'kcbackup undo \(OptionName.list.spelling)' shows all states that are kept")
    case .unkeepable(let label):
        Explanation(.damaged, "item \(quoted(label)) is too large to be kept")
    case .stateOfOtherPasscode(let path):
        Explanation(
            .refused, "the passcode was changed since that state was kept, so it cannot be brought back as it is",
            hint: "with the passcode it had then, 'kcbackup create \(OptionName.keychain.spelling) "
                + "\(shellWord(path))' makes an archive of it")
    case .notTrusted(let device):
        Explanation(
            .notFound, "device \(device) is not trusted", hint: "'kcbackup device list' shows the devices that are")
    case .nothingToLock(let keychain):
        Explanation(
            .refused, "keychain \(quoted(keychain)) has no passcode, and cannot be locked",
            hint: "set one with 'kcbackup keychain set-passcode'")
    case .nothingIsKept(let failure):
        Explanation(
            .locked, "nothing can stay unlocked between commands: \(failure.reason)",
            hint: "give '\(OptionName.passcode.spelling) SOURCE' to each command")
    }
}
