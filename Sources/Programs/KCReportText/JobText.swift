internal import KCBackupCatalogue
package import KCBackupJobs
internal import KCByteStreams
internal import KCKeychainModel

extension BackupState {
    /// The metrics of copies; none if no job copies.
    private var copyMetrics: [String] {
        copyMetric("last_good_timestamp_seconds", "When all copies of a job were last on a remote; 0 for never.") {
            seconds($0.good)
        }
            + copyMetric("there", "How many copies of a job's archives are on a remote, as of the last run.") {
                Int64($0.record?.there.count ?? 0)
            }
            + copyMetric("missing", "How many copies are gone that no rule by age removed, and are not there again.") {
                Int64($0.record?.missing ?? 0)
            }
            + copyMetric("damaged", "How many copies are other files than they should be.") {
                Int64($0.record?.damaged ?? 0)
            }
            + copyMetric("not_read_back", "How many copies were never read back, since the credentials may not read.") {
                Int64($0.record?.unread ?? 0)
            }
            + copyMetric(
                "oldest_read_back_timestamp_seconds",
                "When the copy was read back that was not for the longest time; 0 if one never was."
            ) { seconds($0.record?.verified) }
            + copyMetric("oldest_timestamp_seconds", "When the oldest of these was made; 0 if there is none.") {
                seconds($0.record?.oldest)
            }
    }

    private func copyMetric(
        _ suffix: String, _ help: String, _ value: (BackupState.CopyState) -> Int64
    ) -> [String] {
        let name = "kcbackup_copies_\(suffix)"
        let values = jobs.flatMap { job in
            job.copies.map { copies in
                "\(name){job=\"\(Quoted.metricLabel(job.job.name))\",to=\"\(Quoted.metricLabel(copies.to))\"} "
                    + "\(value(copies))\n"
            }
        }
        return values.isEmpty ? [] : ["# HELP \(name) \(help)\n", "# TYPE \(name) gauge\n"] + values
    }

    /// The metrics of receipts; none if no job is in a fleet.
    private var receiptMetrics: [String] {
        let name = "kcbackup_last_receipt_timestamp_seconds"
        let values = jobs.compactMap { job in
            job.receipts.map { receipts in
                "\(name){job=\"\(Quoted.metricLabel(job.job.name))\",fleet=\"\(Quoted.metricLabel(receipts.to))\"} "
                    + "\(seconds(receipts.written))\n"
            }
        }
        if values.isEmpty { return [] }
        return [
            "# HELP \(name) When a job last wrote a receipt into its fleet; 0 for never.\n", "# TYPE \(name) gauge\n",
        ]
            + values
    }

    /// The metrics in Prometheus's text format.
    package var metrics: [String] {
        func metric(_ name: String, _ help: String, _ values: [(label: String, name: String, value: Int64)]) -> [String]
        {
            ["# HELP \(name) \(help)\n", "# TYPE \(name) gauge\n"]
                + values.map { "\(name){\($0.label)=\"\(Quoted.metricLabel($0.name))\"} \($0.value)\n" }
        }
        return metric(
            "kcbackup_last_good_timestamp_seconds", "End of the last run of a job that ended well; 0 for never.",
            jobs.map { ("job", $0.job.name, seconds($0.good)) } + unreadable.map { ("job", $0.name, 0) })
            + metric(
                "kcbackup_last_exit_code", "Exit code of the last run of a job.",
                jobs.compactMap { state in
                    state.record.flatMap { $0.ended == nil ? nil : ("job", state.job.name, Int64($0.outcome.code)) }
                })
            + metric(
                "kcbackup_items", "Items in the archives of the last good run of a job.",
                jobs.map { ("job", $0.job.name, Int64($0.record?.items ?? 0)) })
            + copyMetrics + receiptMetrics
            + metric(
                "kcbackup_keychain_last_good_timestamp_seconds", "Last good backup of a keychain; 0 for never.",
                stores.map { ("keychain", $0.name, seconds($0.good)) })
            + metric(
                "kcbackup_newest_missing", "Folders where the newest backup of a keychain is gone or replaced.",
                stores.map { state in
                    ("keychain", state.name, Int64(lost.count { $0.series.exact == state.series.exact }))
                })
            + [
                "# HELP kcbackup_unreadable_catalogues Folders of backups whose catalogues cannot be read.\n",
                "# TYPE kcbackup_unreadable_catalogues gauge\n",
                "kcbackup_unreadable_catalogues \(failures.count)\n",
            ]
    }
}
