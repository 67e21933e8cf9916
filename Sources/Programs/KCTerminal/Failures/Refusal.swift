internal import KCAsking
internal import KCBackupCatalogue
package import KCBackupTasks
internal import KCByteStreams
package import KCDeviceIdentity
package import KCItemSources
internal import KCItemStores
package import KCKeychainModel
internal import KCKeychainStore
internal import KCRemotes
internal import KCReportText
package import KCSecretService
package import KCStoreTasks

/// A rule of this program, or an answer from the user, that ends a run.
///
/// A message that is needed once is written where it is thrown; those here have several places or several forms.
package struct Refusal: Error, Hashable, Sendable {
    /// The explanation for the user.
    package let explanation: Explanation

    package init(_ status: ExitStatus, _ message: String, hint hints: String...) {
        explanation = Explanation(status, message, hints: hints)
    }

    package init(_ status: ExitStatus, _ message: String, remedies: [Remedy]) {
        explanation = Explanation(status, message, remedies: remedies)
    }

    package init(_ explanation: Explanation) {
        self.explanation = explanation
    }
}

extension Refusal {
    /// Something was refused for a reason that is explained, as why the last run of a job did not end well.
    package static func explained(_ explanation: Explanation) -> Refusal { Refusal(explanation) }

    /// The archive is of a desktop keyring, was restored without naming a place, and no keyring can be reached.
    package static func noKeyringForArchive(_ failure: SecretServiceFailure) -> Refusal {
        Refusal(
            explainSecretService(failure).adding([
                "'\(OptionName.keychain.spelling) NAME' restores into a keychain of kcbackup"
            ]))
    }

    /// The keychain is missing, and something is left that brings it back.
    package static func noKeychain(_ gone: GoneKeychain) -> Refusal {
        Refusal(
            Explanation(.notFound, "there is no \(storeWords(gone.name))", hints: gone.ways).adding([
                "'kcbackup keychain create\(unquotedOperand(gone.name))' makes a new one, without its items"
            ]))
    }

    /// The file of a keychain went without a `keychain delete`.
    package static func keychainGone(_ gone: GoneKeychain) -> Refusal {
        Refusal(
            Explanation(
                .notFound,
                "\(storeWords(gone.name)) has lost its file; \(counted(gone.states, "state")) of it from before changes "
                    + (gone.states == 1 ? "is kept" : "are kept"),
                hints: gone.ways
            ).adding([
                "if it was removed on purpose, bring it back, and remove it with 'kcbackup keychain delete"
                    + "\(unquotedOperand(gone.name))'"
            ]))
    }

    /// The question needs an answer, but there is no terminal; the option answers it.
    package static func unattended(question: String, _ option: OptionName) -> Refusal {
        Refusal(
            .refused, "there is no terminal to ask on: \(question)",
            hint: "add '\(option.spelling)\(option == .confirm ? " NAME" : "")' if that is what you want")
    }

    /// The answer was no.
    package static let declined = Refusal(.refused, "not confirmed; nothing was changed")

    /// The typed name is not the name of the keychain.
    package static func otherName(keychain: String) -> Refusal {
        Refusal(
            .refused, "that is not the name of the keychain; nothing was deleted",
            hint: "type \(quoted(keychain)), or give it with '\(OptionName.confirm.spelling)'")
    }

    /// This many items were selected, but none of them can be exported; an archive carries some of them elsewhere.
    package static func nothingLeaves(_ count: Int, archiveCarries: Bool) -> Refusal {
        Refusal(
            Explanation(
                .refused,
                (count == 1 ? "the item cannot be exported" : "none of the \(count) items can be exported")
                    + ", so no file was made"
            ).adding(archiveCarries ? ["an archive carries more to another machine: 'kcbackup create'"] : []))
    }

    /// A passcode is needed, and no user is present.
    ///
    /// - Parameter job: the job that the run is for, if there is one.
    package static func passcodeNeeded(_ failure: PasscodeNeeded, job: String?) -> Refusal {
        if let job { return jobWithoutPasscode(job: job, failure) }
        let name = failure.keychain
        let gives = "where SOURCE is \(SecretSource.forms)"
        guard failure.need != .itemsAsk else {
            return Refusal(
                .locked,
                "keychain \(quoted(name)) has items that ask for the passcode each time, and there is no terminal to ask "
                    + "for it on",
                remedies: [.passcode("'\(OptionName.passcode.spelling) SOURCE' gives it, \(gives)")])
        }
        let unlock = Remedy("'kcbackup keychain unlock \(shellWord(name))' opens it for later commands")
        let give = Remedy.passcode("'\(OptionName.passcode.spelling) SOURCE' opens it for this one, \(gives)")
        return Refusal(
            .locked, "keychain \(quoted(name)) is locked, and there is no terminal to ask for its passcode on",
            remedies: failure.canBeGiven ? [unlock, give] : [unlock])
    }

    /// The folder of backups is where kcbackup keeps keychains and keys.
    package static func insideOfData(_ path: String) -> Refusal {
        Refusal(
            .refused, "\(quoted(path)) is where kcbackup keeps keychains and keys",
            hint: "choose another folder, preferably on another disk, so that no single failure takes both")
    }

    /// The clock has a date that an archive cannot tell.
    package static func clock(_ now: Timestamp) -> Refusal {
        Refusal(
            .refused, "the clock says \(LocalCalendar().day(now)), and an archive can hold dates from 1970 to 2241",
            hint: "set the clock, and try again")
    }

    /// The keychain has a passcode, which the job was not given.
    package static func jobWithoutPasscode(job: String, _ failure: PasscodeNeeded) -> Refusal {
        let need =
            switch failure.need {
            case .locked: "is locked, and the job has no passcode for it"
            case .lockable: "has a passcode, and the job has none: it fails while the keychain is locked"
            case .itemsAsk: "has items that ask for the passcode each time, and the job has none"
            }
        return Refusal(
            .locked, "keychain \(quoted(failure.keychain)) \(need)",
            remedies: [
                .passcode(
                    "'kcbackup schedule edit \(shellWord(job)) \(OptionName.passcode.spelling) file:PATH', or "
                        + "'\(OptionName.escrow.spelling) FILE' with its escrow key")
            ])
    }

    /// The file of a key exists, and must not be removed lightly.
    package static func keyFileExists(_ path: String) -> Refusal {
        Refusal(
            .exists, "\(quoted(path)) exists already",
            hint: "choose another name: if that file is a key, nothing else may open what was encrypted to it")
    }

    /// The keychain has an item with the same unique key; the options select it, if any do.
    package static func itemExists(keychain: String, selection: String?) -> Refusal {
        Refusal(
            .exists, "\(storeWords(keychain)) has an item with the same unique key",
            hint: selection.map { "'kcbackup item find \($0)' shows it, and 'kcbackup item update \($0)' changes it" }
                ?? sameKeyHint(keychain))
    }

    /// The archive names a keychain that does not exist, and there is no terminal to ask the user.
    package static func noKeychainNamed(_ keychain: String, needsPasscode: Bool) -> Refusal {
        let option = "\(OptionName.keychain.spelling) \(shellWord(keychain))"
        return Refusal(
            .refused, "the archive was made from keychain \(quoted(keychain)), which does not exist here",
            remedies: [
                needsPasscode
                    ? .passcode(
                        "'\(option) \(OptionName.passcode.spelling) SOURCE' makes it and restores into it, where SOURCE of "
                            + "its passcode is \(SecretSource.forms)")
                    : Remedy("'\(option)' makes it and restores into it")
            ])
    }

    /// The keychain needs a key that another one has replaced.
    package static func retiredKey(keychain: String, device: DeviceID, path: String) -> Refusal {
        Refusal(
            .refused, "keychain \(quoted(keychain)) belongs to device \(device), whose key was replaced",
            hint: "its key is kept: 'kcbackup device import \(shellWord(path))' makes it the key of this device again, "
                + "and moves the keychains that were made since to it",
            "'kcbackup restore ARCHIVE \(OptionName.keychain.spelling) NAME' restores a backup into a new one",
            "'kcbackup keychain delete' deletes this one, after which its name can be used again")
    }

    /// An unencrypted archive needs a key that another one has replaced.
    package static func retiredArchiveKey(device: DeviceID, path: String) -> Refusal {
        Refusal(
            .refused,
            "the archive is unencrypted and restores only with the key of device \(device), which was replaced; nothing "
                + "was written",
            hint: "its key is kept: 'kcbackup device import \(shellWord(path))' makes it the key of this device again, "
                + "and moves the keychains that were made since to it")
    }

    /// There is no keychain to back up, but perhaps a desktop keyring.
    package static func noKeychains(isDesktopRunning: Bool) -> Refusal {
        let option = "'\(OptionName.keychain.spelling) \(DesktopKeyring.all.name)'"
        return Refusal(
            Explanation(
                .notFound, "there is no keychain to back up", hint: "'kcbackup keychain create' makes the first one"
            ).adding(
                isDesktopRunning
                    ? ["the desktop keyring is backed up with \(option) instead of '\(OptionName.all.spelling)'"] : []))
    }

    /// There is no escrow key to revoke.
    package static func noEscrowRecord(keychain: String) -> Refusal {
        Refusal(
            .notFound, "keychain \(quoted(keychain)) has no escrow record, so there is no escrow key to revoke",
            hint: "'kcbackup keychain info' shows the public key of the one that a keychain has")
    }

    /// There is no archive in a folder from which a home is to be restored.
    package static func noArchives(in folder: String) -> Refusal {
        Refusal(
            .notFound, "there is no archive in \(quoted(folder))",
            hint: "'kcbackup create \(OptionName.home.spelling) \(OptionName.to.spelling) FOLDER' makes them")
    }

    /// The archives of a store would have the name of those of another one; a keychain is one of the two.
    package static func namesake(of store: String, keychain: String) -> Refusal {
        Refusal(
            .refused, "its archives would have the name of those of \(storeWords(store))",
            hint: "'kcbackup restore ARCHIVE \(OptionName.keychain.spelling) NAME' restores a backup of keychain "
                + "\(quoted(keychain)) into one with another name; then 'kcbackup keychain delete \(shellWord(keychain))'"
        )
    }

    /// A keychain without a passcode cannot be locked.
    package static func nothingToLock(keychain: String) -> Refusal {
        Refusal(
            .refused, "keychain \(quoted(keychain)) has no passcode, and cannot be locked",
            hint: "set one with 'kcbackup keychain set-passcode'")
    }

    /// An unencrypted archive would be copied to where others can read it.
    package static func readableCopy(path: String) -> Refusal {
        Refusal(
            .refused, "\(quoted(path)) is unencrypted: anyone who can read the remote can read the names in it",
            hint: "copy an encrypted archive, or add '\(OptionName.metadataReadable.spelling)'")
    }

    /// Whoever took over this machine could do what it can do.
    package static let pruningRemote = Refusal(
        .refused,
        "copies on a remote are not removed with the credentials of this machine, which could then destroy them",
        hint: "a bucket removes old ones itself: 'man kcbackup-prune' shows a rule for that, and what else there is")

    /// The name of a file in a folder of archives is not UTF-8.
    package static func unreadableName(path: String) -> Refusal {
        Refusal(
            .incomplete, "\(quoted(path)) is left out: its name is not UTF-8",
            hint: "give the file another name with 'mv'")
    }

    /// A file without a byte has the name of an archive.
    package static func emptyArchive(path: String) -> Refusal {
        Refusal(
            .damaged, "\(quotedInput(path)) is empty",
            hint: "what was to write it has failed: copy it again, or use another archive")
    }

    /// A file of another program is given as an archive.
    package static func foreignFile(path: String, title: String) -> Refusal {
        Refusal(
            .damaged, "\(quoted(path)) is not a kcbackup archive, but \(withArticle(title))",
            hint: "'kcbackup import \(shellWord(path))' imports it")
    }

    /// The archive with which a copy is compared cannot be read.
    package static func originalUnreadable(_ path: String, _ message: String, copy: String) -> Refusal {
        Refusal(
            .damaged, "\(quoted(path)), with which its copy is compared: \(message)",
            hint: "keep the copy: 'kcbackup verify \(shellWord(copy))' checks it alone")
    }

    /// An unencrypted archive would be made where others can read it.
    package static let readableRemote = Refusal(
        .refused, "anyone who can read the remote can read the names in an unencrypted archive",
        hint: "leave out '\(OptionName.unencrypted.spelling)', or add '\(OptionName.metadataReadable.spelling)'")
}

/// About jobs.
extension Refusal {
    /// A run of the job is still in progress.
    package static func jobRuns(_ job: String) -> Refusal {
        Refusal(
            Explanation(
                .busy, "a run of job \(quoted(job)) has not ended yet",
                hint: "wait until it has ended, and try again"
            ).naming(job: job))
    }

    /// The file of the newest backup is missing.
    package static func newestGone(keychain: String, path: String) -> Refusal {
        Refusal(
            .notFound,
            "the newest backup of \(storeWords(keychain)) in \(quoted(Path.split(path).folder)) is gone: \(quoted(path))",
            hint: "is the disk mounted, and is it the right one?",
            "if it was removed on purpose, 'kcbackup list \(OptionName.rebuild.spelling) "
                + "\(shellWord(Path.split(path).folder))' forgets it")
    }

    /// A file that kcbackup makes is given as an archive, and is none.
    package static func ownFile(path: String, _ file: OwnFile) -> Refusal {
        Refusal(
            .damaged, "\(quoted(path)) is not a kcbackup archive, but \(file.title)",
            hint: file.hint(of: shellWord(path)))
    }
}
