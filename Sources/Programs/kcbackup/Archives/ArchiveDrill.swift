internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `verify --drill`: restores an archive into a temporary keychain, and compares the two.
struct ArchiveDrill {
    let proven: ProvenArchive
    let path: String
    let session: Session

    /// Opens stored secrets with keys from a keychain or with the archived passcode: a trial restore reseals every
    /// secret.
    ///
    /// - Throws: as `ArchivePasscodeOption.open`.
    func openSecrets(_ option: ArchivePasscodeOption, keptIn passcode: KeptSecret) throws {
        if option.archivePasscode == nil { session.borrowKeys(for: proven) }
        try option.open(proven, isNeeded: true, path: path, keptIn: passcode, in: session)
    }

    /// Runs the trial restore.
    ///
    /// - Throws: `Refusal.drillDiffers`, `RestoreRefusal`, `ArchiveFailure`, and the errors of creating the keychain.
    func run() throws -> DrillReport {
        let drill = try DrillBackup(proven)
        let scratch = try ScratchKeychain(in: session.machine.dataFolder, now: session.now)
        let progress = Progress("restoring for a trial", in: session, reading: proven.opened, 3)
        let report = try withExtendedLifetime(scratch) {
            try drill.run(into: scratch.make(), reopened: scratch.open) { progress.step() }
        }
        progress.finish()
        var list = ChangeList(isDryRun: false, in: session)
        list.add(staying: report.stayingBehind)
        session.warn(each: report.failing.map(\.item.words)) {
            Remark("not restored", because: report.failing[$0].problem.words)
        }
        session.warn(each: report.differences.map(\.item.words)) {
            Remark("restored differently", because: report.differences[$0].difference.words)
        }
        guard report.isSame else {
            let differing = counted(report.differences.count + report.surplus, "item")
            throw Refusal(
                .damaged, "\(differing) read back differ from the archive",
                hint: "this is a bug, or the disk or the memory of this machine is failing: try it on another machine")
        }
        return report
    }
}

extension Session {
    /// Borrows the class keys of the keychain that an unencrypted archive was made from, if it is unlocked here.
    ///
    /// The keychain may be missing or damaged, which says nothing about the archive.
    func borrowKeys(for proven: ProvenArchive) {
        guard let stored = proven.stored, stored.hasPasscode, !stored.opensUnconstrained, proven.isFromThisDevice
        else { return }
        do {
            let source = try proven.opened.source()
            guard source.kind == ArchiveSource.keychain, LocalKeychain.isName(source.name) else { return }
            let local = try LocalKeychain(source.name, in: machine)
            guard try Path.exists(local.path) else { return }
            let keychain = try local.open(in: machine)
            try local.naming {
                try machine.unlocked.resume(keychain)
                _ = try keychain.form(ofSecretsUnder: stored.keybag)
            }
        } catch {
            note("no key is taken from the keychain: \(failure(of: error).explanation.message)")
        }
    }
}
