package import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCQRCodes
internal import KCRecoveryKits
internal import KCReportText

/// Explains a failure of a recovery kit.
package func explainKit(_ problem: KitProblem) -> Explanation {
    switch problem {
    case .unattended:
        Explanation(
            .usage, "the key of a recovery kit is typed, and there is no terminal to type it on",
            hint: "put it into a file that only you can read, in one line from '\(KitText.beginning)' on, and give "
                + "'\(OptionName.identity.spelling) FILE'")
    case .mistyped(let times):
        Explanation(
            .wrongKey, "the lines of the recovery kit were typed wrong \(times) times",
            hint:
                "the first line begins with '\(KitText.beginning)'; then come \(KitText.lineLengths.count) lines with "
                + "numbers")
    case .comment:
        Explanation(
            .usage, "a comment is one line of at most \(RecoveryKit.commentLimit) bytes, without control characters")
    case .tooMany(let limit): Explanation(.limit, "there are \(limit) recovery kits already, which is the limit")
    case .otherKey(let kits):
        Explanation(
            .wrongKey, "this is the key of none of the \(counted(kits, "recovery kit")) of this device",
            hint: "'kcbackup recovery list' shows their fingerprints, which are on the sheets",
            "of another machine's kit, 'kcbackup recovery check ARCHIVE' finds out whether it opens an archive")
    case .unknown:
        Explanation(
            .notFound, "no recovery kit has this fingerprint",
            hint: "'kcbackup recovery list' shows those of this device")
    case .alreadyRetired(let fingerprint): Explanation(.exists, "recovery kit \(fingerprint) is retired already")
    case .inspecting(let fingerprint):
        Explanation(
            .usage,
            "recovery kit \(fingerprint), which opens whole archives, is given as "
                + "'\(OptionName.inspectRecipient.spelling)'",
            hint: "leave it out: archives are made for recovery kits by themselves")
    case .otherStrength(let fingerprint, let isPostQuantum):
        Explanation(
            .usage,
            "recovery kit \(fingerprint) \(isPostQuantum ? "is" : "is not") post-quantum, so it cannot open archives "
                + "together with keys that \(isPostQuantum ? "are not" : "are")",
            hint:
                "'kcbackup recovery retire \(fingerprint)' makes no more archives for it; then 'kcbackup recovery make' "
                + "makes one of either kind")
    case .otherStrengthOfJobs(let jobs, let isPostQuantum, let othersFit):
        explainJobs(jobs, ofOtherStrengthThan: isPostQuantum, othersFit)
    case .severalKeys:
        Explanation(
            .usage, "the file has several keys, and a recovery kit has one",
            hint: "give a file with the key of the kit alone")
    case .sheetAsIdentity(let path):
        Explanation(
            .usage, "\(quoted(path)) is the sheet of a recovery kit, and no file with a key alone",
            hint: "'\(OptionName.identity.spelling) tty' asks for what is on the sheet")
    case .opensMetadataAlone(let archive):
        Explanation(.wrongKey, "the key opens the names of the items in \(quoted(archive)), and no secret")
    case .unencrypted(let archive):
        Explanation(
            .usage, "\(quoted(archive)) is unencrypted, so it needs no key, and a recovery kit cannot be tried on it")
    case .code(.libraryMissing(let missing)):
        Explanation(
            .locked, "libqrencode, which makes QR codes, cannot be loaded: \(quoted(missing)) is missing",
            hint: "'apt install libqrencode4' installs it; without '\(OptionName.qr.spelling)', the sheet has no code")
    case .code(.refused(let number)): Explanation(.io, "making the QR code: \(words(ofSystemError: number))")
    case .list(let failure): explainKitList(failure)
    }
}

private func explainJobs(
    _ jobs: [String], ofOtherStrengthThan isPostQuantum: Bool, _ othersFit: Bool
) -> Explanation {
    let (own, other) = isPostQuantum ? ("not post-quantum", "is") : ("post-quantum", "is not")
    let edit =
        "'kcbackup schedule edit \(jobs.count == 1 ? jobs[0] : "JOB") \(OptionName.recipient.spelling) \(isPostQuantum ? "age1pq1…" : "age1…") "
        + "\(OptionName.change.spelling)' gives \(jobs.count == 1 ? "the job" : "each job") other keys first"
    let make =
        isPostQuantum
        ? "without '\(OptionName.postQuantum.spelling)', the kit fits"
        : "'\(OptionName.postQuantum.spelling)' makes a kit that fits"
    return Explanation(
        .usage,
        "\(jobs.count == 1 ? "job" : "jobs") \(jobs.map(quoted).joined(separator: ", ")) would fail from now on: the keys of "
            + "\(jobs.count == 1 ? "its" : "their") archives are \(own), and the kit \(other)"
    ).adding(othersFit ? [edit] : [make, edit])
}

private func explainKitList(_ failure: StateFileFailure) -> Explanation {
    switch failure {
    case .altered(let path), .otherDevice(let path, _):
        Explanation(
            .damaged, "the list of recovery kits was changed by another program: \(quoted(path))",
            hint: "if you remove the file, sheets keep opening what was made for them, and no later backup is made for "
                + "them: make new kits then")
    case .otherFormat(let path):
        Explanation(.limit, "another version of kcbackup wrote the list of recovery kits: \(quoted(path))")
    case .file(let failure): explainFile(failure)
    case .cryptography(let failure): explainCryptography(failure)
    }
}
