internal import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel

/// The state of the machines of a fleet, according to its receipts.
package struct FleetReport: Sendable {
    /// The problems that a machine may have, from the gravest on.
    package enum State: String, CaseIterable, Comparable, Sendable {
        /// There is no receipt of an expected machine in the days that were read.
        case absent
        /// The last good backup of one of its jobs is too old.
        case late
        /// Far fewer items than in the receipt before, or its run ended for that reason.
        case shrunk
        /// The newest run of a job did not end well.
        case failed
        /// Two receipts have the same number, or a later one has a smaller number: the device was copied or put back.
        case replayed
        /// Its signature is valid, and no list names the device.
        case unknown
        /// The archives open with other keys than in the receipt before.
        case keys
        /// The clock of the machine differs from the server's.
        case clock

        package static func < (left: State, right: State) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    package struct Machine: Sendable {
        package let device: DeviceID
        /// The name that people use for it; nil if no list has one.
        package let name: String?
        /// The problems of the machine, the gravest first; empty if all is well.
        package var states: [State] = []
        /// When its newest receipt was written: by the clock of the server if that is known, else by its own.
        package var reported: Timestamp?
        /// When the job that is longest without one last had a good run; nil if one never had.
        package var good: Timestamp?
        /// By how many seconds its clock is ahead of the server's; nil if that is unknown.
        package var skew: Int64?
        /// The number of receipts that were read.
        package var receipts = 0
        /// Its jobs, by name.
        package var jobs: [Job] = []

        /// True if it has reported, and nothing is wrong with it.
        package var isWell: Bool { states.isEmpty && receipts > 0 }
        /// True if nothing is expected of it, and it has not reported: nothing is known of it.
        package var isUnheard: Bool { states.isEmpty && receipts == 0 }
    }

    /// The newest run of a job.
    package struct Job: Sendable {
        package let name: String
        /// The exit status.
        package let result: Int32
        /// The number of items in its newest archives.
        package let items: Int
        /// The number of items in the receipt before; nil if there is none in the days that were read.
        package let before: Int?
        /// The number of its newest archives, one for each keychain.
        package let archives: Int
        /// Their size in bytes.
        package let size: UInt64
        /// When the archive that was not verified for the longest time was verified.
        package let verified: Timestamp?
    }

    /// A file that is no receipt of the machine and the day that it is filed under.
    package struct Rejected: Hashable, Sendable {
        /// The folder and the name of the file.
        package let file: String
        package let problem: Problem
    }

    /// Why a file says nothing.
    package enum Problem: Hashable, Sendable {
        /// Its path is not one of a receipt.
        case name
        /// There are more of devices that no list names than are read.
        case surplus
        /// There are more of this device, which a list names, than are read: its own may be among them.
        case surplusOfMachine
        case receipt(ReceiptProblem)

        /// True if any writer of the folder can have made the file, and it says nothing about a machine.
        var isJunk: Bool {
            switch self {
            case .surplusOfMachine: false
            case .name, .surplus, .receipt(.tooLarge), .receipt(.forged), .receipt(.otherSigner), .receipt(.otherName):
                true
            case .receipt(.malformed), .receipt(.unread), .receipt(.cryptography): false
            }
        }
    }

    /// The days that were read.
    package let days: [ReceiptDay]
    /// The machines that are expected or have reported, by name and ID.
    package let machines: [Machine]
    /// The first of the files that say nothing.
    package let rejected: [Rejected]
    /// The number of all of them.
    package let rejectedCount: Int
    /// The number of those among them that anyone who may write there can have put there.
    package let junkCount: Int
    /// True if times are those of the server, which no machine can choose.
    package let hasServerTimes: Bool

    /// The number of machines in a state.
    package func count(_ state: State) -> Int { machines.count { $0.states.contains(state) } }

    /// The number of machines with which all is well.
    package var goodCount: Int { machines.count { $0.isWell } }

    /// The number of machines of which nothing is expected or known.
    package var unheardCount: Int { machines.count { $0.isUnheard } }
}

/// Who may be believed, and who is expected.
package struct FleetMembers: Sendable {
    /// The devices that are believed, with their names; an ID is a hash of the key, so nothing else is needed.
    let known: [DeviceID: String]
    /// The machines that should report.
    let inventory: [DeviceID: Inventory.Machine]

    /// Describes the members of a fleet.
    ///
    /// - Parameters:
    ///   - signers: the only devices that are believed; nil to believe those of the inventory and of `trusted`.
    ///   - trusted: devices that the user trusts, with their names.
    package init(inventory: Inventory?, signers: AllowedSigners?, trusted: [DeviceID: String]) {
        self.inventory = inventory?.machines ?? [:]
        known = signers?.devices ?? trusted.merging(self.inventory.mapValues(\.name)) { $1 }
    }

    /// True if no list names a device.
    var isEmpty: Bool { known.isEmpty && inventory.isEmpty }

    /// True if a list names a device.
    func isNamed(_ device: DeviceID) -> Bool { known[device] != nil || inventory[device] != nil }

    /// True if the signature of a device counts.
    package func isKnown(_ device: DeviceID) -> Bool { known[device] != nil }

    /// The devices whose signatures count.
    package var devices: [DeviceID] { Array(known.keys) }

    /// Returns the name that people use for a machine; nil if no list has one.
    package func name(of device: DeviceID) -> String? {
        if let machine = inventory[device] { return machine.name }
        return known[device].flatMap { $0.isEmpty ? nil : $0 }
    }
}
