import Foundation
import KCAsking
import KCBackupTasks
import KCTestSupport

@testable import kcbackup

/// The messages of `UsageProblem` and `Refusal` that are written where they are thrown, read from the sources.
///
/// Such a message is one string for the text and one for each hint, so that this can read them.
struct ThrownMessages {
    /// The explanations, with an example in place of each value.
    private(set) var explanations: [Explanation] = []
    /// The calls that are not of this form, the values without an example, and the examples that no message needs.
    private(set) var faults: [String] = []

    static let folder = "Sources/Programs/kcbackup"
    /// The files with the messages that have a name, which `FailureExamples` lists.
    static let named = ["Failures/UsageProblem.swift", "Failures/Refusal.swift"]

    /// Examples of what messages contain, by file and expression; the names of options need none.
    private static let examples: [String: [String: String]] = [
        "Run.swift": ["flag.spelling": "--keychain"],
        "Archives/ArchiveDrill.swift": ["differing": "2 items"],
        "Archives/ArchiveOptions.swift": [
            "quotedInput(path)": "'laptop.kcb'", "quoted(archive)": "'laptop'", "shellWord(archive)": "laptop",
            "withArticle(format.title)": "a CSV file", "quoted(path)": "'-'",
        ],
        "Archives/ArchiveOutput.swift": [
            "quoted(given)": "'login'", "shellWord(given)": "login", #"shellWord("./" + given)"#: "./login",
        ],
        "Archives/ArchiveText.swift": ["quoted(source.name)": "'login'"],
        "Commands/DeviceAdoptCommand.swift": ["status.device": "KC-ABCD-EFGH-IJKL-MNOP-QRST"],
        "Commands/DeviceSealCommand.swift": ["names": "'login'", "EncryptedArchives.days": "30"],
        "Commands/DeviceTransferCommands.swift": ["quoted(file)": "'laptop.kcb'", "shellWord(file)": "laptop.kcb"],
        "Commands/ExecCommand.swift": [
            "wanted.name": "API_TOKEN", "variable.name": "API_TOKEN", "items.count": "2",
            #"hasNUL ? "a zero byte" : "several lines""#: "several lines", "quoted(command)": "'psql'",
            "quoted(command[0])": "'./bin'", "words(ofSystemError: code)": "permission denied",
        ],
        "Commands/ExportCommand.swift": [#"counted(missing, "item")"#: "3 items", "format.rawValue": "csv"],
        "Commands/FleetIndexCommand.swift": [
            #"quoted(location.appending("archives").text)"#: "'nas:fleet/archives'",
            "shellWord(location.text)": "nas:fleet", #"counted(counts.closed, "archive")"#: "3 archives",
            "quoted(given)": "'nas:fleet.index'",
        ],
        "Commands/FleetSearchCommand.swift": ["quoted(device)": "'laptop-17'"],
        "Commands/ImportCommand.swift": [
            "quoted(file)": "'letters'", "shellWord(file)": "letters", "withArticle(title)": "a CSV file",
        ],
        "Commands/InspectCommand.swift": ["option.spelling": "--html"],
        "Commands/ItemAddCommand.swift": ["code.word": "sync", "quoted(path)": "'ca.der'"],
        "Commands/ItemCodes.swift": ["problem.words": "its seed is not base32"],
        "Commands/ItemFindCommand.swift": ["shellWord(path)": "laptop.kcb"],
        "Commands/ItemUpdateCommand.swift": ["found.items.count": "2", "error.code.word": "account"],
        "Commands/KeychainLockCommand.swift": [
            "refusal.reason": "this process may not use the kernel's key service, as in many containers"
        ],
        "Local/KeyringImport.swift": ["quoted(path)": "'keyrings'"],
        "Commands/ScheduleEditCommand.swift": [
            "quoted(name)": "'copy-to'", "list": "recipient, to",
        ],
        "Commands/StatusCommand.swift": [
            "displayed(maxAge)": "26h", #"stale.joined(separator: ", ")"#: "job 'nightly'",
            "quoted(dataFolder)": "'/home/ada/.local/share/kcbackup'",
        ],
        "Commands/TrustCommands.swift": ["id": "KC-ABCD-EFGH-IJKL-MNOP-QRST"],
        "Failures/StateExplanations.swift": [
            "storeWords(store)": "keychain 'login'", "storeOption(store)": " --keychain login",
            "displayed(name, limit: 100)": "20261121T030000.000000Z", "shellWord(path)": "undo/state.keychain",
            "quoted(place)": "'~/.local/share/kcbackup/keychains/work.keychain'",
            "quoted(label)": "'Bank'",
        ],
        "Local/ProtectionPlan.swift": [
            "quoted(file.path)": "'diary.txt'", "quoted(path)": "'diary.txt'", "shellWord(name)": "diary.txt.age",
        ],
        "Local/BackupFolders.swift": ["quoted(path)": "'~/.local/share/kcbackup'"],
        "Local/Inputs.swift": ["quoted(remote.text)": "'keychain:work'", "name": "work"],
        "Local/KeychainMove.swift": [#"stuck.count == 1 ? "keychain" : "keychains""#: "keychain", "names": "'login'"],
        "Remotes/RemoteAccess.swift": [
            "quoted(given)": "'nas:backups'", #"shellWord("./" + given)"#: "./nas:backups",
        ],
        "Remotes/RemoteExamination.swift": [
            "quoted(remote)": "'/tmp'",
            "RemoteLocation.form": "a folder of a remote, as in 'nas:backups' or 'sftp:nas:backups'",
        ],
        "Options/CreateOptions.swift": [
            "option.spelling": "--recipient"
        ],
        "Archives/BackupMaking.swift": ["calendar.day(now)": "1969-12-31"],
        "Options/JobOptions.swift": ["quoted(to)": "'nas:backups'", "shellWord(to)": "nas:backups"],
        "Options/StoreOptions.swift": ["option.spelling": "--escrow"],
        "Options/VariableItem.swift": ["option.spelling": "--with", "name": "PATH"],
        "Options/UnitOptions.swift": [
            "quoted(failureUnit)": "'a b.service'", "quoted(job.name)": "'desk'", "shellWord(job.name)": "desk",
        ],
    ]

    /// Reads all sources of the program.
    init() throws {
        let folder = Project.folder.appending(path: Self.folder)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        for path in paths where path.hasSuffix(".swift") && !Self.named.contains(path) {
            read(try Project.text("\(Self.folder)/\(path)"), of: path)
        }
    }

    /// Reads one text in place of a file.
    init(_ text: String, path: String) {
        read(text, of: path)
    }

    private mutating func read(_ text: String, of path: String) {
        let examples = Self.examples[path, default: [:]]
        var used: Set<String> = []
        // The type has to be named, so that the call is found.
        if text.contains("throw .init(") { faults.append("\(path): 'throw .init(' does not name the type") }
        for type in ["UsageProblem(", "Refusal("] {
            for start in text.ranges(of: type) {
                if let before = text[..<start.lowerBound].last, before.isLetter { continue }
                var reader = ArgumentReader(text: text[start.upperBound...], examples: examples)
                if let explanation = reader.explanation() {
                    explanations.append(explanation)
                } else {
                    let line = text[..<start.lowerBound].count { $0 == "\n" } + 1
                    faults.append("\(path):\(line): \(reader.fault)")
                }
                used.formUnion(reader.used)
            }
        }
        faults += Set(examples.keys).subtracting(used).sorted().map { "\(path): no message has '\($0)'" }
    }
}

/// Reads the arguments of one call: `.status` if there is one, then strings.
private struct ArgumentReader {
    var text: Substring
    let examples: [String: String]
    var used: Set<String> = []
    /// The fault, after `explanation` has returned nil.
    var fault = "a message is one string, and each hint is one"

    /// How many remedies have begun and not ended.
    var remedies = 0

    private mutating func begin(remedy: String) {
        remedies += 1
        text = text.dropFirst(remedy.count)
    }

    mutating func explanation() -> Explanation? {
        var status = ExitStatus.usage
        var strings = [""]
        while let character = text.popFirst() {
            switch character {
            case " ", "\n", "+": break
            case ",": strings.append("")
            case "\"":
                guard let string = string() else { return nil }
                strings[strings.count - 1] += string
            case "r" where text.hasPrefix("emedies:") && strings.last == "": text = text.dropFirst(8)
            case "[": break
            case "]": if strings.last == "" { strings.removeLast() }
            case "R" where text.hasPrefix("emedy("): begin(remedy: "emedy(")
            case "." where text.hasPrefix("passcode("): begin(remedy: "passcode(")
            case "." where text.hasPrefix("desktopPrompt("): begin(remedy: "desktopPrompt(")
            case ")" where remedies > 0: remedies -= 1
            case ".":
                let name = text.prefix { $0.isLetter }
                guard strings == [""], let found = ExitStatus.allCases.first(where: { "\($0)" == name })
                else { return nil }
                text = text.dropFirst(name.count)
                status = found
                // The message follows the comma.
                strings = []
            case "h" where text.hasPrefix("int:") && strings.last == "": text = text.dropFirst(4)
            case ")":
                guard let message = strings.first, !strings.contains("") else { return nil }
                return Explanation(status, message, hints: Array(strings.dropFirst()))
            default: return nil
            }
        }
        return nil
    }

    /// Reads a string after its first quotation mark.
    private mutating func string() -> String? {
        var string = ""
        while let character = text.popFirst(), character != "\"" {
            guard character == "\\" else {
                string.append(character)
                continue
            }
            guard text.popFirst() == "(", let value = value() else { return nil }
            string += value
        }
        return string
    }

    /// Reads an expression up to the parenthesis that ends it, and returns its example.
    private mutating func value() -> String? {
        var expression = ""
        var depth = 0
        var isInString = false
        while let character = text.popFirst() {
            if character == "\"" { isInString.toggle() }
            if !isInString, character == ")", depth == 0 { break }
            if !isInString { depth += character == "(" ? 1 : character == ")" ? -1 : 0 }
            expression.append(character)
        }
        if let option = OptionName.allCases.first(where: { "OptionName.\($0).spelling" == expression }) {
            return option.spelling
        }
        used.insert(expression)
        fault = "'\(expression)' has no example"
        return examples[expression]
    }
}
