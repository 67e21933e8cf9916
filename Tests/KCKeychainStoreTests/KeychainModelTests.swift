import KCKeychainKeys
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

/// A keychain without files and keys.
private struct KeychainModel {
    var items: [Int: (accessibility: Accessibility, secret: Int)] = [:]
    var passcode: Int?
    var isUnlocked = true
    var wasUnlocked = true

    func opens(_ accessibility: Accessibility) -> Bool {
        switch accessibility {
        case .always, .alwaysThisDeviceOnly: true
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: wasUnlocked
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: isUnlocked
        case .whenPasscodeSetThisDeviceOnly: isUnlocked && passcode != nil
        }
    }

    /// Performs an operation, and returns what may come of it.
    mutating func perform(_ operation: Operation) -> Set<Outcome> {
        switch operation {
        case .add(let name, let accessibility, let secret):
            if accessibility == .whenPasscodeSetThisDeviceOnly, passcode == nil { return [.noPasscode, .duplicate] }
            guard opens(accessibility) else { return [.locked, .duplicate] }
            if items[name] != nil { return [.duplicate] }
            items[name] = (accessibility, secret)
        case .update(let name, let secret):
            guard let item = items[name] else { return [.notFound] }
            guard opens(item.accessibility) else { return [.locked] }
            items[name]?.secret = secret
        case .rename(let name, let other):
            guard let item = items[name] else { return [.notFound] }
            guard opens(item.accessibility) else { return [.locked, .duplicate] }
            if name != other, items[other] != nil { return [.duplicate] }
            items[name] = nil
            items[other] = item
        case .delete(let name):
            guard items.removeValue(forKey: name) != nil else { return [.notFound] }
        case .setPasscode(let current, let new):
            if passcode != nil, current != passcode { return [.wrongPasscode] }
            passcode = new
            if new == nil { items = items.filter { $0.value.accessibility != .whenPasscodeSetThisDeviceOnly } }
            (isUnlocked, wasUnlocked) = (true, true)
        case .unlock(let given):
            if passcode != nil, given != passcode { return [.wrongPasscode] }
            (isUnlocked, wasUnlocked) = (true, true)
        case .lock(let untilFirstUnlock):
            isUnlocked = false
            if untilFirstUnlock { wasUnlocked = false }
        case .open:
            (isUnlocked, wasUnlocked) = (passcode == nil, passcode == nil)
        }
        return [.done]
    }

    enum Outcome { case done, duplicate, notFound, locked, wrongPasscode, noPasscode }

    enum Operation {
        case add(Int, Accessibility, Int)
        case update(Int, Int)
        case rename(Int, Int)
        case delete(Int)
        case setPasscode(current: Int?, new: Int?)
        case unlock(Int?)
        case lock(untilFirstUnlock: Bool)
        case open

        init(_ random: inout SeededRandom) {
            let (name, other) = (Int.random(in: 0..<5, using: &random), Int.random(in: 0..<5, using: &random))
            let secret = Int.random(in: 0..<1_000_000, using: &random)
            func passcode() -> Int? { Int.random(in: 0..<3, using: &random) == 0 ? nil : secret % 2 }
            switch Int.random(in: 0..<20, using: &random) {
            case 0...5: self = .add(name, Accessibility.allCases.randomElement(using: &random) ?? .always, secret)
            case 6...8: self = .update(name, secret)
            case 9...10: self = .rename(name, other)
            case 11...13: self = .delete(name)
            case 14: self = .setPasscode(current: secret / 2 % 2, new: passcode())
            case 15...16: self = .unlock(secret % 2)
            case 17...18: self = .lock(untilFirstUnlock: secret.isMultiple(of: 3))
            default: self = .open
            }
        }
    }
}

@Suite("A keychain and its model")
struct KeychainModelTests {
    private static let rounds = ModelRun.isWhole ? 1_000 : 4
    private static let length = 100
    private static let seed: UInt64 = 52

    @Test("Any run of adds, changes, passcodes and locks leaves what a model of twenty lines says")
    func model() throws {
        let proof = ProofCount("operations of a keychain against a model", seed: Self.seed)
        for round in 0..<Self.rounds {
            var random = SeededRandom(seed: Self.seed &+ UInt64(round))
            let operations = (0..<Self.length).map { _ in KeychainModel.Operation(&random) }
            let failure = try ModelRun.failure(of: operations, compare)
            if let failure { Issue.record("round \(round):\n\(failure)") }
            for _ in operations.dropFirst() { proof.add() }
            proof.add(failure == nil ? 0 : 1)
        }
        try proof.record()
    }

    private func compare(_ operations: [KeychainModel.Operation]) throws -> ModelRun.Difference? {
        let bench = try Bench(inMemory: true)
        var keychain = try bench.create()
        var model = KeychainModel()
        for (place, operation) in operations.enumerated() {
            // Later than any delay after wrong passcodes.
            let outcome = try perform(operation, &keychain, bench, at: moment(Int64(place + 1) * 1_000))
            let expected = model.perform(operation)
            guard expected.contains(outcome) else { return (place, "\(outcome) instead of \(expected)") }
            if let text = try difference(keychain, model) { return (place, text) }
        }
        return nil
    }

    private func perform(
        _ operation: KeychainModel.Operation, _ keychain: inout Keychain, _ bench: Bench, at time: Timestamp
    ) throws -> KeychainModel.Outcome {
        func item(_ name: Int) -> ItemQuery { ItemQuery(attributes: [.acct: .text("\(name)")]) }
        do throws(KeychainStoreError) {
            switch operation {
            case .add(let name, let accessibility, let secret):
                let draft = password("\(name)", [.pdmn: .text(accessibility.rawValue)])
                try keychain.add(draft, secret: "\(secret)".secret, now: time)
            case .update(let name, let secret):
                try keychain.update(matching: item(name), set: [:], secret: "\(secret)".secret, now: time)
            case .rename(let name, let other):
                try keychain.update(matching: item(name), set: [.acct: .text("\(other)")], now: time)
            case .delete(let name): try keychain.delete(matching: item(name), now: time)
            case .setPasscode(let current, let new):
                try keychain.setPasscode(
                    current: current.map { "\($0)" }.secret, new: new.map { "\($0)" }.secret, cost: Bench.cost,
                    now: time)
            case .unlock(let passcode):
                try keychain.unlock(passcode: passcode.map { "\($0)" }.secret, now: time)
            case .lock(let untilFirstUnlock): keychain.lock(untilFirstUnlock: untilFirstUnlock)
            case .open:
                keychain = try Keychain.open(
                    at: bench.path, deviceKey: bench.device, lockWait: Bench.patience, minimumCost: Bench.cost)
            }
            return .done
        } catch {
            switch error {
            case .duplicateItem: return .duplicate
            case .itemNotFound: return .notFound
            case .locked: return .locked
            case .wrongPasscode: return .wrongPasscode
            case .passcodeNotSet: return .noPasscode
            default: throw error
            }
        }
    }

    /// How a keychain differs from the model: in its items, in a secret, or in what it opens.
    private func difference(_ keychain: Keychain, _ model: KeychainModel) throws -> String? {
        if keychain.hasPasscode != (model.passcode != nil) { return "passcode: \(keychain.hasPasscode)" }
        let items = try keychain.items()
        let names = items.compactMap { $0.attributes.text(.acct).flatMap { Int($0) } }
        if names.sorted() != model.items.keys.sorted() { return "items: \(names.sorted())" }
        for (name, item) in zip(names, items) {
            guard let expected = model.items[name], item.accessibility == expected.accessibility else {
                return "\(name) is \(item.accessibility)"
            }
            do throws(KeychainStoreError) {
                guard case .some(let secret) = try keychain.secret(of: item) else { return "\(name) has no secret" }
                let text = String(decoding: secret.bytesForTest(), as: UTF8.self)
                if !model.opens(expected.accessibility) { return "\(name) opens although locked" }
                if text != "\(expected.secret)" { return "\(name) has \(text) instead of \(expected.secret)" }
            } catch {
                guard case .locked = error, !model.opens(expected.accessibility) else { return "\(name): \(error)" }
            }
        }
        return nil
    }
}
