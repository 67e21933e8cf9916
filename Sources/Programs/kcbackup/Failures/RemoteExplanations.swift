internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText
internal import KCRemotes

/// Explains why a remote could not be used.
func explainRemote(_ failure: RemoteFailure) -> Explanation {
    switch failure {
    case .notInstalled:
        Explanation(
            .notFound, "rclone is not installed, which reads and writes remotes",
            hint: "install it, as with 'apt install rclone', and define a remote with 'rclone config'",
            "a file here with a colon in its name is './NAME'")
    case .notStarted(let code):
        Explanation(.io, "rclone could not be started: \(words(ofSystemError: code))")
    case .unknownRemote(let remote):
        Explanation(
            .notFound, "rclone has no remote \(quoted(remote))",
            hint: "'rclone listremotes' shows those that there are, 'rclone config' defines one",
            "a file here with a colon in its name is './NAME'")
    case .unpinnedHost(let remote):
        Explanation(
            .refused, "rclone would accept any host as that of remote \(quoted(remote))",
            hint: "run 'rclone config update \(shellWord(remote)) known_hosts_file ~/.ssh/known_hosts'")
    case .denied(let location, let message):
        Explanation(
            .refused, "\(quoted(location.text)) refuses access: \(displayed(message, limit: 300))",
            hint: "'rclone config show \(shellWord(location.remote))' shows how this machine signs in")
    case .unreachable(let location, let message):
        Explanation(.io, "\(quoted(location.text)) cannot be reached: \(displayed(message, limit: 300))")
    case .missing(let location):
        Explanation(
            .notFound, "there is no archive or folder \(quoted(location.text))",
            hint: "'kcbackup list \(shellWord(location.folder?.text ?? location.text))' shows those in its folder")
    case .unclearNewest(let folder):
        Explanation(
            .usage, "\(quoted(folder.text)) has several archives, and their names do not tell which is meant",
            hint: "'kcbackup list \(shellWord(folder.text))' shows them; add '/' and the name of one")
    case .unusableName(let name):
        Explanation(
            .usage, "\(quoted(name)) cannot be the name of a file on a remote",
            hint: "rename the archive first: without control characters, and shorter than a path may be")
    case .exists(let location):
        Explanation(
            .exists, "\(quoted(location.text)) exists and is another file; it was left as it is",
            hint: "copy the archive to another folder, or rename it first")
    case .differs(let location):
        Explanation(
            .damaged, "what was read back from \(quoted(location.text)) is not what was written",
            hint: "do not rely on this copy; if the archive was not changed meanwhile, the remote is failing")
    case .changed(let location):
        Explanation(
            .io, "\(quoted(location.text)) ended early, or changed while it was read", hint: "try it again")
    case .tooMany(let location, let limit):
        Explanation(.limit, "\(quoted(location.text)) has more than \(limit) files")
    case .unclear(let location):
        Explanation(
            .io, "the listing of \(quoted(location.text)) cannot be understood",
            hint: "'rclone lsf \(shellWord(location.text))' shows it; a name in it may have a line break")
    case .failed(let location, let message):
        Explanation(.io, "\(quoted(location.text)): \(displayed(message, limit: 300))")
    }
}
