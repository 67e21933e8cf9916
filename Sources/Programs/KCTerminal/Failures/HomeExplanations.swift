package import KCHomeFiles
internal import KCReportText

/// Explains why the files of a home cannot be read or written.
package func explainHome(_ failure: HomeFailure) -> Explanation {
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
    case .notReplaceable(let path, let problem):
        Explanation(
            .refused, "\(quoted(path)) cannot be changed: \(problem?.words ?? HomeFailure.otherInPlace)",
            hint: "leave out '\(OptionName.removeFromFile.spelling)', and take the records out of the file by hand")
    case .inTheWay(let path, let count):
        Explanation(
            .refused,
            "nothing can be taken back: something else is in the place of \(quoted(path))"
                + (count == 1 ? "" : " and of \(counted(count - 1, "more file"))")
                + ", or on the way there, or you may not write there",
            hint: "move it away, or get the right to write, and run the command again",
            "'kcbackup undo \(OptionName.list.spelling)' with the same '\(OptionName.keychain.spelling)' names the states "
                + "before that")
    }
}

extension HomeFailure {
    /// The obstacle that keeps a file from its place, if it is no file.
    package static let otherInPlace = "something else is in its place, or on the way there"
}
