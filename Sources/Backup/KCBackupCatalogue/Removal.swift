package import KCKeychainModel

extension CatalogueEntry {
    /// When an archive was moved to the trash, and for how long it has been there.
    package struct Removal: Hashable, Sendable {
        /// When it was moved; later than the date of every earlier removal in the folder, whatever the clock said.
        package let date: Timestamp
        /// The readings of the clock at the removal and in the runs since, in ascending order: the two earliest times
        /// and the two latest.
        private(set) var readings: [Timestamp]

        private static let readingCount = 4
        // 20 hours: what a clock says within one night counts once, and runs that begin each day a little earlier count.
        private static let spacingInMicroseconds: Int64 = 20 * 3_600_000_000

        /// Creates an instance with at least one reading of the clock; nil if there are none, or more than are kept.
        init?(date: Timestamp, readings: [Timestamp]) {
            guard (1...Self.readingCount).contains(readings.count) else { return nil }
            self.date = date
            self.readings = readings.sorted()
        }

        /// Creates the record of a removal that takes place now.
        init(date: Timestamp, now: Timestamp) {
            self.date = date
            readings = [now]
        }

        /// Adds what the clock says in a run.
        mutating func read(_ now: Timestamp) {
            let isKnown = readings.contains {
                abs(now.microseconds - $0.microseconds) < Self.spacingInMicroseconds
            }
            if isKnown { return }
            readings.append(now)
            readings.sort()
            if readings.count > Self.readingCount { readings.remove(at: Self.readingCount / 2) }
        }

        /// For how long the archive has been in the trash at least, even if one reading is wrong.
        ///
        /// A wrong one may be the earliest or the latest, so neither counts: whichever it is, the archive was in the trash
        /// from the second earliest to the second latest.
        var timeInMicroseconds: Int64 {
            guard readings.count == Self.readingCount else { return 0 }
            return readings[readings.count - 2].microseconds - readings[1].microseconds
        }
    }
}
