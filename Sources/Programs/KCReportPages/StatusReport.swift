package import KCBackupCatalogue
package import KCKeychainModel

/// The contents of the page of `status`: all jobs and all stores that are backed up, and what is wrong.
package struct StatusReport {
    /// Something that is not as it should be, and what to do about it.
    package struct Problem {
        /// Displayed text.
        package let words: String
        /// Displayed text.
        package let hints: [String]

        package init(_ words: String, _ hints: [String]) {
            self.words = words
            self.hints = hints
        }
    }

    /// A job and its last run; the texts are not displayed ones.
    package struct Job {
        let name: String
        let time: String
        let good: Timestamp?
        let items: Int?
        let lastRun: String
        let isGood: Bool
        let folder: String

        /// - Parameters:
        ///   - time: when it runs.
        ///   - good: when the last successful run ended.
        ///   - items: the number of items in the archives of that run; nil if there is none.
        ///   - lastRun: how the last run ended.
        ///   - isGood: true if it ended well.
        package init(
            name: String, time: String, good: Timestamp?, items: Int?, lastRun: String, isGood: Bool, folder: String
        ) {
            self.name = name
            self.time = time
            self.good = good
            self.items = items
            self.lastRun = lastRun
            self.isGood = isGood
            self.folder = folder
        }
    }

    /// The copies of a job in one folder of a remote; the texts are not displayed ones.
    package struct Copies {
        let to: String
        let job: String
        let good: Timestamp?
        let readBack: Timestamp?
        let lastTry: String
        let isGood: Bool

        /// - Parameters:
        ///   - good: when all copies that were due were last there.
        ///   - readBack: when the newest copies were last read back.
        ///   - lastTry: how the last try ended.
        ///   - isGood: true if it ended well.
        package init(
            to: String, job: String, good: Timestamp?, readBack: Timestamp?, lastTry: String, isGood: Bool
        ) {
            self.to = to
            self.job = job
            self.good = good
            self.readBack = readBack
            self.lastTry = lastTry
            self.isGood = isGood
        }
    }

    /// The receipts of a job in the folder of its fleet; the texts are not displayed ones.
    package struct Receipts {
        let to: String
        let job: String
        let written: Timestamp?
        let lastTry: String
        let isGood: Bool

        /// - Parameters:
        ///   - written: when the newest one was written.
        ///   - lastTry: how the last try ended.
        ///   - isGood: true if it ended well.
        package init(to: String, job: String, written: Timestamp?, lastTry: String, isGood: Bool) {
            self.to = to
            self.job = job
            self.written = written
            self.lastTry = lastTry
            self.isGood = isGood
        }
    }

    /// A keychain or keyring and its archives.
    package struct Store {
        let name: String
        let good: Timestamp?
        let jobs: [String]
        let lateJobs: [String]
        let entries: [CatalogueEntry]
        let folders: [String]

        /// - Parameters:
        ///   - good: when a backup of it last succeeded.
        ///   - jobs: the jobs that back it up.
        ///   - lateJobs: those of them that have not ended well for longer than their calendars allow.
        ///   - entries: its archives in all folders.
        ///   - folders: these folders.
        package init(
            name: String, good: Timestamp?, jobs: [String], lateJobs: [String], entries: [CatalogueEntry],
            folders: [String]
        ) {
            self.name = name
            self.good = good
            self.jobs = jobs
            self.lateJobs = lateJobs
            self.entries = entries
            self.folders = folders
        }
    }

    /// A recovery kit; the texts are not displayed ones.
    package struct Kit {
        let name: String
        let made: Timestamp
        let checked: Timestamp?
        let isDue: Bool
        let comment: String

        /// - Parameters:
        ///   - checked: when it was last tried; nil for never.
        ///   - isDue: true if that is too long ago.
        package init(name: String, made: Timestamp, checked: Timestamp?, isDue: Bool, comment: String) {
            self.name = name
            self.made = made
            self.checked = checked
            self.isDue = isDue
            self.comment = comment
        }
    }

    /// The most urgent first.
    let problems: [Problem]
    let stores: [Store]
    let jobs: [Job]
    let copies: [Copies]
    let receipts: [Receipts]
    let kits: [Kit]
    /// The jobs that cannot be read, and why, as displayed text.
    let unreadable: [(name: String, words: String)]
    /// When the page is made.
    let made: Timestamp
    /// The calendar by which archives belong to days.
    let calendar: LocalCalendar

    /// Creates a report; the properties describe the parameters.
    package init(
        problems: [Problem], stores: [Store], jobs: [Job], copies: [Copies], receipts: [Receipts], kits: [Kit],
        unreadable: [(name: String, words: String)], made: Timestamp, calendar: LocalCalendar
    ) {
        self.problems = problems
        self.stores = stores
        self.jobs = jobs
        self.copies = copies
        self.receipts = receipts
        self.kits = kits
        self.unreadable = unreadable
        self.made = made
        self.calendar = calendar
    }
}
