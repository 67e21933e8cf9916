internal import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel

/// The known state of a job's receipts in the folder of its fleet.
///
/// ```
/// to nas:fleet
/// tried 2026-11-24T03:15:02.120000Z
/// good 2026-11-24T03:15:01.000000Z
/// written 2026-11-24T03:15:02.120000Z nas:fleet/receipts/2026-11-24/KC-…-031502Z-142.json
/// ```
package struct ReceiptRecord: Hashable, Sendable {
    /// A receipt that was written and read back.
    package struct Written: Hashable, Sendable {
        /// When.
        package let time: Timestamp
        /// Where it is, as `REMOTE:PATH`.
        package let file: String

        /// Creates a description of a receipt.
        package init(time: Timestamp, file: String) {
            self.time = time
            self.file = file
        }
    }

    /// The folder of the fleet, as `REMOTE:PATH`.
    package let to: String
    /// When a run last tried to write one.
    package var tried: Timestamp
    /// Why it failed; nil if it did not.
    package var failed: CopyRecord.Failed?
    /// When a run last ended well, with all archives that were due in the fleet.
    package var good: Timestamp?
    /// The newest receipt.
    package var written: Written?

    /// Creates the record of a first try.
    package init(to: String, tried: Timestamp) {
        self.to = to
        self.tried = tried
    }

    package var fields: StateFields {
        var fields = StateFields()
        fields.add("to", to)
        fields.add("tried", tried.description)
        if let failed {
            fields.add("failed", "\(failed.outcome.code) \(RunRecord.oneLine(failed.message))")
            fields.add("hint", failed.hints.map(RunRecord.oneLine))
        }
        fields.add("good", good?.description)
        if let written { fields.add("written", "\(written.time) \(written.file)") }
        return fields
    }

    /// Parses what `fields` returns; nil for anything else.
    package init?(_ fields: StateFields) {
        guard let to = fields.values("to").first, let tried = fields.values("tried").first.flatMap(Timestamp.init)
        else { return nil }
        self.init(to: to, tried: tried)
        good = fields.values("good").first.flatMap(Timestamp.init)
        if let line = fields.values("failed").first {
            guard let failed = CopyRecord.Failed(line, hints: fields.values("hint")) else { return nil }
            self.failed = failed
        }
        if let line = fields.values("written").first {
            let parts = line.exact.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let time = Timestamp(parts[0]) else { return nil }
            written = Written(time: time, file: parts[1])
        }
        // A record has one spelling, so this detects lines that were not read.
        guard self.fields == fields else { return nil }
    }
}
