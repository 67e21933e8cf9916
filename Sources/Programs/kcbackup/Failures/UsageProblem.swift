internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText

/// A command line that parses but is invalid.
enum UsageProblem: Error, Hashable, Sendable {
    /// The option is given twice.
    case repeated(OptionName)
    /// The option needs a nonempty value.
    case empty(OptionName)
    /// The two options exclude each other.
    case together(OptionName, OptionName)
    /// The first option requires the second.
    case needs(OptionName, OptionName)
    /// The value of the option has the wrong syntax; the value itself is not repeated in the message.
    case malformed(OptionName, form: String)
    /// The keychain is given both as an argument and as an option.
    case keychainTwice
    /// The new archive is given both as an argument and as an option.
    case outputTwice
    /// The new archive would have the name of something that can be backed up.
    case outputIsSource(String)
    /// The option does not apply to a file of items.
    case needsKeychain(OptionName)
    /// The option does not apply to the desktop keyring.
    case notOfDesktop(OptionName)
    /// The option applies only to the desktop keyring.
    case needsDesktop(OptionName)
    /// The desktop keyring does not store this attribute, or not without a value.
    case desktopAttribute(String)
    /// A new item of the desktop keyring cannot have this value of the attribute.
    case newDesktopAttribute(String)
    /// The option opens another program's file, but none is named.
    case needsFile(OptionName)
    /// The option applies to archives, but the file is another program's.
    case needsArchive(OptionName)
    /// A file of items is not a keychain.
    case notAKeychain
    /// The desktop keyring is not a keychain.
    case desktopKeyring
    /// An import writes into keychains.
    case importIntoDesktop
    /// An attribute is given twice.
    case attributeTwice(AttributeCode)
    /// The value of `--server` is a URL.
    case serverIsURL
    /// No condition selects the items.
    case noCondition
    /// The columns of a CSV file are named, but not that of the passwords.
    case noPasswordColumn
    /// An update changes nothing.
    case noChange
    /// One made-up secret would be given to this many items.
    case generatedForSeveral(Int)
    /// Several items match, but only one secret can be printed.
    case severalSecrets(Int, ofEveryCollection: Bool)
    /// The item has no secret to print, which differs from an empty one.
    case noSecret
    /// The value is not a device ID.
    case deviceID
    /// An encrypted archive needs a key that restores it.
    case noRestoreKey
    /// The same public key is given for restoring and for inspecting only.
    case recipientInspects
    /// The option does not apply to an unencrypted archive.
    case unencryptedWith(OptionName)
    /// An input that can be read only once is named twice.
    case inputTwice(String)
    /// The option requires a single archive.
    case oneArchive(OptionName)
    /// Items were requested, but `--outside` reads none.
    case outsideItems
    /// The name of the archive is empty.
    case emptyArchive
    /// The option applies to every keychain, but one is named.
    case withArgument(OptionName)
    /// No file is named.
    case noFile
    /// A folder is named where an archive is needed.
    case folderForArchive(String)
    /// A file is named where a folder is needed.
    case fileForFolder(String)
    /// No archive is named.
    case noArchive
    /// States are restored as a whole, but the option selects items.
    case undoOfItems(OptionName)
    /// Undoing restores the archives that were removed last; rules do not apply.
    case undoWithRules
    /// No new key is given for rekeying.
    case noNewKey
    /// `diff` needs exactly one thing to compare the archive with.
    case comparesOne
    /// A job needs a backup folder.
    case needsFolder
    /// The option needs a user at the terminal.
    case notUnattended(OptionName)
    /// The text to search for is empty.
    case emptyQuery
    /// A replacing restore always restores everything, so no items can be selected.
    case replaceWithQuery
    /// No secret is given for a new item.
    case secretNeeded
    /// A new item has nothing to identify it.
    case nameless
    /// No setting is given.
    case noSetting(use: String)
    /// The option does not apply to this export format.
    case notOfFormat(OptionName, String)
    /// An export format is unencrypted, and the user has not confirmed that this is wanted.
    case inTheClear(String)
    /// The option is for encrypted files, but the file opens without it.
    case opensNothing(OptionName, path: String)
    /// The option needs a terminal, but there is none.
    case needsTerminal(OptionName)
    /// A path or name cannot be part of a systemd unit, or of a line of a crontab.
    case unwritable(Quoted.Failure, isCrontab: Bool)
    /// Nothing says whether the default keychain or the desktop keyring is meant.
    case twoStores(keychain: String, StandardStore.Doubt)
    /// The option is for folders here, and this is one of a remote.
    case notOfRemote(OptionName)
    /// Only whole stores can be used where none is named.
    case notAStandardStore
}

/// Explains an invalid command line.
func explainUsage(_ problem: UsageProblem) -> Explanation {
    switch problem {
    case .repeated(let flag): Explanation(.usage, "'\(flag.spelling)' is given twice")
    case .empty(let flag): Explanation(.usage, "the value of '\(flag.spelling)' is empty")
    case .together(let one, let other):
        Explanation(.usage, "'\(one.spelling)' and '\(other.spelling)' exclude each other")
    case .needs(let flag, let other): Explanation(.usage, "'\(flag.spelling)' needs '\(other.spelling)' as well")
    case .malformed(let flag, let form): Explanation(.usage, "the value of '\(flag.spelling)' is not \(form)")
    case .unwritable(let failure, let isCrontab): explainUnwritable(failure, isCrontab: isCrontab)
    case .keychainTwice:
        Explanation(.usage, "the keychain is given twice: as an argument and with '\(OptionName.keychain.spelling)'")
    case .outputTwice:
        Explanation(.usage, "the archive is given twice: as an argument and with '\(OptionName.output.spelling)'")
    case .outputIsSource(let name):
        Explanation(
            .usage, "\(quoted(name)) names what to back up, not the new archive",
            hint: "did you mean '\(OptionName.keychain.spelling) \(shellWord(name))'?",
            "'\(shellWord("./" + name))' is a file of that name")
    case .needsKeychain(let flag):
        Explanation(
            .usage, "'\(flag.spelling)' needs a keychain, and 'file:…' names a file of items",
            hint: "leave out '\(flag.spelling)', or import the file first: 'kcbackup import'")
    case .notOfDesktop(let flag):
        Explanation(
            .usage, "'\(flag.spelling)' is for kcbackup keychains, and this is the desktop keyring",
            hint: "leave out '\(flag.spelling)'")
    case .needsFile(let flag):
        Explanation(
            .usage, "'\(flag.spelling)' is for a file of another program, and none is named",
            hint: "name it with '\(OptionName.keychain.spelling) file:PATH'")
    case .needsArchive(let flag):
        Explanation(
            .usage, "'\(flag.spelling)' is for archives, and this is not one",
            hint: "leave out '\(flag.spelling)'")
    case .notAKeychain:
        Explanation(
            .usage, "'file:…' names a file of items, not a keychain",
            hint: "'kcbackup import' adds its items to a keychain",
            "'kcbackup create \(OptionName.keychain.spelling) file:…' makes an archive of it")
    case .needsDesktop(let flag):
        Explanation(
            .usage, "'\(flag.spelling)' is for the desktop keyring",
            hint: "'secret-service:' names it, in place of a keychain or an archive")
    case .desktopAttribute(let code):
        Explanation(
            .usage, "the item in the desktop keyring does not allow this change of '\(code)'",
            hint: "'label' can always be set, and 'accessible' set or removed; others can be changed only if the item "
                + "has an attribute for them")
    case .newDesktopAttribute(let word):
        Explanation(
            .usage, "an item of the desktop keyring cannot have this value of '\(word)'",
            hint: "leave it out, or add the item to a keychain: '\(OptionName.keychain.spelling) NAME'")
    case .importIntoDesktop:
        Explanation(
            .usage, "'import' writes into keychains, and 'secret-service:' names the desktop keyring",
            hint:
                "'kcbackup create \(OptionName.keychain.spelling) file:FILE \(OptionName.output.spelling) FILE.kcb' and "
                + "'kcbackup restore FILE.kcb \(OptionName.keychain.spelling) secret-service:' take it there"
        )
    case .desktopKeyring:
        Explanation(
            .usage, "'secret-service:' names the desktop keyring, which this command does not support",
            hint: "'create', 'restore', 'undo', 'export', 'diff', 'inspect' and the commands of 'item' take it")
    case .attributeTwice(let code): Explanation(.usage, "the attribute '\(code.word)' is given twice")
    case .serverIsURL:
        Explanation(
            .usage,
            "the value of '\(OptionName.server.spelling)' is a URL, and a server is a name, as in 'example.org'",
            hint: "protocol, port and path are attributes of their own: "
                + "'\(OptionName.attribute.spelling) protocol=htps \(OptionName.attribute.spelling) path=/login'")
    case .noCondition:
        Explanation(
            .usage, "no items are selected",
            hint:
                "name them with '\(OptionName.service.spelling)', '\(OptionName.account.spelling)', '\(OptionName.class.spelling)', "
                + "'\(OptionName.uuid.spelling)' and the like")
    case .noPasswordColumn:
        Explanation(
            .usage, "'\(OptionName.columns.spelling)' names no password", hint: "add 'password=NAME' to the list")
    case .generatedForSeveral(let count):
        Explanation(
            .usage, "\(count) items match, and '\(OptionName.generate.spelling)' makes a secret for one",
            hint: "'kcbackup item list' shows them; more conditions, or '\(OptionName.uuid.spelling)', choose one")
    case .noChange:
        Explanation(
            .usage, "no change is given",
            hint:
                "use '\(OptionName.set.spelling) NAME=VALUE', '\(OptionName.remove.spelling) NAME' or '\(OptionName.secret.spelling) SOURCE'"
        )
    case .severalSecrets(let count, let ofEveryCollection):
        Explanation(
            .usage, "\(count) items match, and only a single secret can be written as plain text",
            hint: "add conditions, or '\(OptionName.json.spelling)' for all of them"
        ).adding(
            ofEveryCollection
                ? ["'\(OptionName.keychain.spelling) \(DesktopKeyring.all.name)LABEL' names one collection"] : [])
    case .noSecret: Explanation(.notFound, "the item has no secret")
    case .deviceID:
        Explanation(
            .usage, "that is not a device ID",
            hint: "a device ID looks like 'KC-ABCD-EFGH-IJKL-MNOP-QRST'; 'kcbackup device show' prints this one's",
            "'kcbackup device trust' takes an archive of the device as well")
    case .noRestoreKey:
        Explanation(
            .usage, "no key would be able to restore this archive",
            hint: "add '\(OptionName.recipient.spelling) age1…' or '\(OptionName.passphrase.spelling) SOURCE'")
    case .recipientInspects:
        Explanation(
            .usage, "a public key is given as '\(OptionName.inspectRecipient.spelling)' and as one that restores",
            hint: "a key that restores lists the items as well: leave it out of "
                + "'\(OptionName.inspectRecipient.spelling)'")
    case .inputTwice(let name): Explanation(.usage, "\(quoted(name)) is given twice, but can be read only once")
    case .oneArchive(let flag): Explanation(.usage, "'\(flag.spelling)' takes a single archive")
    case .outsideItems:
        Explanation(
            .usage, "'\(OptionName.outside.spelling)' shows no items, so there are none to choose from",
            hint: "leave out '\(OptionName.outside.spelling)', or the conditions")
    case .noFile: Explanation(.usage, "the name of the file is empty")
    case .emptyArchive: Explanation(.usage, "the name of the archive is empty")
    case .withArgument(let flag):
        Explanation(.usage, "'\(flag.spelling)' means every keychain, and one is named as well")
    case .folderForArchive(let path):
        Explanation(
            .usage, "\(quoted(path)) is a folder, and an archive is a file",
            hint: "'kcbackup list \(shellWord(path))' shows the archives in it")
    case .fileForFolder(let path):
        Explanation(
            .usage, "\(quoted(path)) is a file, and a folder of backups is needed",
            hint: "'kcbackup inspect \(shellWord(path))' shows an archive")
    case .noArchive:
        Explanation(
            .usage, "no archive is given to restore",
            hint: "name it, or take back the last change with 'kcbackup undo'")
    case .undoOfItems(let flag):
        Explanation(
            .usage, "'\(flag.spelling)' takes no conditions: a state is brought back as a whole",
            hint:
                "'kcbackup undo \(OptionName.list.spelling)' shows the states; 'kcbackup item find \(OptionName.keychain.spelling) FILE' "
                + "shows an item of one")
    case .undoWithRules:
        Explanation(
            .usage, "'\(OptionName.undo.spelling)' brings back what was last removed, and takes no rules")
    case .comparesOne:
        Explanation(
            .usage, "name one thing to compare with: a second archive, or a keychain",
            hint: "name the second archive, or the keychain with '\(OptionName.keychain.spelling) NAME'")
    case .noNewKey:
        Explanation(
            .usage, "no keys are given for the archives",
            hint: "use '\(OptionName.recipient.spelling) age1…' or '\(OptionName.newPassphrase.spelling) SOURCE'")
    case .needsFolder:
        Explanation(.usage, "no folder is given for the backups", hint: "use '\(OptionName.to.spelling) FOLDER'")
    case .notUnattended(let flag) where [.change, .acceptShrink].contains(flag):
        Explanation(
            .usage, "'\(flag.spelling)' is for runs by hand, not for a job",
            hint: "run 'kcbackup create' or 'kcbackup run' with it once, by hand")
    case .notUnattended(let flag):
        Explanation(
            .usage, "'\(flag.spelling)' of this kind is for runs by hand, not for a job",
            hint: "a secret can come from 'file:PATH', 'cmd:COMMAND' or 'cred:NAME'")
    case .emptyQuery: Explanation(.usage, "the text to search for is empty")
    case .replaceWithQuery:
        Explanation(
            .usage,
            "'\(OptionName.replace.spelling)' restores a whole archive, and conditions select some of its items",
            hint: "leave out '\(OptionName.replace.spelling)' to restore only these items")
    case .secretNeeded:
        Explanation(
            .usage, "no secret is given for the item",
            hint: "use '\(OptionName.secret.spelling) SOURCE', '\(OptionName.secretFile.spelling) FILE', "
                + "'\(OptionName.generate.spelling)' or '\(OptionName.noSecret.spelling)'")
    case .nameless:
        Explanation(
            .usage, "the item is given no name",
            hint: "name it with '\(OptionName.service.spelling)', '\(OptionName.server.spelling)', "
                + "'\(OptionName.account.spelling)' or '\(OptionName.label.spelling)'")
    case .noSetting(let use): Explanation(.usage, "no setting is given to change", hint: "use \(use)")
    case .notOfFormat(let flag, let format):
        Explanation(.usage, "'\(flag.spelling)' has no meaning for '\(OptionName.to.spelling) \(displayed(format))'")
    case .inTheClear(let format):
        Explanation(
            .usage, "'\(OptionName.to.spelling) \(displayed(format))' would write every secret in the clear",
            hint: "add '\(OptionName.plaintext.spelling)' if that is what you want",
            "'\(OptionName.to.spelling) kdbx' and '\(OptionName.to.spelling) bitwarden' make files that a password opens"
        )
    case .opensNothing(let flag, let path):
        Explanation(
            .usage, "\(quoted(path)) opens without '\(flag.spelling)'",
            hint: "is it the right file? If so, leave out '\(flag.spelling)'")
    case .needsTerminal(let flag):
        Explanation(.usage, "'\(flag.spelling)' needs a terminal")
    case .twoStores(let keychain, let doubt):
        Explanation(
            .usage, doubt.words(keychain: keychain) + "; name one of them",
            hint: "'\(OptionName.keychain.spelling) \(DesktopKeyring.all.name)' is the desktop keyring, "
                + "'\(OptionName.keychain.spelling) \(shellWord(keychain))' the keychain",
            "'kcbackup keychain default \(DesktopKeyring.all.name)' or '… default \(shellWord(keychain))' chooses one "
                + "for later commands")
    case .notOfRemote(let flag): Explanation(.usage, "'\(flag.spelling)' is for folders on this machine")
    case .notAStandardStore:
        Explanation(
            .usage, "the default is a keychain, or the whole desktop keyring",
            hint: "'kcbackup keychain default NAME', or '… default \(DesktopKeyring.all.name)'")
    case .unencryptedWith(let flag):
        Explanation(
            .usage, "'\(flag.spelling)' has no meaning for an unencrypted archive",
            hint: "leave out '\(OptionName.unencrypted.spelling)' to encrypt it")
    }
}

private func explainUnwritable(_ failure: Quoted.Failure, isCrontab: Bool) -> Explanation {
    let place = isCrontab ? "a line of a crontab" : "a systemd unit"
    let hint = "name it differently, or make a symbolic link to it with another name and use that"
    return switch failure {
    case .controlCharacter(let text):
        Explanation(.usage, "\(quoted(text)) has a control character, which \(place) cannot have", hint: hint)
    case .backslash(let text):
        Explanation(.usage, "\(quoted(text)) has a backslash, which \(place) cannot have", hint: hint)
    }
}
