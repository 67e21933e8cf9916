internal import KCByteStreams
internal import KCDeviceIdentity
package import KCFleet
package import KCKeychainModel
internal import KCKeychainStore

extension FleetIndex {
    // The number of items that are read in one transaction, so that an indexer need not wait for a slow reader.
    private static let pageSize = 1_000

    /// Passes on every item of the newest archive of each keychain, keychain by keychain.
    ///
    /// Archives that another process adds meanwhile do not count.
    ///
    /// - Parameters:
    ///   - time: only archives that were made before this count; nil for all.
    ///   - shard: the part of the machines that counts; nil for all.
    /// - Returns: the number of keychains.
    /// - Throws: `FleetIndexFailure`, and what `body` throws.
    package func visitItems(
        before time: Timestamp?, of shard: FleetShard? = nil, _ body: (FoundItem) throws -> Void
    ) throws -> Int {
        let states = try states(before: time).filter { shard?.contains($0.device) ?? true }
        for state in states {
            var last: Int64 = 0
            while let page = try page(of: state, after: &last) {
                if Interruption.isRequested { throw FleetIndexFailure.interrupted }
                for item in page { try body(item) }
            }
        }
        return states.count
    }

    /// The contents of a keychain at a time.
    private struct State {
        let device: DeviceID
        let series: Int64
        let contents: Int64
        /// When the archive was made.
        let seen: Int64
    }

    private func states(before time: Timestamp?) throws -> [State] {
        try failing {
            try database.read {
                let rows = try database.statement(
                    time == nil
                        ? """
                        SELECT series.id, contents, newest, device FROM series CROSS JOIN machine \
                        ON machine.id = series.machine ORDER BY series.id
                        """
                        : """
                        SELECT series.id, archive.contents, archive.created, device FROM series CROSS JOIN archive \
                        ON archive.id = \(Self.newestArchive(before: "?1")) CROSS JOIN machine \
                        ON machine.id = series.machine ORDER BY series.id
                        """)
                if let time { try rows.bind(time.microseconds, 1) }
                var states: [State] = []
                while try rows.step() {
                    guard let device = rows.text(3).flatMap({ DeviceID($0) }) else {
                        throw FleetIndexFailure.damaged(path)
                    }
                    states.append(
                        State(
                            device: device, series: rows.integer(0), contents: rows.integer(1), seen: rows.integer(2)))
                }
                return states
            }
        }
    }

    /// The next items of a keychain; nil at the end.
    ///
    /// - Parameter last: the row of the last item that was read, 0 for none.
    private func page(of state: State, after last: inout Int64) throws -> [FoundItem]? {
        try failing {
            try database.read {
                let rows = try database.statement(
                    """
                    SELECT \(FoundItem.columns), ?1, item.id FROM holds CROSS JOIN item ON item.id = holds.item \
                    CROSS JOIN series ON series.id = item.series CROSS JOIN machine ON machine.id = series.machine \
                    WHERE holds.contents = ?2 AND holds.item > ?3 ORDER BY holds.item LIMIT ?4
                    """)
                try rows.bind(state.seen, 1)
                try rows.bind(state.contents, 2)
                try rows.bind(last, 3)
                try rows.bind(Int64(Self.pageSize), 4)
                var page: [FoundItem] = []
                while try rows.step() {
                    guard let item = FoundItem(rows) else { throw FleetIndexFailure.damaged(path) }
                    page.append(item)
                    last = rows.integer(15)
                }
                return page.isEmpty ? nil : page
            }
        }
    }
}
