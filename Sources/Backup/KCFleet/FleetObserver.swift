internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
package import KCKeychainModel

/// Takes in receipts, in any order, and makes a `FleetReport` of them.
///
/// ```swift
/// var observer = FleetObserver(members: members, hasServerTimes: true)
/// if let name = observer.admit(path, on: day, size: 1_200) { observer.see(name, written: time, contents: bytes) }
/// let report = observer.report(days: [day], maximumAge: age, now: now)
/// ```
package struct FleetObserver {
    /// By how much a clock may be wrong, in seconds; servers such as S3 refuse a machine whose clock is more.
    package static let skewLimit: Int64 = 900
    // A shrinkage by more than this percentage is told, as for a folder of backups.
    private static let allowance = 20
    // Of files that are named in a report; more would only fill the screen.
    private static let rejectedLimit = 1_000
    // Of receipts of one device in a day: forty an hour.
    private static let dayLimit = 1_000
    // Of receipts of devices that no list names: a writer can make up any number of devices.
    private static let strangerLimit = 1_000
    // The same where there is no list.
    private static let anyLimit = 100_000

    private let members: FleetMembers
    private let hasServerTimes: Bool
    private var seen: [DeviceID: [Seen]] = [:]
    private var jobs: [ExactText] = []
    private var jobNumbers: [ExactText: Int] = [:]
    private var rejected: [FleetReport.Rejected] = []
    private var rejectedCount = 0
    private var junkCount = 0
    private var strangers = 0
    /// The day that is being read, and the receipts that each device has in it.
    private var admitted: (day: ReceiptDay, counts: [DeviceID: Int])?

    /// The parts of a receipt that are kept: a fleet has tens of thousands of receipts.
    private struct Seen {
        let time: Timestamp
        /// By the server's clock, if that is known.
        let written: Timestamp?
        let sequence: Int64
        let job: Int
        /// All jobs of the machine; empty if it does not say.
        let jobs: [Int]
        let result: Int32
        let good: Timestamp?
        let keySet: [UInt8]
        let counts: ItemCounts
        let archives: Int
        let size: UInt64
        let verified: Timestamp?

        /// When it was written, as far as is known.
        var reported: Timestamp { written ?? time }
        /// When a backup last ended well; the earlier of the two clocks counts, since a file can be written again.
        ///
        /// Nil if that is later than the receipt, as after a run with a clock that was fast.
        var lastGood: Timestamp? {
            if result == 0 { return min(time, reported) }
            guard let good, good <= time else { return nil }
            return min(good, reported)
        }
    }

    /// Creates an observer that has seen nothing.
    ///
    /// - Parameter hasServerTimes: true if the times of files are those of the server.
    package init(members: FleetMembers, hasServerTimes: Bool) {
        self.members = members
        self.hasServerTimes = hasServerTimes
    }

    /// Looks at a file by its path and size; those that are no receipts are counted and passed over.
    ///
    /// - Parameter path: below the folder of the day.
    /// - Returns: the name of a receipt that is to be read; nil for any other file.
    package mutating func admit(_ path: [UInt8], on day: ReceiptDay, size: UInt64) -> ReceiptName? {
        let file = { String(decoding: path, as: UTF8.self) }
        guard let name = ReceiptName(path: path, on: day) else {
            reject(file(), day, .name)
            return nil
        }
        if size > UInt64(Receipt.sizeLimit) {
            reject(file(), day, .receipt(.tooLarge))
            return nil
        }
        if !members.isNamed(name.device) {
            strangers += 1
            if strangers > (members.isEmpty ? Self.anyLimit : Self.strangerLimit) {
                reject(file(), day, .surplus)
                return nil
            }
        }
        if admitted?.day != day { admitted = (day, [:]) }
        admitted?.counts[name.device, default: 0] += 1
        if let count = admitted?.counts[name.device], count > Self.dayLimit {
            reject(file(), day, members.isNamed(name.device) ? .surplusOfMachine : .surplus)
            return nil
        }
        return name
    }

    /// Takes in a receipt.
    ///
    /// - Parameters:
    ///   - written: its time on the remote.
    ///   - contents: nil if it could not be read.
    package mutating func see(_ name: ReceiptName, written: Timestamp?, contents: [UInt8]?) {
        guard let contents else { return reject(name.path, name.day, .receipt(.unread)) }
        do throws(ReceiptProblem) {
            let receipt = try Receipt(verifying: contents)
            let stated = receipt.name
            guard stated == name else { throw .otherName(stated) }
            keep(receipt, hasServerTimes ? written : nil)
        } catch {
            reject(name.path, name.day, .receipt(error))
        }
    }

    private mutating func keep(_ receipt: Receipt, _ written: Timestamp?) {
        let (job, all) = (number(ofJob: receipt.job), receipt.jobs.map { number(ofJob: $0) })
        seen[receipt.device, default: []].append(
            Seen(
                time: receipt.time, written: written, sequence: receipt.sequence, job: job, jobs: all,
                result: receipt.result, good: receipt.good, keySet: receipt.keySet.bytes, counts: receipt.counts,
                archives: receipt.archiveCount, size: receipt.size, verified: receipt.verified))
    }

    private mutating func number(ofJob job: String) -> Int {
        if let number = jobNumbers[job.exact] { return number }
        jobNumbers[job.exact] = jobs.count
        jobs.append(job.exact)
        return jobs.count - 1
    }

    private mutating func reject(_ file: String, _ day: ReceiptDay, _ problem: FleetReport.Problem) {
        rejectedCount += 1
        if problem.isJunk { junkCount += 1 }
        if rejected.count < Self.rejectedLimit {
            rejected.append(FleetReport.Rejected(file: "\(day)/\(file)", problem: problem))
        }
    }

    /// The report of what was seen.
    ///
    /// - Parameters:
    ///   - days: those of which everything was seen.
    ///   - maximumAge: for machines whose line in the inventory has none; nil for any age.
    package func report(days: [ReceiptDay], maximumAge: MaximumAge?, now: Timestamp) -> FleetReport {
        let devices = Set(members.inventory.keys).union(seen.keys)
        let machines = devices.map { machine($0, maximumAge, now) }
        // Machines without a name come last.
        let sorted = machines.sorted { left, right in
            let names = (left.name?.exact, right.name?.exact)
            if let name = names.0, let other = names.1, name != other { return name < other }
            if (names.0 == nil) != (names.1 == nil) { return names.0 != nil }
            return left.device.description.exact < right.device.description.exact
        }
        return FleetReport(
            days: days, machines: sorted, rejected: rejected, rejectedCount: rejectedCount,
            junkCount: junkCount, hasServerTimes: hasServerTimes)
    }

    private func machine(_ device: DeviceID, _ usual: MaximumAge?, _ now: Timestamp) -> FleetReport.Machine {
        var machine = FleetReport.Machine(device: device, name: members.name(of: device))
        let receipts = (seen[device] ?? []).sorted { ($0.reported, $0.sequence) < ($1.reported, $1.sequence) }
        machine.receipts = receipts.count
        var states: Set<FleetReport.State> = []
        let expectation = members.inventory[device]?.expectation
        guard let newest = receipts.last else {
            machine.states = expectation == .nothing ? [] : [.absent]
            return machine
        }
        if members.known[device] == nil { states.insert(.unknown) }
        machine.reported = newest.reported
        // A machine is as well as the job that is longest without a good run. A job that the newest receipt does not
        // list was removed.
        let expected = Set(newest.jobs.isEmpty ? receipts.map(\.job) : newest.jobs)
        let goods = expected.map { job in receipts.filter { $0.job == job }.compactMap(\.lastGood).max() }
        machine.good = goods.contains(nil) ? nil : goods.compactMap { $0 }.min()
        let age: MaximumAge? =
            switch expectation {
            case .within(let age): age
            case .nothing: nil
            case .usual, nil: usual
            }
        if let age {
            let since = now.advanced(byMicroseconds: -age.microseconds)
            if machine.good.map({ $0 < since }) ?? true { states.insert(.late) }
        }
        machine.skew = newest.written.map { newest.time.seconds - $0.seconds }
        let skew = machine.skew.map(abs) ?? max(0, newest.time.seconds - now.seconds)
        if skew > Self.skewLimit { states.insert(.clock) }
        switch Self.order(receipts) {
        case .right: break
        // Whoever writes the times of receipts may also have set a clock right.
        case .backwards: states.insert(hasServerTimes ? .replayed : .clock)
        case .twice: states.insert(.replayed)
        }
        for job in Set(receipts.map(\.job)) {
            let (state, result) = self.job(receipts.filter { $0.job == job })
            states.formUnion(state)
            machine.jobs.append(result)
        }
        machine.jobs.sort { $0.name.exact < $1.name.exact }
        machine.states = states.sorted()
        return machine
    }

    /// How the numbers of receipts follow each other.
    private enum Order {
        case right
        /// A number was used twice.
        case twice
        /// A number is smaller than one of long before.
        case backwards
    }

    /// Two jobs that end at the same time may write their receipts in another order than they took their numbers.
    private static func order(_ receipts: [Seen]) -> Order {
        if Set(receipts.map(\.sequence)).count < receipts.count { return .twice }
        var settled = receipts.startIndex
        var greatest = Int64.min
        for receipt in receipts {
            while receipt.reported.seconds - receipts[settled].reported.seconds > skewLimit {
                greatest = max(greatest, receipts[settled].sequence)
                settled += 1
            }
            if receipt.sequence < greatest { return .backwards }
        }
        return .right
    }

    /// Judges the runs of one job, of which there is at least one, in their order.
    private func job(_ runs: [Seen]) -> (Set<FleetReport.State>, FleetReport.Job) {
        let newest = runs[runs.count - 1]
        // A run that failed, and found fewer archives than before or none, says nothing about what is in them.
        var found: [Seen] = []
        for run in runs where run.result == 0 || run.archives >= max(1, found.last?.archives ?? 0) { found.append(run) }
        let before = found.dropLast().last
        let last = found.last ?? newest
        var states: Set<FleetReport.State> = []
        if newest.result != 0 { states.insert(newest.result == Self.shrunk ? .shrunk : .failed) }
        // Within the days that were read, a loss does not disappear with the next run.
        for (earlier, later) in zip(found, found.dropFirst()) {
            if earlier.keySet != later.keySet { states.insert(.keys) }
            if Self.isFarLess(later.counts, than: earlier.counts) { states.insert(.shrunk) }
        }
        return (
            states,
            FleetReport.Job(
                name: jobs[newest.job].string, result: newest.result, items: last.counts.total,
                before: before?.counts.total, archives: last.archives, size: last.size, verified: last.verified)
        )
    }

    // The exit status of a run that would have saved far fewer items (README, "Exit codes").
    private static let shrunk: Int32 = 15

    /// True if many items, or all of a kind, are gone.
    private static func isFarLess(_ counts: ItemCounts, than before: ItemCounts) -> Bool {
        (before.total - counts.total) * 100 > before.total * allowance
            || ItemClass.allCases.contains { before[$0] > 0 && counts[$0] == 0 }
    }
}
