import Foundation

/// The rule that text which meets a machine is handled as bytes.
///
/// A regular expression knows no types, so it forbids the methods of `String` that work on characters, dictionaries and
/// sets with strings as keys, and comparisons of what is called a name, a path, a folder or the like. `text.exact` has
/// the same methods for bytes, and is a key.
enum TextRule {
    /// The floors that the rule applies to.
    ///
    /// Importers read records of other programs as bytes already; what they take from a record is shown or stored, and
    /// paths and zip members go through the floors below. `Apple` compares attributes as Apple's code does.
    static let floors: Set = ["Base", "Device", "Formats", "Archive", "Keychain", "Backup", "Programs"]

    /// Files whose text only people read, or that look up only keys from a fixed list, each with the reason.
    static let exempt = [
        "Sources/Base/KCCryptography/Certificates/PrivateKeyReading.swift": "a list of lines in bytes, not a text",
        "Sources/Keychain/KCKeychainModel/AttributeCode.swift": "the table of this program's own codes",
        "Sources/Keychain/KCKeychainStore/Database.swift": "this program's own SQL as keys",
        "Sources/Keychain/KCLocalKeychains/DataFolder.swift": "the environment",
        "Sources/Formats/KCXMLDocuments/XMLDocument.swift": "attributes that are looked up by names in ASCII",
        "Sources/Formats/KCXMLDocuments/XMLParser.swift": "attributes that are looked up by names in ASCII",
        "Sources/Programs/KCConsole/ProcessEnvironment.swift": "the environment",
        "Sources/Programs/KCConsole/ShellCommand.swift": "the environment",
        "Sources/Programs/KCSecurityCommand/Commands/ImportCommand.swift": "names of formats in ASCII",
        "Sources/Programs/KCSecurityCommand/Parsing/CommandTable.swift": "names of commands in ASCII",
        "Sources/Programs/KCSecurityCommand/World.swift": "the environment",
        "Sources/Programs/kcbackup/Archives/ArchiveOptions.swift": "a sentence of this program",
        "Sources/Programs/kcbackup/Archives/ImportText.swift": "nouns of this program's sentences",
        "Sources/Programs/kcbackup/Exports/ExportText.swift": "attributes with names in ASCII",
        "Sources/Programs/kcbackup/Local/GPG.swift": "the environment",
        "Sources/Programs/kcbackup/Report/ReportCounts.swift": "years as keys",
        "Sources/Programs/kcbackup/Run.swift": "help and messages of the argument parser",
        "Sources/Programs/kcbackup/Text/HelpText.swift": "help of the argument parser",
        "Sources/Programs/kcbackup/Text/ItemTable.swift": "names of columns and attributes in ASCII",
        "Sources/Programs/kcbackup/Text/Table.swift": "names of columns in ASCII",
        "Sources/Programs/kcbackup/Text/Words.swift": "nouns of this program's sentences",
        "Sources/Programs/kcbackup/Text/Wrapping.swift": "lines for people, broken between characters",
        "Sources/Programs/kcbackup/Text/WrappingTerminal.swift": "prompts of this program",
        "Sources/Programs/kcbackup/World.swift": "the environment",
    ]

    /// The files that run a command which the user wrote.
    static let userCommands: Set = [
        "Sources/Programs/kcbackup/Secrets/SecretInput.swift", "Sources/Programs/kcbackup/Commands/RunCommand.swift",
    ]

    /// The lines of `file` that break the rule, even if the file is exempt.
    static func places(in file: SourceFile) -> [String] {
        let folders = file.path.split(separator: "/")
        guard folders.count > 2, floors.contains(String(folders[1])) else { return [] }
        return file.numberedLines.filter { line in
            // Regular expressions are slow, and few lines need them.
            let bytes = Array(line.code.utf8)
            guard marks.contains(where: { occurs($0, in: bytes) }) else { return false }
            // What follows is one of the methods below, on bytes.
            let code = line.code.replacing(/\.(?:exact|utf8)\.\w+/, with: "")
            return code.contains(/\.(?:hasPrefix|hasSuffix|replacing|trimmingCharacters|trimmingPrefix|components)\(/)
                || code.contains(/\.split\(separator: "/) || code.contains(/\.contains\("/)
                || code.contains(/\bSet<String>|\[String: |\bDictionary<String\b/)
                || code.contains(
                    /\.(?:name|path|series|folder|label|fileName|stem|place) (?:==|!=) (?!nil\b|[".])[\w$(]/)
        }.map { "\(file.path):\($0.number)" }
    }

    /// What a line that breaks the rule contains at least one of.
    private static let marks = [
        "hasPrefix(", "hasSuffix(", "replacing(", "trimming", "components(", ".split(", ".contains(", "<String",
        "[String:", " == ", " != ",
    ].map { Array($0.utf8) }

    private static func occurs(_ mark: [UInt8], in bytes: [UInt8]) -> Bool {
        guard bytes.count >= mark.count else { return false }
        for start in 0...bytes.count - mark.count where bytes[start] == mark[0] {
            var length = 1
            while length < mark.count, bytes[start + length] == mark[length] { length += 1 }
            if length == mark.count { return true }
        }
        return false
    }

    /// The lines of `file` that break the rule.
    static func violations(in file: SourceFile) -> [String] {
        exempt[file.path] == nil ? places(in: file) : []
    }
}
