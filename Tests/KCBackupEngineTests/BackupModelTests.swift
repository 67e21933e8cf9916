import KCAgeEncryption
import KCBackupArchive
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// Two devices with a keychain each, and their archives, without files and keys.
private struct BackupModel {
    struct Entry: Equatable {
        let accessibility: Accessibility
        var secret: Int
        /// The operation that changed it last.
        var changed: Int
    }

    struct Archive {
        let device: Int
        let isEncrypted: Bool
        let entries: [Int: Entry]
    }

    var keychains: [[Int: Entry]] = [[:], [:]]
    var archives: [Archive] = []

    /// Performs an operation, and returns true unless it is refused.
    mutating func perform(_ operation: Operation, _ now: Int) -> Bool {
        switch operation {
        case .set(let device, let name, let accessibility, let secret):
            keychains[device][name] = Entry(
                accessibility: keychains[device][name]?.accessibility ?? accessibility, secret: secret, changed: now)
        case .delete(let device, let name): keychains[device][name] = nil
        case .backUp(let device, let isEncrypted):
            let entries = keychains[device].filter { $0.value.accessibility != .whenPasscodeSetThisDeviceOnly }
            archives.append(Archive(device: device, isEncrypted: isEncrypted, entries: entries))
        case .restore(let device, let number, let policy, let requiresAll):
            guard !archives.isEmpty else { return true }
            let archive = archives[number % archives.count]
            let isHere = archive.device == device
            if !isHere, !archive.isEncrypted { return false }
            let records = archive.entries.filter { isHere || !$0.value.accessibility.isThisDeviceOnly }
            if requiresAll, records.count < archive.entries.count { return false }
            if policy == .fail,
                records.contains(where: { keychains[device][$0] != nil && keychains[device][$0] != $1 })
            {
                return false
            }
            keychains[device].merge(records) { local, record in
                switch policy {
                case .overwrite: record
                case .newer: record.changed > local.changed ? record : local
                case .keep, .fail: local
                }
            }
        }
        return true
    }

    enum Operation {
        case set(Int, Int, Accessibility, Int)
        case delete(Int, Int)
        case backUp(Int, isEncrypted: Bool)
        case restore(Int, archive: Int, ConflictPolicy, requiresAll: Bool)

        init(_ random: inout SeededRandom) {
            let (device, name) = (Int.random(in: 0..<2, using: &random), Int.random(in: 0..<5, using: &random))
            let number = Int.random(in: 0..<1_000_000, using: &random)
            switch Int.random(in: 0..<16, using: &random) {
            case 0...5:
                let accessibility = Accessibility.allCases.randomElement(using: &random) ?? .always
                self = .set(device, name, accessibility, number)
            case 6...7: self = .delete(device, name)
            case 8...10: self = .backUp(device, isEncrypted: number % 3 > 0)
            default:
                let policies: [ConflictPolicy] = [.newer, .keep, .overwrite, .fail]
                self = .restore(
                    device, archive: number, policies[number % 4], requiresAll: (number / 4).isMultiple(of: 4))
            }
        }
    }
}

@Suite("Backups of two devices and their model")
struct BackupModelTests {
    private static let rounds = ModelRun.isWhole ? 250 : 2
    private static let length = 60
    private static let seed: UInt64 = 52

    @Test("Any run of changes, backups and restores on two devices leaves what the rules say")
    func model() throws {
        let proof = ProofCount("operations of two devices and their archives against a model", seed: Self.seed)
        let key = try NativeIdentity.generate(.x25519)
        for round in 0..<Self.rounds {
            var random = SeededRandom(seed: Self.seed &+ UInt64(round))
            let operations = (0..<Self.length).map { _ in BackupModel.Operation(&random) }
            let failure = try ModelRun.failure(of: operations) { try compare($0, key) }
            if let failure { Issue.record("round \(round):\n\(failure)") }
            for _ in operations.dropFirst() { proof.add() }
            proof.add(failure == nil ? 0 : 1)
        }
        try proof.record()
    }

    private func compare(_ operations: [BackupModel.Operation], _ key: NativeIdentity) throws -> ModelRun.Difference? {
        let machines = try [Machine(inMemory: true), Machine(inMemory: true)]
        let keychains = try machines.map { try $0.makeKeychain() }
        var archives: [(path: String, isEncrypted: Bool)] = []
        var model = BackupModel()
        for (place, operation) in operations.enumerated() {
            let isDone = try perform(operation, at: place + 1, machines, keychains, &archives, key)
            let expected = model.perform(operation, place + 1)
            guard isDone == expected else { return (place, "\(isDone ? "done" : "refused"), and should not be") }
            for device in 0..<2 {
                let found = try entries(of: keychains[device])
                if found != model.keychains[device] {
                    return (place, "device \(device) has \(found) instead of \(model.keychains[device])")
                }
            }
        }
        return nil
    }

    /// Performs an operation, and returns true unless it is refused.
    private func perform(
        _ operation: BackupModel.Operation, at now: Int, _ machines: [Machine], _ keychains: [Keychain],
        _ archives: inout [(path: String, isEncrypted: Bool)], _ key: NativeIdentity
    ) throws -> Bool {
        let time = moment(Int64(now))
        func item(_ name: Int) -> ItemQuery { ItemQuery(attributes: [.acct: .text("\(name)")]) }
        switch operation {
        case .set(let device, let name, let accessibility, let secret):
            if let found = try keychains[device].find(item(name)).items.first {
                try keychains[device].change(found, to: "\(secret)", at: time)
            } else {
                try keychains[device].add("\(name)", "\(secret)", accessibility, at: time)
            }
        case .delete(let device, let name):
            if try !keychains[device].find(item(name)).items.isEmpty {
                _ = try keychains[device].delete(matching: item(name), now: time)
            }
        case .backUp(let device, let isEncrypted):
            let name = "\(now).kcb"
            if isEncrypted {
                try machines[device].backUp(keychains[device], as: name, to: [key.recipient])
            } else {
                try machines[device].backUpUnencrypted(keychains[device], as: name)
            }
            archives.append((machines[device].folder.path(name), isEncrypted))
        case .restore(let device, let number, let policy, let requiresAll):
            guard !archives.isEmpty else { return true }
            let (path, isEncrypted) = archives[number % archives.count]
            do {
                let archive = try machines[device].open(path, with: isEncrypted ? key : nil)
                try machines[device].restore(archive, into: keychains[device]) {
                    $0.conflictPolicy = policy
                    $0.requiresAll = requiresAll
                }
            } catch let refusal as RestoreRefusal {
                switch refusal {
                case .conflicts, .itemsStayBehind, .unencryptedElsewhere: return false
                default: throw refusal
                }
            }
        }
        return true
    }

    private func entries(of keychain: Keychain) throws -> [Int: BackupModel.Entry] {
        let secrets = try keychain.contents()
        var entries: [Int: BackupModel.Entry] = [:]
        for item in try keychain.find(ItemQuery()).items {
            let name = item.attributes.text(.acct) ?? "?"
            let seconds = (item.modified.microseconds - moment(0).microseconds) / 1_000_000
            entries[Int(name) ?? -1] = BackupModel.Entry(
                accessibility: item.accessibility, secret: secrets[name]?.flatMap { Int($0) } ?? -1,
                changed: Int(seconds))
        }
        return entries
    }
}
