internal import KCByteStreams
internal import KCFleetIndex
internal import KCKeychainStore
internal import KCReportText
package import KCTerminal

extension FleetIndexFailure: Explained {
    package var explanation: Explanation {
        let anew =
            "an index has nothing that the archives do not have: 'kcbackup fleet index' makes it anew in another file"
        switch self {
        case .notFound(let path):
            return Explanation(
                .notFound, "there is no index \(quoted(path))",
                hint: "'kcbackup fleet index REMOTE:PATH \(OptionName.output.spelling) \(shellWord(path))' makes it")
        case .notAnIndex(let path):
            return Explanation(
                .damaged, "\(quoted(path)) is not an index of a fleet", hint: "name another file for the index")
        case .newerFormat(let path, let found, let known):
            return Explanation(
                .limit, "the index \(quoted(path)) has version \(found), and this program knows up to \(known)",
                hint: "use a newer version of kcbackup")
        case .busy(let path):
            return Explanation(
                .busy, "another program is using the index \(quoted(path))",
                hint: "wait until it has ended, and try again")
        case .damaged(let path):
            return Explanation(.damaged, "the index \(quoted(path)) is damaged", hint: anew)
        case .diskFull(let path):
            return Explanation(
                .io, "no space is left for the index \(quoted(path))",
                hint: "make room, and try again: what was read before is in it")
        case .readOnly(let path):
            return Explanation(.io, "the index \(quoted(path)) cannot be written", hint: "check who may write there")
        case .file(let failure):
            guard case .exposed(let mode) = failure.problem else { return explainFile(failure) }
            return Explanation(
                .refused,
                "others can use \(quoted(failure.path)) (mode \(String(mode, radix: 8))), which has the names of all items",
                hint: "run 'chmod 600 \(shellWord(failure.path))'")
        case .library(let path, let code):
            return Explanation(
                .io,
                "SQLite failed on the index \(quoted(path)): \(KeychainStoreError.words(ofSQLiteCode: code)) "
                    + "(result code \(code))")
        case .interrupted: return explainInterruption()
        }
    }
}
