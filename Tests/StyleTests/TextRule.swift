/// The rule that text which meets a machine is handled as bytes.
///
/// A regular expression knows no types, so it forbids the methods of `String` that work on characters, dictionaries and
/// sets with strings as keys, and comparisons of what is called a name, a path, a folder or the like. `text.exact` has
/// the same methods for bytes, and is a key.
enum TextRule {
    /// The floors that the rule applies to: all but the fences, which are in C.
    static let floors: Set = [
        "Base", "Device", "Formats", "Archive", "Keychain", "Importers", "Backup", "Tasks", "Apple", "Programs",
    ]

    /// Files whose text only people read, or that look up only keys from a fixed list, each with the reason.
    static let exempt = [
        "Sources/Base/KCCryptography/Certificates/PrivateKeyReading.swift": "a list of lines in bytes, not a text",
        "Sources/Keychain/KCKeychainStore/Database.swift": "this program's own SQL as keys",
        "Sources/Keychain/KCLocalKeychains/DataFolder.swift": "the environment",
        "Sources/Importers/KCForeignFormats/Libraries/XMLDocument.swift":
            "attributes that are looked up by names in ASCII",
        "Sources/Importers/KCForeignFormats/Libraries/XMLReader.swift":
            "attributes that are looked up by names in ASCII",
        "Sources/Importers/KCForeignFormats/CSV/CSVProduct.swift": "this program's own list of columns in ASCII",
        "Sources/Importers/KCForeignFormats/CSV/PlainColumns.swift": "this program's own list of columns in ASCII",
        "Sources/Importers/KCSecretService/BusValue.swift": "properties that are looked up by names in ASCII",
        "Sources/Importers/KCSecretService/ServiceContents.swift":
            "a label that a person typed, in another Unicode form",
        "Sources/Importers/KCSecretService/SessionBus.swift": "the environment",
        "Sources/Tasks/KCAsking/SecretInput.swift": "the environment",
        "Sources/Backup/KCRemotes/Rclone.swift": "the environment",
        "Sources/Backup/KCRemotes/RemoteOptions.swift": "the environment",
        "Sources/Base/KCConsole/ChildProcess.swift": "the environment",
        "Sources/Base/KCConsole/ChildProgram.swift": "the environment",
        "Sources/Base/KCConsole/ChildDialogue.swift": "the environment",
        "Sources/Formats/KCAgePlugins/PluginPrograms.swift": "the environment",
        "Sources/Base/KCConsole/ProcessEnvironment.swift": "the environment",
        "Sources/Base/KCConsole/ShellCommand.swift": "the environment",
        "Sources/Programs/KCSecurityCommand/Commands/ImportCommand.swift": "names of formats in ASCII",
        "Sources/Programs/KCSecurityCommand/Parsing/CommandTable.swift": "names of commands in ASCII",
        "Sources/Programs/KCSecurityCommand/World.swift": "the environment",
        "Sources/Tasks/KCStoreTasks/GPG.swift": "the environment",
        "Sources/Tasks/KCStoreTasks/QRScanner.swift": "the environment",
        "Sources/Programs/KCReportPages/ReportCounts.swift": "years as keys",
        "Sources/Programs/KCTerminal/Run.swift": "help and messages of the argument parser",
        "Sources/Programs/KCTerminal/Text/HelpText.swift": "help of the argument parser",
        "Sources/Programs/KCReportText/StreamedTable.swift": "names of columns in ASCII",
        "Sources/Programs/KCReportText/Words.swift": "nouns of this program's sentences",
        "Sources/Programs/KCReportText/Wrapping.swift": "lines for people, broken between characters",
        "Sources/Programs/KCReportText/WrappingTerminal.swift": "prompts of this program",
        "Sources/Tasks/KCStoreTasks/Machine.swift": "the environment",
    ]

    /// The files that run a command which the user wrote.
    static let userCommands: Set = [
        "Sources/Tasks/KCAsking/SecretInput.swift", "Sources/Programs/kcbackup/Commands/RunCommand.swift",
    ]

    /// The lines of `file` that break the rule, even if the file is exempt.
    static func places(in file: SourceFile) -> [String] {
        guard let floor = file.floor, floors.contains(floor) else { return [] }
        let code = file.code
        let calls = methods.flatMap { code.places(of: $0) }.filter { place in
            !["exact", "utf8"].contains { code.has("." + $0, before: place) }
        }
        // They would take off a character, which can be more than what was searched for.
        let ends = [".dropFirst(", ".dropLast("].flatMap { code.places(of: $0) }.filter { place in
            var start = place
            while code.isInWord(start - 1) { start -= 1 }
            return start < place && code.has("String(", before: start)
        }
        // The contents of literals are not in the code. A method of ours with this name searches bytes.
        let ours = Set(["\".exact)", "\", in: "].flatMap { code.places(of: ".contains(" + $0) })
        let keys = code.places(of: "[String: ").filter { !code.has("Any]", at: $0 + 9) }
        let types = ["Set<String>", "Dictionary<String,"].flatMap { code.places(of: $0) }
        let comparisons = names.flatMap { name in
            ["==", "!="].flatMap { sign in
                let comparison = ".\(name) \(sign) "
                return code.places(of: comparison).filter { isText(code, $0 + comparison.utf8.count) }
            }
        }
        return file.lines(
            of: calls.filter { !ours.contains($0) } + keys + types.filter { !code.isInWord($0 - 1) } + comparisons
                + ends)
    }

    /// True if what is compared at `place` may be text: neither nil, a literal, a constant nor a case.
    private static func isText(_ code: SearchedText, _ place: Int) -> Bool {
        if code.has("nil", at: place), !code.isInWord(place + 3) { return false }
        return code.isInWord(place) || code.has("$", at: place) || code.has("(", at: place)
    }

    /// The methods of `String` on characters; the bytes have those of the same names.
    private static let methods = [
        ".hasPrefix(", ".hasSuffix(", ".replacing(", ".trimmingCharacters(", ".trimmingPrefix(", ".components(",
        ".split(separator: \"", ".contains(\"", "\".contains($0",
    ]

    /// How text that meets a machine is called.
    private static let names = ["name", "path", "series", "folder", "label", "fileName", "stem", "place"]

    /// The lines of `file` that break the rule.
    static func violations(in file: SourceFile) -> [String] {
        exempt[file.path] == nil ? places(in: file) : []
    }
}
