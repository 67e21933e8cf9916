package import KCAsking
internal import KCBackupEngine
internal import KCBackupJobs
package import KCBackupTasks
internal import KCHomeFiles
internal import KCItemStores
internal import KCKernelKeyring
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCPasscodeStrength
internal import KCReportText
internal import KCSecretService
package import KCStoreTasks

/// An event that this program tells its user.
///
/// Every type of events conforms.
package protocol ToldEvent: TaskEvent {
    func tell(in session: Session)
}

extension Session {
    /// Tells what happens while a task works.
    package func tell(_ event: any TaskEvent) {
        guard let event = event as? any ToldEvent else { preconditionFailure("an event of a type without words") }
        event.tell(in: self)
    }
}

extension SecretEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .oddity(let oddity, let question): session.warn("the \(question.words) \(oddity.words)")
        case .setWithMarks(let kind):
            session.note("the \(kind.words) was set with a carriage return or a byte order mark, as Windows adds them")
        }
    }
}

extension KeychainEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .passcodeUnneeded(let keychain):
            session.note(
                "keychain \(quoted(keychain)) has no passcode, so '\(OptionName.passcode.spelling)' is not read; "
                    + "'kcbackup keychain set-passcode' sets one")
        case .escrowUnneeded(let keychain):
            session.note(
                "keychain \(quoted(keychain)) has no passcode, so '\(OptionName.escrow.spelling)' is not read")
        case .itemsAsk: session.note("the passcode is needed for items that ask for it each time")
        case .unlocked(let keychain, let settings):
            session.note("keychain \(quoted(keychain)) is unlocked; it locks \(settings.words)")
        case .notKeptUnlocked(let failure):
            session.warn("the keychain does not stay unlocked for later commands: \(failure.reason)")
        case .tokenUnused(let failure):
            session.note("no security token is used: \(explainToken(failure).message)")
        case .tokenRecordUnused(let problem, let keychain):
            session.note("no security token is used: \(explainTokenRecord(problem, storeWords(keychain)).message)")
        }
    }
}

extension KeychainMakingEvent: ToldEvent {
    // With more than 10^8 guesses, zxcvbn's authors consider a password "safely unguessable" for moderate protection.
    private static let strongEnough = 3

    package func tell(in session: Session) {
        switch self {
        case .strength(let strength, let kind):
            let grade = "\(kind.words) strength \(strength.score) of 4"
            if strength.score >= Self.strongEnough { return session.note(grade) }
            session.warn("\(grade): \(strength.reason); guessing it takes about \(strength.crackTime)")
        case .noPasscode: session.warn("the new keychain has no passcode: this device alone opens it")
        case .made(let keychain, let made):
            if let failure = made.notListed {
                session.warn(
                    "not put on the search list of 'security': " + Failure.local(failure).explanation.message)
            }
            if made.isFirstOfDevice { session.tell(DeviceMade(device: made.device)) }
            session.noteDone("keychain \(quoted(keychain)) made")
        case .archivedPasscode:
            session.note("its passcode is the one that the archived keychain had when the archive was made")
        case .staysLocked(let refusal):
            session.note("it is locked, and nothing can stay unlocked between commands: \(refusal.reason)")
        case .notUnlocked(let error):
            session.warn("created, but not unlocked: \(session.failure(of: error).explanation.message)")
        }
    }
}

extension DeviceMade: ToldEvent {
    package func tell(in session: Session) {
        session.note("this device is now \(device); keep a copy of its key: 'kcbackup device export -o FILE.age'")
    }
}

extension StateEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .kept: session.keptState = true
        case .warning(.notRemoved(let error)):
            session.warn("a kept state could not be removed: \(Failure(error).explanation.message)")
        case .warning(.kept(let states)):
            session.warn("a state that holds the secret without its passcode is left: \(states.words)")
        case .warning(.lostRecord(let path)):
            session.warn(
                "the record of a restore that was broken off is not as this device wrote it, and is not used: "
                    + quoted(path))
        }
    }
}

extension KeyringEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .desktopAsks(let collections):
            session.note(
                "the desktop asks for the password of \(collections.map { quoted($0) }.joined(separator: ", "))")
        case .ofSession(let count):
            session.note("left out: \(counted(count, "item")) that end with the session of the desktop")
        case .unreadable(let unreadable, let use):
            let told = unreadable.map { $0.told(use == .archiving ? .ofArchive : .ofList) }
            for entry in told where entry.name == nil { session.warn(entry.what) }
            let items = told.compactMap { entry in entry.name.map { (said: Remark(entry.what), name: $0) } }
            session.warn(each: items.map(\.name)) { items[$0].said }
        }
    }
}

extension HomeEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .taken(let holdings): HomeText(holdings, session).tellContents()
        case .unread(let holdings): HomeText(holdings, session).warnOfUnread()
        case .acceptedInVain(let place, let isUnread):
            let option = "'\(OptionName.acceptMissing.spelling)'"
            session.note(
                isUnread
                    ? "\(quoted(place.shown)) cannot be read, and \(option) is only for what is left out by a rule"
                    : "\(quoted(place.shown)) is not missing, so \(option) is not needed for it")
        }
    }
}

extension ForeignEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .read(let reading, let path, let use):
            ImportText(
                path: path, reading: reading, use: use == .archiving ? .taking : .source, session: session
            ).noteContents()
        case .exposed(let path):
            session.warn(
                "\(quoted(path)) can be read by others, and holds secrets; if they are real, run 'chmod 600 "
                    + "\(shellWord(path))'")
        case .notSearched(let gap):
            session.note("the desktop keyring \(gap.words): a key in it may not be found")
        }
    }
}

extension KeyFileEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .passphraseUnneeded(let path, let field):
            session.note("\(quoted(path)) is not encrypted, so '\(field.option.spelling)' is not read")
        case .keyPassedOver(let path, let line, let kind):
            session.warn(
                "line \(line) of \(quoted(path)) is passed over: nothing can be encrypted to a key of type \(kind)")
        }
    }
}

extension ArchiveKeyEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .opensHereAlone:
            session.warn(
                "the archive opens on this device alone, whose keys of files are its only ones; a passphrase, another "
                    + "recipient or 'kcbackup recovery make' gives it a second key")
        case .needsPlugin:
            session.note(
                "only a plugin opens the archive, with the token or the machine that has its key; a passphrase or "
                    + "'kcbackup recovery make' gives it a second key")
        case .isPostQuantum:
            session.note(
                "without kcbackup, age 1.3 or newer is needed to open the archive: its keys are post-quantum")
        }
    }
}

extension StandardStoreEvent: ToldEvent {
    package func tell(in session: Session) {
        let option = OptionName.keychain.spelling
        switch self {
        case .desktopForLack:
            session.note(
                "there is no kcbackup keychain here: this backs up the desktop keyring "
                    + "(\(option) \(DesktopKeyring.all.name))")
        case .chosen(let store):
            session.note(
                "from now on, commands without '\(option)' use \(storeWords(store.store.name)): 'kcbackup keychain "
                    + "default' shows and changes it")
        }
    }
}

extension BackupEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .bound(let items): session.note(each: wordsApart(items)) { _ in Remark("only on this device") }
        case .couldBeLost(let keychain): session.warn(EncryptedArchives.warning(keychain))
        case .notLookedAt(let error): session.warn(session.failure(of: error).explanation.message)
        case .noKeyring: session.warn("no desktop keyring runs here, and none is backed up")
        case .unlisted(let count, let folder):
            session.warn(
                "\(counted(count, "archive")) in \(quoted(folder)) \(count == 1 ? "is" : "are") not in its catalogue, and "
                    + "nothing is compared with them; 'kcbackup list \(OptionName.rebuild.spelling)' enters them")
        case .enteredLater(let error):
            session.warn(
                "the archive is saved, and the next run enters it into the catalogue: "
                    + session.failure(of: error).explanation.message)
        }
    }
}

extension ArchiveEvent: ToldEvent {
    package func tell(in session: Session) {
        func warn(of names: [String], _ reason: String) {
            guard let first = names.first else { return }
            session.warn(quoted(first) + (names.count == 1 ? "" : " and \(names.count - 1) more") + ": " + reason)
        }
        switch self {
        case .newest(let path):
            session.subject.file = path
            if !session.style.isQuiet { session.message("the newest archive: \(displayed(path))\n") }
        case .passedOver(let names):
            warn(of: names, "passed over, since no device that is known here is in the name")
        case .later(let names):
            warn(
                of: names,
                "named for a time that is to come, as by a clock that was fast, and not taken for the newest")
        case .doubtful(let error): session.warn(session.failure(of: error).explanation.message)
        case .keyUnneeded: session.warn("the archive is unencrypted and needs no key")
        case .identitiesUnused: session.warn("the passphrase opens the archive: no identity is used")
        case .passcodeUnneeded:
            session.warn(
                "no passcode opens this archive here; '\(OptionName.archivePasscode.spelling)' is not used")
        case .noKeysOfKeychain(let error):
            session.note("no key is taken from the keychain: \(session.failure(of: error).explanation.message)")
        }
    }
}

extension VerifyEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .listedAlike(let count):
            session.note("\(counted(count, "archive")) by the hashes that the remote lists")
        case .broken(let report):
            session.warn(each: report.broken.map(\.words)) { _ in Remark("damaged before the archive was made") }
        case .drilled(let drill):
            var list = ChangeList(isDryRun: false, in: session)
            list.add(staying: drill.stayingBehind)
            session.warn(each: drill.failing.map(\.item.words)) {
                Remark("not restored", because: drill.failing[$0].problem.words)
            }
            session.warn(each: drill.differences.map(\.item.words)) {
                Remark("restored differently", because: drill.differences[$0].difference.words)
            }
        case .notRecorded(let error):
            session.warn("what was found is not noted: \(session.failure(of: error).explanation.message)")
        }
    }
}

extension RekeyEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .rekeyed(let path, let count):
            // A run that ends early says how many archives have the new keys.
            session.done = "\(counted(count, "archive")) rekeyed"
            session.note("rekeyed  \(displayed(path))")
        case .hasKeys(let path): session.note("has these keys already  \(displayed(path))")
        case .failed(let path, let error, let mayBeDone):
            let hint =
                "if an earlier run was ended half-way, it may have the new keys already: give the old and the new "
                + "ones, '-i OLD -i NEW', or after an old passphrase once more the new one"
            session.message(
                session.failure(of: InputFailure(path, error)).explanation.adding(mayBeDone ? [hint] : []).lines)
        }
    }
}

extension JobRunEvent: ToldEvent {
    package func tell(in session: Session) {
        switch self {
        case .notCounted(let name, let reason):
            session.warn("\(quoted(name)) is not counted, and stays: \(reason.words)")
        }
    }
}
