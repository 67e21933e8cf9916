internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
package import KCRemotes
internal import KCReportText

/// Explains why a remote could not be used.
package func explainRemote(_ failure: RemoteFailure) -> Explanation {
    switch failure {
    case .notInstalled:
        Explanation(
            .notFound, "rclone is not installed, which reads and writes remotes",
            hint: "install it, as with 'apt install rclone', and define a remote with 'rclone config'",
            "'sftp:HOST:PATH' needs OpenSSH alone", "a file here with a colon in its name is './NAME'")
    case .noSftp:
        Explanation(
            .notFound, "sftp of OpenSSH is not installed, which reads and writes 'sftp:HOST:PATH'",
            hint: "install it, as with 'apt install openssh-client'")
    case .unusableTemporaryFolder(let path):
        Explanation(
            .usage, "sftp would take a character in \(quoted(path)) for a pattern",
            hint: "set TMPDIR to a folder without any of * ? [ \\ \" in its path")
    case .notStarted(let code):
        Explanation(.io, "the program for remotes could not be started: \(words(ofSystemError: code))")
    case .needsRclone(let location):
        Explanation(
            .usage, "\(quoted(location.text)) is reached by sftp, which is not enough here",
            hint: "define a remote with 'rclone config', and use its name")
    case .unreadableConfiguration(let message):
        Explanation(
            .locked, "rclone cannot read its configuration: \(displayed(message, limit: 300))",
            hint: "if it is encrypted, set RCLONE_PASSWORD_COMMAND to a command that prints its password, as 'cat FILE'"
        )
    case .unknownRemote(let remote):
        Explanation(
            .notFound, "rclone has no remote \(quoted(remote))",
            hint: "'rclone listremotes' shows those that there are, 'rclone config' defines one",
            "a host that OpenSSH reaches is 'sftp:HOST:PATH'",
            "a file here with a colon in its name is './NAME'")
    case .unpinnedHost(let remote):
        Explanation(
            .refused, "rclone would accept any host as that of remote \(quoted(remote))",
            hint: "run 'rclone config update \(shellWord(remote)) known_hosts_file ~/.ssh/known_hosts'")
    case .unknownHost(let location):
        Explanation(
            .refused, "ssh does not know the key of the host of \(quoted(location.text)), which could be any machine",
            hint: "run 'sftp \(shellWord(location.host ?? ""))' once, and compare the key that it shows")
    case .denied(let location, let message):
        Explanation(
            .refused, "\(quoted(location.text)) refuses access: \(displayed(message, limit: 300))",
            hint: location.host.map { "'sftp \(shellWord($0))' shows whether and how this machine signs in" }
                ?? "'rclone config show \(shellWord(location.remote))' shows how this machine signs in")
    case .unreachable(let location, let message):
        Explanation(.io, "\(quoted(location.text)) cannot be reached: \(displayed(message, limit: 300))")
    case .missing(let folder) where folder.isHere: explainCatalogue(.folderMissing(folder: folder.text), job: nil)
    case .missing(let location):
        Explanation(
            .notFound, "there is no archive or folder \(quoted(location.text))",
            hint: "'kcbackup list \(shellWord(location.folder?.text ?? location.text))' shows those in its folder")
    case .unusableName(let name):
        Explanation(
            .usage, "\(quoted(name)) cannot be the name of a copy",
            hint: "rename the archive first: without control characters, and shorter than a path may be")
    case .unquotable(let name):
        Explanation(
            .usage, "sftp would not take \(quoted(name)) literally",
            hint: "use a shorter path, or one without any of * ? [ \\ \" in it, or rclone")
    case .exists(let location):
        Explanation(
            .exists, "\(quoted(location.text)) exists and is another file; it was left as it is",
            hint: "give the file there another name, or copy to another folder")
    case .busy(let location):
        Explanation(
            .busy, "another run is copying the same archive to \(quoted(location.text))",
            hint: "wait until it has ended, and try again")
    case .leaving(let location, let failure):
        explainRemote(failure).suffixed("; what was written of \(quoted(location.text)) is still there").adding([
            "the next copy of the file removes it, or 'rclone deletefile \(shellWord(location.text))'"
        ])
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
            hint: location.host == nil
                ? "'rclone lsf \(shellWord(location.text))' shows it"
                : "a name in it may have a line break")
    case .failed(let location, let message):
        Explanation(.io, "\(quoted(location.text)): \(displayed(message, limit: 300))").adding(
            isOfRoom(message) ? ["there is no room left on \(quoted(location.remote)): remove something there"] : [])
    }
}

/// True if a message of rclone says that a disk or a quota is full.
private func isOfRoom(_ message: String) -> Bool {
    ["no space left", "quota", "insufficient storage"].contains { message.lowercased().exact.contains($0) }
}
