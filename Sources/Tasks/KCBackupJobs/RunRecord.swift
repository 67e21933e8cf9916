internal import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel

/// How a run ended: the exit status of the program, whose numbers never change their meaning.
package struct RunOutcome: Hashable, Sendable {
    /// The number; 0 for success.
    package let code: Int32

    package static let good = RunOutcome(code: 0)
    /// Some items could not be read.
    package static let incomplete = RunOutcome(code: 3)
    /// A store is locked, or out of reach.
    package static let locked = RunOutcome(code: 14)
    /// The backup is good, and a copy or its receipt is missing.
    package static let notCopied = RunOutcome(code: 19)
    /// A place is out of reach, or a disk is full.
    package static let io = RunOutcome(code: 74)

    /// True if a signal has ended the run.
    package var isOfSignal: Bool { code == 130 || code == 143 }

    package init(code: Int32) { self.code = code }
}

/// The results of a job's last runs.
package struct RunRecord: Hashable, Sendable {
    /// When the last run began.
    package var began: Timestamp
    /// When it ended; nil if it is still running or was killed.
    package var ended: Timestamp?
    /// How it ended.
    package var outcome = RunOutcome.good
    /// The error, in one line.
    package var message = ""
    /// The ways to fix it, one hint per line.
    package var hints: [String] = []
    /// When the last successful run ended.
    package var good: Timestamp?
    /// The number of items in its archives.
    package var items = 0
    /// The marks of the files whose changes start the job, as the last run found them; nil if it did not look, or if a
    /// change was so recent that a later one may not show.
    package var seen: [String]?

    private static let noFile = "none"

    package init(began: Timestamp) {
        self.began = began
    }

    package var fields: StateFields {
        var fields = StateFields()
        fields.add("began", began.description)
        if let ended {
            fields.add("ended", ended.description)
            fields.add("status", String(outcome.code))
        }
        if !message.isEmpty { fields.add("message", Self.oneLine(message)) }
        fields.add("hint", hints.map(Self.oneLine))
        if let good {
            fields.add("good", good.description)
            fields.add("items", String(items))
        }
        if let seen { fields.add("seen", seen.isEmpty ? [Self.noFile] : seen) }
        return fields
    }

    /// Parses what `fields` returns; nil for anything else.
    package init?(_ fields: StateFields) {
        func time(_ name: String) -> Timestamp? { fields.values(name).first.flatMap(Timestamp.init) }
        guard let began = time("began") else { return nil }
        self.began = began
        ended = time("ended")
        if ended != nil {
            guard let code = fields.values("status").first.flatMap(Int32.init) else { return nil }
            outcome = RunOutcome(code: code)
        }
        message = fields.values("message").first ?? ""
        hints = fields.values("hint")
        good = time("good")
        if good != nil {
            guard let items = fields.values("items").first.flatMap(Int.init) else { return nil }
            self.items = items
        }
        let marks = fields.values("seen")
        if !marks.isEmpty { seen = marks.map(\.exact) == [Self.noFile.exact] ? [] : marks }
        guard self.fields == fields else { return nil }
    }

    /// True if it has not ended within `Job.longestRunInHours`; until it ends, no other run can begin.
    package func isOverdue(at now: Timestamp) -> Bool {
        ended == nil && now.seconds - began.seconds > Job.longestRunInHours * 3_600
    }

    /// True if the run failed because of a failure that is there now: it is the same, or has the same remedy.
    func isCaused(by failure: CopyRecord.Failed) -> Bool {
        outcome == failure.outcome
            && (message == failure.message || !failure.hints.isEmpty && hints == failure.hints)
    }

    /// True if the run has found files with these marks, and ended by itself: a failed one would only fail again.
    package func hasSeen(_ marks: WatchedFiles.Marks) -> Bool {
        ended != nil && !outcome.isOfSignal && seen?.map(\.exact) == marks.texts.map(\.exact)
    }

    static func oneLine(_ text: String) -> String {
        let bytes = text.utf8.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
