internal import ForeignFormats
internal import ItemSources
internal import KeychainModel

/// Explains why another program's file cannot be read.
func explainForeign(_ failure: ForeignFailure, _ path: String?) -> Explanation {
    let file = path.map { quoted($0) } ?? "the file"
    switch failure {
    case .wrongPassword:
        return Explanation(
            .wrongKey, "wrong password for \(file)", hint: "its password is that of the program that made it")
    case .wrongPasswordOrDamaged:
        return Explanation(
            .wrongKey, "the password does not open \(file), or the file is damaged",
            hint: "its format cannot tell which; the program that made it may")
    case .needsKeyFile:
        return Explanation(
            .wrongKey, "\(file) opens with a key file, and none was given",
            hint: "give it with '\(OptionName.keyFile.spelling) FILE'")
    case .needsFile(let name):
        return Explanation(
            .notFound, "\(file) cannot be read without '\(name)', which is not beside it",
            hint: "copy both into one folder")
    case .damaged(let rule): return Explanation(.damaged, "\(file) is damaged: \(rule)", hint: copyAgain)
    case .damagedLine(let line, let rule):
        return Explanation(
            .damaged, "line \(line) of \(file): \(rule)", hint: "nothing was imported; correct the line, and try again")
    case .unknownVariant(let what):
        return Explanation(.limit, "\(file) is of a kind that is not known here: \(what)", hint: olderForm)
    case .limit(let what, let found, let allowed):
        return Explanation(.limit, "\(file) is over a limit: \(what) \(found), and \(allowed) is allowed")
    case .refused(let title, let hint):
        return Explanation(.refused, "\(file) is \(title), which is not read", hint: hint)
    case .needsProgram(let program, let problem):
        return Explanation(
            .io, "\(file) is opened by '\(program)': \(problem)", hint: "see whether '\(program)' opens it by itself")
    case .unknownFormat:
        return Explanation(
            .damaged, "\(file) is of no format that is known",
            hint: "'kcbackup import --help' lists the formats", "'kcbackup inspect' shows archives")
    case .unknownColumns:
        return Explanation(
            .damaged, "the first line of \(file) has no column names that are known",
            hint: "'kcbackup import FILE \(OptionName.columns.spelling) title=NAME,password=NAME' says which is which")
    case .notOfFormat(let title): return Explanation(.damaged, "\(file) is not a \(title)")
    case .ambiguous(let names):
        return Explanation(
            .usage, "\(file) could be of several formats: \(names.joined(separator: ", "))",
            hint: "say which with '\(OptionName.from.spelling) FORMAT'")
    }
}

private let copyAgain = "the copy may be incomplete: export it again, or copy it again from where it was made"
private let olderForm = "let its program export another form, or use a newer version of kcbackup"

extension ForeignContents.Problem {
    /// The problem as text.
    var words: String {
        switch self {
        case .item(let problem): explainItem(problem).message
        case .sameKey: "another item of the file has the same names, and nothing tells the two apart"
        case .damaged(let rule): rule
        }
    }

    /// The stable name used in JSON.
    var name: String {
        switch self {
        case .item: "no-item"
        case .sameKey: "same-key"
        case .damaged: "damaged"
        }
    }
}
