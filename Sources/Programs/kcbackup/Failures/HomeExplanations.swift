internal import KCHomeFiles
internal import KCReportText

/// Explains why the files of a home cannot be read or written.
func explainHome(_ failure: HomeFailure) -> Explanation {
    switch failure {
    case .tooManyFiles(let limit):
        Explanation(
            .limit, "there are more than \(limit) files of secrets",
            hint: "'home.md' in the documentation lists the folders that are looked at")
    case .tooLarge(let limit):
        Explanation(
            .limit, "the files of secrets have more than \(byteCount(UInt64(limit))) together",
            hint: "'home.md' in the documentation lists the folders that are looked at")
    case .needsRoot(let path):
        Explanation(
            .refused, "\(quoted(path)) cannot be read: the credentials of systemd belong to root",
            hint: "run the command as root: 'sudo kcbackup …'")
    case .changedMeanwhile(let path):
        Explanation(
            .busy, "\(quoted(path)) was changed since the plan was made, and is left as it is",
            hint: "run the command again")
    }
}
