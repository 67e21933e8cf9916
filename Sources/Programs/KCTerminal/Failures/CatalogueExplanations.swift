package import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText

/// Explains a failure of a backup folder.
///
/// - Parameter job: the job that failed, if it is one.
package func explainCatalogue(_ failure: CatalogueFailure, job: String?) -> Explanation {
    switch failure {
    case .altered(let folder):
        Explanation(
            .damaged, "\(catalogueWords(folder)) was changed since this device wrote it", hint: rebuilding(folder))
    case .otherFormat(let folder):
        Explanation(
            .limit, "another version of kcbackup wrote \(catalogueWords(folder))",
            hint: "use that version, or rebuild the catalogue: " + rebuilding(folder))
    case .folderGone(let folder, let archives):
        Explanation(
            .notFound,
            "\(quoted(folder)) has lost \(archives == 1 ? "the backup" : "all \(archives) backups") that it held",
            hint: "is the disk mounted?",
            "if they were removed on purpose, '"
                + (job.map { "kcbackup run \($0) \(OptionName.change.spelling)" }
                    ?? "kcbackup create \(OptionName.to.spelling) \(shellWord(folder)) \(OptionName.change.spelling) …")
                + "' starts over there, and 'kcbackup list \(OptionName.rebuild.spelling) \(shellWord(folder))' "
                + "forgets them")
    case .folderElsewhere(let folder, let archives, let was, let now):
        Explanation(
            .refused,
            "\(quoted(folder)) leads to \(quoted(now)), where no backup is known, and "
                + "\(counted(archives, "backup")) \(archives == 1 ? "was" : "were") made in \(quoted(was))",
            hint: "if they were moved there, 'kcbackup list \(OptionName.rebuild.spelling) \(shellWord(folder))' "
                + "enters them",
            "if not, mend the link, or \(allowing(.change, job)) to start over there")
    case .folderMissing(let folder):
        Explanation(.notFound, "folder \(quoted(folder)) does not exist", hint: "is the disk mounted?").adding(
            job.map {
                ["if it was removed on purpose, 'kcbackup run \($0) \(OptionName.change.spelling)' makes a new one"]
            } ?? [])
    case .switches(let folder, let difference):
        Explanation(
            .refused, "the backups in \(quoted(folder)) \(explainSwitch(difference))",
            hints: switchHints(difference, job))
    case .shrunk(let loss): explainShrinkage(loss, job: job)
    case .unread(let path):
        Explanation(
            .shrunk,
            "a loss since the last backup could not be told: \(quoted(path)) was not read since the catalogue was rebuilt",
            hint: "'kcbackup verify \(shellWord(Path.split(path).folder))' with a key reads it",
            "if nothing was lost, \(allowing(.acceptShrink, job))" + (job == nil ? "" : " once"))
    case .vanished(let series):
        Explanation(
            .shrunk, "keychain \(quoted(series)) no longer exists, and there are backups of it here",
            hint: "'kcbackup restore' brings it back from one of them",
            "if it was deleted on purpose, \(allowing(.acceptShrink, job)) once")
    case .noRule:
        Explanation(
            .usage, "no rule says what to keep",
            hint: "use '\(OptionName.keepLast.spelling) N', "
                + "'\(OptionName.keepDaily.spelling) N' and the like")
    case .notWhole(let name):
        Explanation(
            .damaged, "\(quoted(name)) was intact when it was made, and is damaged now",
            hint:
                "'kcbackup verify \(name.exact.contains("/") ? shellWord(name) : "FOLDER")' says what is wrong with it",
            "take it from a copy, or make a new backup now")
    case .missing(let name):
        Explanation(
            .notFound, "\(quoted(name)) is in the catalogue, and its file is gone",
            hint: "take it from a copy, or forget it: 'kcbackup list \(OptionName.rebuild.spelling) FOLDER'")
    case .replaced(let name, .keys):
        Explanation(
            .damaged, "\(quoted(name)) is not the archive that was made under this name: \(words(.keys))",
            hint: "take the right one from a copy, or give it the new keys again: 'kcbackup rekey \(shellWord(name)) "
                + "\(OptionName.identity.spelling) OLD \(OptionName.recipient.spelling) NEW'",
            "if its keys are right, 'kcbackup list \(OptionName.rebuild.spelling) "
                + "\(shellWord(Path.split(name).folder))' enters it")
    case .replaced(let name, let difference):
        Explanation(
            .damaged, "\(quoted(name)) is not the archive that was made under this name: \(words(difference))",
            hint: "move it to another folder, and take the right one from a copy")
    case .renamed(let path):
        Explanation(
            .damaged,
            "\(quoted(path)) was renamed: it is of another time, device or keychain than its name says",
            hint: "'kcbackup inspect \(shellWord(path))' shows what it is; name another archive to pass it over")
    case .unclearNewest(let folder):
        Explanation(
            .usage, "\(quoted(folder)) has several archives, and their names do not tell which is meant",
            hint: "'kcbackup list \(shellWord(folder))' shows them; add '/' and the name of one")
    case .severalDevices(let folder, let devices):
        Explanation(
            .refused, "\(quoted(folder)) has archives of several devices, and none is known here: \(listed(devices))",
            hint: "'\(OptionName.acceptOrigin.spelling) ID' takes those of the device with this ID, which "
                + "'kcbackup device show' prints there")
    case .severalSeries(let folder, let series):
        Explanation(
            .usage, "\(quoted(folder)) has archives of several stores: \(series.map(quoted).joined(separator: ", "))",
            hint: "'kcbackup restore \(OptionName.home.spelling) \(shellWord(folder))' restores the newest one of each",
            "'kcbackup list \(shellWord(folder))' shows them; add '/' and the name of one")
    case .noArchives(let folder):
        Explanation(
            .notFound, "there is no archive in \(quoted(folder))",
            hint: RemoteLocation(folder) == nil
                ? "is the disk mounted?"
                : "'kcbackup copy ARCHIVE \(OptionName.to.spelling) \(shellWord(folder))' copies one there")
    case .nothingInTrash(let folder):
        Explanation(.notFound, "the trash of \(quoted(folder)) is empty")
    case .inTrash(let path):
        Explanation(
            .refused, "\(quoted(path)) is in the trash, and archives there are not changed",
            hint: "'kcbackup prune \(OptionName.undo.spelling) FOLDER' takes it back first",
            "or remove it for good: 'rm \(shellWord(path))'")
    case .trashIsNoFolder(let path):
        Explanation(
            .refused, "the trash \(quoted(path)) is not a folder of its own, so archives could end up elsewhere",
            hint: "remove it: 'rm \(shellWord(path))'; what is in the place where it leads stays there")
    case .unknownFolder(let folder):
        Explanation(
            .notFound,
            "this device knows of no backup in \(quoted(folder)) that was made with 'create \(OptionName.to.spelling)'",
            hint: "if they were moved there, or the catalogue was lost, "
                + "'kcbackup list \(OptionName.rebuild.spelling) \(shellWord(folder))' enters them")
    case .file(let failure): explainFile(failure)
    case .cryptography(let failure): explainCryptography(failure)
    }
}

private func words(_ difference: CatalogueEntry.Difference) -> String {
    switch difference {
    case .archive: "it is another one of this device"
    case .keys: "it has other keys, as a copy from before a 'rekey' has"
    case .origin: "another device signed it"
    case .content: "what is in it is not what was put into it"
    case .keychain: "it is of another keychain than its name says"
    }
}

/// The catalogue of a folder in a sentence; where the folder is not known, only the file of the catalogue is.
private func catalogueWords(_ folder: String) -> String {
    CatalogueFile.isName(ofPath: folder)
        ? "the catalogue \(quoted(folder))" : "the catalogue of the backups in \(quoted(folder))"
}

private func rebuilding(_ folder: String) -> String {
    CatalogueFile.isName(ofPath: folder)
        ? "'kcbackup list \(OptionName.rebuild.spelling) FOLDER' rebuilds it, where FOLDER has its backups"
        : "'kcbackup list \(OptionName.rebuild.spelling) \(shellWord(folder))' rebuilds it from the archives that are there"
}

private func explainSwitch(_ difference: BackupPin.Difference) -> String {
    switch difference {
    case .mode(let mode): "are \(mode.rawValue), and this one would not be"
    case .keys(let lost, let added):
        "open with other keys: \(counted(lost, "key")) would be missing, and \(added) would be new"
    case .otherKeychain(let names):
        "are of \(names.count == 1 ? "keychain" : "keychains") \(names.map(quoted).joined(separator: ", ")), "
            + "and this one would be of another"
    case .replaced(let series):
        "are of another keychain \(quoted(series)), which was deleted or replaced since"
    case .copied(let series, let place):
        "are of keychain \(quoted(place ?? series)), which is still there, and one of the two is a copy of the other"
    case .oneOfAll: "are of all keychains, and this one would be of one alone"
    }
}

/// Returns what to do about a folder whose backups are others so far.
private func switchHints(_ difference: BackupPin.Difference, _ job: String?) -> [String] {
    guard case .keys = difference, let job else {
        return ["choose another folder, or \(allowing(.change, job)) if that is what you want"]
    }
    // The keys of the job may be those that were stolen.
    return [
        "if 'kcbackup rekey' gave them other keys, let the job use these: 'kcbackup schedule edit \(job) "
            + "\(OptionName.recipient.spelling) NEW'",
        "if the keys of the job are right, \(allowing(.change, job))",
    ]
}

/// Returns what to do to allow something once.
private func allowing(_ option: OptionName, _ job: String?) -> String {
    job.map { "run 'kcbackup run \($0) \(option.spelling)'" } ?? "add '\(option.spelling)'"
}

/// Names the kinds of items of which none is left, as the end of a sentence; empty if there are none.
private func goneWords(_ loss: Shrinkage) -> String {
    let limit = 5
    var kinds = loss.goneClasses.map { "all \($0.name)s" }
    if !loss.goneGroups.isEmpty {
        let names = loss.goneGroups.prefix(limit).map { quoted($0) }
        let others = loss.goneGroups.count > limit ? ["others"] : []
        kinds.append("everything in \(names.count == 1 ? "group" : "groups") \(listed(names + others))")
    }
    return kinds.isEmpty ? "" : "; gone are \(listed(kinds))"
}

private func explainShrinkage(_ loss: Shrinkage, job: String?) -> Explanation {
    let words =
        "\(quoted(loss.series)) has \(counted(loss.now, "item")) to back up, and the last backup had "
        + "\(loss.before)\(goneWords(loss))"
    let old = "if something was lost, that backup still has it: see 'kcbackup list FOLDER'"
    if loss.unread == 0 {
        return Explanation(
            .shrunk, words, hint: old,
            "if it was removed on purpose, \(allowing(.acceptShrink, job))" + (job == nil ? "" : " once"))
    }
    // The items still exist, so accepting their loss is no advice.
    let names = loss.unreadNames.map { quoted($0) }
    var hints = [old]
    if let job, !names.isEmpty { hints.append("'kcbackup run \(job) -v' says why") }
    if loss.left > 0 { hints.append(acceptingMissing(job: job)) }
    return Explanation(
        .shrunk, "\(words); " + unreadWords(loss.unread, left: loss.left) + unreadWords(names, of: loss.unread),
        hints: hints)
}
