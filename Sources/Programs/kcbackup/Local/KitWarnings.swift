internal import KCBackupJobs
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRecoveryKits
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension Session {
    /// Where the jobs of this device put their backups, without duplicates; those of jobs that cannot be read are missing,
    /// with a warning.
    func backupPlaces() -> [String] {
        let jobs = Jobs(machine)
        var places: [String] = []
        do {
            for name in try jobs.names() {
                let job = try jobs.job(name)
                for place in [job.folder] + job.copyTo + (job.fleet.map { [$0] } ?? [])
                where !places.contains(where: { $0.exact == place.exact }) {
                    places.append(place)
                }
            }
        } catch {
            warn("the sheet may not say where all backups are: \(failure(of: error).explanation.message)")
        }
        return places
    }

    /// Warns of the recovery kits that open a new archive and were not tried for a year, in one line if there are several.
    ///
    /// A nightly run says it of a kit only once that has gone without a try for a year.
    ///
    /// - Throws: as `Machine.recoveryKits`.
    func noteKits() throws {
        let isWatched = !style.isQuiet && (world.terminal.showsMessages || style.isVerbose)
        let untried = try machine.recoveryKits().filter { kit in
            kit.retired == nil && kit.doubt(at: now) != nil && (isWatched || kit.isOverdue(at: now))
        }
        // A warning that one kit has of its own, as of a sheet that may not be complete, is not lost among the others.
        let alike = untried.filter { $0.isMerelyUntried(at: now) }
        for kit in untried where alike.count < 2 || !kit.isMerelyUntried(at: now) {
            if let doubt = kit.doubt(at: now) { warn(doubt) }
        }
        if alike.count > 1 {
            warn(
                "\(alike.count) recovery kits open it too, and were not tried lately: "
                    + "\(listed(alike.map { "\($0.fingerprint)" })): 'kcbackup recovery check'")
        }
    }
}

extension RecoveryKit {
    /// The advice about a kit whose making was ended.
    var unprintedWords: String {
        "the run that made recovery kit \(fingerprint) was ended, perhaps before its sheet was complete: try the sheet "
            + "with 'kcbackup recovery check', or without one 'kcbackup recovery retire \(fingerprint)'"
    }

    /// True if some of its shares were tried, and others were not.
    private var isPartlyTried: Bool { (1..<(shares?.count ?? 1)).contains(untriedShares.count) }

    /// True if the only doubt is that the kit was not tried for a year.
    func isMerelyUntried(at now: Timestamp) -> Bool {
        isPrinted && !isPartlyTried && checked.map { $0 <= now } != false
    }

    /// Why nobody should rely on it; nil if somebody has tried it lately.
    func doubt(at now: Timestamp) -> String? {
        if !isPrinted { return unprintedWords }
        return switch rehearsal(at: now) {
        case .recent: nil
        case .never where isPartlyTried:
            "\(shareWords(untriedShares)) of recovery kit \(fingerprint) "
                + "\(untriedShares.count == 1 ? "was" : "were") never tried: 'kcbackup recovery check'"
        case .never: "recovery kit \(fingerprint) was never tried: 'kcbackup recovery check'"
        case .old where checked.map { $0 > now } == true:
            "recovery kit \(fingerprint) was last tried at a time in the future: 'kcbackup recovery check'"
        case .old: "recovery kit \(fingerprint) was not tried for more than a year: 'kcbackup recovery check'"
        }
    }
}

/// Shares by their numbers, as in "share 1" and "shares 1 and 3".
func shareWords(_ numbers: [Int]) -> String {
    (numbers.count == 1 ? "share " : "shares ") + listed(numbers.map { String($0) })
}
