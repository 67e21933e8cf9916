internal import KCByteStreams
internal import KCFileProtection
internal import KCReportText
package import KCTerminal

extension ProtectionProblem: Explained {
    package var explanation: Explanation {
        switch self {
        case .ownFile(let path):
            Explanation(
                .refused, "\(quoted(path)) is a file of kcbackup, without which nothing that is protected would open",
                hint: "a passcode protects a keychain, and 'kcbackup device seal' the device key")
        case .temporaryName(let path):
            Explanation(
                .refused, "\(quoted(path)) has a name of temporary files, which the next run removes",
                hint: "give it another name")
        case .severalNames(let path, let isEncrypted):
            Explanation(
                .refused,
                "\(quoted(path)) has another name (a hard link), which would keep the \(isEncrypted ? "encrypted" : "clear") "
                    + "contents",
                hint: "remove the other name first: 'find . -samefile \(shellWord(path))' shows it")
        case .inUse(let path):
            Explanation(
                .busy,
                "another program has \(quoted(path)) open for writing, or that cannot be told of a file of somebody else or on another "
                    + "machine", hint: "close it there, and try again; otherwise work on a copy of your own")
        case .changed(let path):
            Explanation(
                .busy, "\(quoted(path)) was changed in the meantime; it is as the other program left it",
                hint: "try again")
        case .changedBesideClear(let path, let clear):
            Explanation(
                .busy,
                "\(quoted(path)) was changed in the meantime, and is as the other program left it; what was in it is in "
                    + "\(quoted(clear)), in the clear",
                hint: "keep the one that is right, and remove the other: 'ls -l \(shellWord(clear)) \(shellWord(path))'"
            )
        case .notRemoved(let failure, let clear):
            explainFile(failure)
                .prefixed("\(quoted(clear)) is there, in the clear, and the encrypted file was not removed: ")
        case .nameTaken(let path):
            Explanation(
                .exists, "\(quoted(path)) exists already, and is the name that the file would get",
                hint: "move it away first: 'mv \(shellWord(path)) OTHER_NAME'")
        case .alreadyProtected(let path):
            Explanation(
                .exists, "\(quoted(path)) is protected already",
                hint: "for another class, 'kcbackup unprotect \(shellWord(path))' first")
        case .encryptedOtherwise(let path, let protection, let keychain):
            Explanation(
                .exists,
                "\(quoted(path)) is encrypted already, with the class '\(protection)', and lacks only its new name",
                hint: "'kcbackup protect \(shellWord(path)) \(OptionName.class.spelling) \(protection)"
                    + (keychain.map { " \(OptionName.keychain.spelling) \(shellWord($0))" } ?? "")
                    + "' gives it that name, with the keys that it has",
                "for other keys, 'kcbackup unprotect \(shellWord(path + FileToProtect.ending))' after that")
        case .notEncrypted(let path): Explanation(.refused, "\(quoted(path)) is not encrypted")
        case .notProtected(let path):
            Explanation(
                .refused, "\(quoted(path)) was not made by 'kcbackup protect', or has not kept its name",
                hint: "'kcbackup protect status \(shellWord(path))' says what it is",
                "other age files are opened by 'age -d' with an identity of 'kcbackup protect identity'")
        case .keyElsewhere(let path):
            Explanation(
                .wrongKey, "no key of this device opens \(quoted(path))",
                hint:
                    "it was protected on another device, with a key of this one that was replaced, or by a keychain that is gone",
                "'kcbackup device import FILE' brings the key of a device back, from what 'kcbackup device export' wrote",
                "a key that '\(OptionName.alsoTo.spelling)' named opens it: 'age -d -i KEY_FILE'")
        }
    }
}
