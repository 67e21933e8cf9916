package import KCAsking
internal import KCBackupTasks
package import KCByteStreams
package import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
package import KCKeychainModel
internal import KCRemotes
internal import KCReportText
package import KCStoreTasks

/// A command line that parses but is invalid.
///
/// A message that is needed once is written where it is thrown; those here have several places or several forms.
package struct UsageProblem: Error, Hashable, Sendable {
    /// The explanation for the user.
    package let explanation: Explanation

    package init(_ message: String, hint hints: String...) {
        explanation = Explanation(.usage, message, hints: hints)
    }

    private init(_ message: String, hints: [String]) {
        explanation = Explanation(.usage, message, hints: hints)
    }
}

extension UsageProblem {
    /// The option needs a nonempty value.
    package static func empty(_ option: OptionName) -> UsageProblem {
        UsageProblem("the value of '\(option.spelling)' is empty")
    }

    /// The two options exclude each other.
    package static func together(_ one: OptionName, _ other: OptionName) -> UsageProblem {
        UsageProblem("'\(one.spelling)' and '\(other.spelling)' exclude each other")
    }

    /// The first option requires the second.
    package static func needs(_ option: OptionName, _ other: OptionName) -> UsageProblem {
        UsageProblem("'\(option.spelling)' needs '\(other.spelling)' as well")
    }

    /// The option proves who takes a key out of the TPM, where it is not.
    package static func onlyForChip(_ option: OptionName) -> UsageProblem {
        UsageProblem("'\(option.spelling)' is for a key that the TPM holds, and a file holds this one")
    }

    /// The option is about a keychain, and this class of files is opened by the device alone.
    package static func deviceAlone(_ option: OptionName) -> UsageProblem {
        UsageProblem("'\(option.spelling)' is for classes of a keychain, and the device alone opens the class 'none'")
    }

    /// The purpose for which keychains are opened with a passcode.
    package enum PasscodeUse {
        case files, backup, keyring, restore, move

        /// The ways out where several keychains have a passcode each, as hints.
        package var ways: [String] {
            switch self {
            case .files:
                [
                    "say of which with '\(OptionName.keychain.spelling) NAME', and open the others with "
                        + "'kcbackup keychain unlock NAME'",
                    "or decrypt the files of each keychain by themselves",
                ]
            case .backup:
                [
                    "back up each by itself, with '\(OptionName.keychain.spelling) NAME' and its own passcode",
                    "or open all with escrow keys: 'kcbackup keychain escrow enable NAME \(OptionName.output.spelling) FILE' "
                        + "makes one, and '\(OptionName.escrow.spelling) FILE' takes a file that has those of all",
                ]
            case .keyring:
                [
                    "or back it up by itself, with '\(OptionName.keychain.spelling) secret-service:' and "
                        + "'\(OptionName.passcode.spelling) SOURCE'"
                ]
            case .restore: ["restore the archive of each by itself, with its own passcode"]
            case .move: ["on a terminal, each is asked for"]
            }
        }
    }

    /// A passcode was given for several keychains, each of which has its own.
    package static func passcodeOfOne(of keychains: [String], for use: PasscodeUse) -> UsageProblem {
        let names = keychains.map { quoted($0) }.joined(separator: ", ")
        let option = OptionName.passcode.spelling
        let each = "keychains \(names) have a passcode each, and '\(option)' gives that of one"
        return switch use {
        case .files: UsageProblem("the files are of keychains \(names), and a passcode is of one", hints: use.ways)
        case .backup, .keyring: UsageProblem(each, hints: use.ways)
        case .restore:
            UsageProblem(
                each,
                hints: use.ways + [
                    "or leave out '\(option)', and open each before with 'kcbackup keychain unlock NAME'"
                ])
        case .move: UsageProblem(each, hints: use.ways.map { "leave out '\(option)': \($0)" })
        }
    }

    /// The value of the option has the wrong syntax; the value itself is not repeated in the message.
    package static func malformed(_ option: OptionName, form: String) -> UsageProblem {
        UsageProblem("the value of '\(option.spelling)' is not \(form)")
    }

    /// The option needs a user at the terminal.
    package static func needsTerminal(_ option: OptionName) -> UsageProblem {
        UsageProblem("'\(option.spelling)' needs a terminal")
    }

    /// The option is for folders here, and this is one of a remote.
    package static func notOfRemote(_ option: OptionName) -> UsageProblem {
        UsageProblem("'\(option.spelling)' is for folders on this machine")
    }

    /// The option does not apply to the desktop keyring.
    package static func notOfDesktop(_ option: OptionName) -> UsageProblem {
        UsageProblem(
            "'\(option.spelling)' is for kcbackup keychains, and this is the desktop keyring",
            hint: "leave out '\(option.spelling)'")
    }

    /// The option applies only to the desktop keyring.
    package static func needsDesktop(_ option: OptionName) -> UsageProblem {
        UsageProblem(
            "'\(option.spelling)' is for the desktop keyring",
            hint: "leave out '\(option.spelling)', or name the keyring, 'secret-service:'")
    }

    /// The option means nothing for the files of the home.
    package static func notOfHome(_ option: OptionName) -> UsageProblem {
        UsageProblem(
            "'\(option.spelling)' has no meaning for a store of files",
            hint: "leave out '\(option.spelling)'")
    }

    /// The option is about the files of a home, but something else is named.
    package static func needsHome(_ option: OptionName) -> UsageProblem {
        UsageProblem(
            "'\(option.spelling)' is for the files of your home",
            hint: "'\(OptionName.keychain.spelling) home:' names them, and '\(OptionName.home.spelling)' has them too")
    }

    /// The option opens another program's file, but none is named.
    package static func needsFile(_ option: OptionName) -> UsageProblem {
        UsageProblem(
            "'\(option.spelling)' is for a file of another program, and none is named",
            hint: "name it with '\(OptionName.keychain.spelling) file:PATH'")
    }

    /// The option is for encrypted files, but the file opens without it.
    package static func opensNothing(_ option: OptionName, path: String) -> UsageProblem {
        UsageProblem(
            "\(quoted(path)) opens without '\(option.spelling)'",
            hint: "is it the right file? If so, leave out '\(option.spelling)'")
    }

    /// The option does not apply to this export format.
    package static func notOfFormat(_ option: OptionName, _ format: String) -> UsageProblem {
        UsageProblem("'\(option.spelling)' has no meaning for '\(OptionName.to.spelling) \(displayed(format))'")
    }

    /// A job cannot have the option, or a secret from a source that needs a user.
    package static func notUnattended(_ option: OptionName) -> UsageProblem {
        [.change, .acceptShrink].contains(option)
            ? UsageProblem(
                "'\(option.spelling)' is for runs by hand, not for a job",
                hint: "run 'kcbackup create' or 'kcbackup run' with it once, by hand")
            : UsageProblem(
                "'\(option.spelling)' of this kind is for runs by hand, not for a job",
                hint: "a secret can come from 'file:PATH', 'cmd:COMMAND' or 'cred:NAME'")
    }

    /// A state was named where all are listed.
    package static var undoOfItems: UsageProblem {
        UsageProblem(
            "'\(OptionName.list.spelling)' takes no conditions: a state is brought back as a whole",
            hint: "'kcbackup undo \(OptionName.list.spelling)' shows the states; 'kcbackup item find "
                + "\(OptionName.keychain.spelling) FILE' shows an item of one")
    }
}

extension UsageProblem {
    /// A file of items is not a keychain.
    package static let notAKeychain = UsageProblem(
        "'file:…' names a file of items, not a keychain",
        hint: "'kcbackup import' adds its items to a keychain",
        "'kcbackup create \(OptionName.keychain.spelling) file:…' makes an archive of it")

    /// The files of the home are no items that can be changed.
    package static func areFiles(_ root: HomeRoot) -> UsageProblem {
        UsageProblem(
            "'\(root.storeName)' names \(root.words), which are changed as files",
            hint: "'create', 'restore', 'undo', 'diff', 'item list' and 'item find' take it")
    }

    /// The desktop keyring is not a keychain.
    package static let desktopKeyring = UsageProblem(
        "'secret-service:' names the desktop keyring, which this command does not support",
        hint: "'create', 'restore', 'undo', 'import', 'export', 'diff', 'inspect' and the commands of 'item' take it")

    /// Only whole stores can be used where none is named.
    package static func misnamed(_ name: String, _ meant: MeantStore) -> UsageProblem {
        UsageProblem("\(quoted(name)) cannot be the name of a keychain", hint: meant.words)
    }

    package static let notAStandardStore = UsageProblem(
        "the default is a keychain, or the whole desktop keyring",
        hint: "'kcbackup keychain default NAME', or '… default \(DesktopKeyring.all.name)'")

    /// Nothing says whether the default keychain or the desktop keyring is meant.
    package static func twoStores(keychain: String, _ doubt: StoreDoubt) -> UsageProblem {
        UsageProblem(
            doubt.words(keychain: keychain) + "; name one of them",
            hint: "'\(OptionName.keychain.spelling) \(DesktopKeyring.all.name)' is the desktop keyring, "
                + "'\(OptionName.keychain.spelling) \(shellWord(keychain))' the keychain",
            "'kcbackup keychain default \(DesktopKeyring.all.name)' or '… default \(shellWord(keychain))' chooses one "
                + "for later commands")
    }

    /// An attribute is given twice.
    package static func attributeTwice(_ code: AttributeCode) -> UsageProblem {
        UsageProblem("the attribute '\(code.word)' is given twice")
    }

    /// No condition selects the items.
    package static let noCondition = UsageProblem(
        "no items are selected",
        hint: "name them with '\(OptionName.service.spelling)', '\(OptionName.account.spelling)', "
            + "'\(OptionName.class.spelling)', '\(OptionName.uuid.spelling)' and the like")

    /// Several items match, but only one secret can be printed.
    package static func severalSecrets(_ count: Int, ofEveryCollection: Bool) -> UsageProblem {
        let message = "\(count) items match, and only a single secret can be written as plain text"
        let hint = "add conditions, or '\(OptionName.json.spelling)' for all of them"
        return ofEveryCollection
            ? UsageProblem(
                message, hint: hint,
                "'\(OptionName.keychain.spelling) \(DesktopKeyring.all.name)LABEL' names one collection")
            : UsageProblem(message, hint: hint)
    }

    /// The value is not a device ID.
    package static let deviceID = UsageProblem("that is not a device ID", hint: formOfDeviceID)

    /// The value is neither a device ID nor an archive, of which one is needed.
    package static let deviceOrArchive = UsageProblem(
        "that is not a device ID", hint: formOfDeviceID,
        "'kcbackup device trust' takes an archive of the device as well")

    private static let formOfDeviceID =
        "a device ID looks like 'KC-ABCD-EFGH-IJKL-MNOP-QRST'; 'kcbackup device show' prints this one's"

    /// An encrypted archive needs a key that restores it.
    ///
    /// - Parameter passphrase: the option for the passphrase of the new archive.
    package static func noRestoreKey(_ passphrase: OptionName = .passphrase) -> UsageProblem {
        UsageProblem(
            "no key would be able to restore this archive",
            hint: "add '\(OptionName.recipient.spelling) age1…' or '\(passphrase.spelling) SOURCE'")
    }

    /// The name of the archive is empty.
    package static let emptyArchive = UsageProblem("the name of the archive is empty")

    /// A name is that of a file or folder here, and that of one of a remote.
    package static func ambiguousPlace(_ given: String) -> UsageProblem {
        UsageProblem(
            "\(quoted(given)) is a file or folder here, and may be one of a remote",
            hint: "what is here is \(shellWord("./" + given))", "for the remote, run it in another folder")
    }

    /// The name of a keychain has a prefix, which makes it that of a remote.
    package static func keychainPrefix(_ given: String, keychain: String) -> UsageProblem {
        let name = keychain.isEmpty ? "NAME" : shellWord(keychain)
        return UsageProblem(
            "\(quoted(given)) is no archive, and the names of keychains have no prefix",
            hint: "'kcbackup item list \(OptionName.keychain.spelling) \(name)' lists the items of a keychain",
            "'kcbackup create \(OptionName.keychain.spelling) \(name)' backs it up")
    }

    /// The name of a file is empty.
    package static let emptyFile = UsageProblem("the name of the file is empty")

    /// An archive is named, and a folder in which archives get names of their own.
    package static func fileAndFolder(_ file: String, _ folder: String) -> UsageProblem {
        let to = OptionName.to.spelling
        let isBelow = RemoteLocation(folder) == nil && !file.exact.contains("/")
        let path = folder.exact.hasSuffix("/") ? folder + file : "\(folder)/\(file)"
        return UsageProblem(
            "\(quoted(file)) names the archive, and '\(to)' gives it a name of its own in a folder",
            hint: "leave out \(quoted(file)), as in 'kcbackup create \(to) \(shellWord(folder))'",
            isBelow
                ? "'kcbackup create \(shellWord(path))' gives it this name there"
                : "'kcbackup create \(shellWord(file))' makes this file alone")
    }

    /// A pipe is named twice.
    package static func readTwice(_ path: String) -> UsageProblem {
        UsageProblem("\(quoted(path)) is given twice, but can be read only once")
    }

    package static let recipientForBoth = UsageProblem(
        "a public key is given as '\(OptionName.inspectRecipient.spelling)' and as one that restores",
        hint: "a key that restores lists the items as well: leave it out of "
            + "'\(OptionName.inspectRecipient.spelling)'")

    /// An option of keychains is given for a file of items.
    package static func notOfFile(_ option: OptionName) -> UsageProblem {
        UsageProblem(
            "'\(option.spelling)' needs a keychain, and 'file:…' names a file of items",
            hint: "leave out '\(option.spelling)', or import the file first: 'kcbackup import'")
    }

    /// A file is named where a folder is needed.
    package static func fileForFolder(_ path: String) -> UsageProblem {
        UsageProblem(
            "\(quoted(path)) is a file, and a folder of backups is needed",
            hint: "'kcbackup inspect \(shellWord(path))' shows an archive")
    }

    /// `diff` needs exactly one thing to compare the archive with.
    package static let comparesOne = UsageProblem(
        "name one thing to compare with: a second archive or file, or a keychain",
        hint: "name the second one, or the keychain with '\(OptionName.keychain.spelling) NAME'")

    /// A job needs a backup folder.
    package static let needsFolder = UsageProblem(
        "no folder is given for the backups", hint: "use '\(OptionName.to.spelling) FOLDER'")

    /// No setting is given.
    package static func noSetting(use: String) -> UsageProblem {
        UsageProblem("no setting is given to change", hint: "use \(use)")
    }

    /// A path or name cannot be part of a systemd unit, or of a line of a crontab.
    package static func unwritable(_ failure: Quoted.Failure, isCrontab: Bool) -> UsageProblem {
        let place = isCrontab ? "a line of a crontab" : "a systemd unit"
        let hint = "name it differently, or make a symbolic link to it with another name and use that"
        return switch failure {
        case .controlCharacter(let text):
            UsageProblem("\(quoted(text)) has a control character, which \(place) cannot have", hint: hint)
        case .backslash(let text):
            UsageProblem("\(quoted(text)) has a backslash, which \(place) cannot have", hint: hint)
        }
    }
}
