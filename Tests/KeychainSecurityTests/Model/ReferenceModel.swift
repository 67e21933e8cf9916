import KCTestSupport
@testable import KeychainSecurity

/// A model of Apple's keychain as a list of items in memory, which returns the expected answers of the four calls.
///
/// Written from Apple's documentation and the behavior of its open source code. Where these leave details open, it
/// follows docs/security-module.md.
struct ReferenceModel {
    /// An item, or the tombstone of a deleted synchronizable one.
    struct Item {
        /// The step that added the item; negative for a tombstone left by an update.
        var step: Int
        var itemClass: String
        /// All attributes, including `pdmn` and `agrp`; `sync` and `tomb` are separate properties.
        var attributes: [String: PlainValue]
        var isSynchronizable: Bool
        var isTombstone = false
        var secret: [UInt8]?
        var created: Int64
        var modified: Int64

        var protection: String { text("pdmn") }
        var group: String { text("agrp") }

        private func text(_ code: String) -> String {
            if case .text(let text) = attributes[code] { text } else { "" }
        }

        /// Whether the two items have the same unique key.
        func hasKey(of other: Item) -> Bool {
            guard itemClass == other.itemClass, isSynchronizable == other.isSynchronizable else { return false }
            return ModelSchema.uniqueKey(of: itemClass).allSatisfy { code in
                let kind = ModelSchema.kind(of: code, in: itemClass) ?? .blob
                return ModelSchema.weight(attributes[code], as: kind)
                    == ModelSchema.weight(other.attributes[code], as: kind)
            }
        }
    }

    /// The answer to a call.
    struct Answer {
        var status: OSStatus
        var result = PlainResult.nothing
    }

    /// The access groups of each program, in order.
    let programs: [[String]]
    /// In the order they were added.
    private(set) var items: [Item] = []
    /// Microseconds since 2001-01-01T00:00:00Z.
    private(set) var now: Int64
    private(set) var lockState = PlainStep.LockState.unlocked
    private(set) var hasPasscode: Bool
    private var traceCount = 0
    /// Counts of events: calls with their status, and rare cases that the test must cover.
    let tally: Tally<String>

    static let protections: Set = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]
    /// The minimum increment of a modification date: one millisecond.
    static let shortestStep: Int64 = 1_000

    init(programs: [[String]], now: Int64, hasPasscode: Bool, tally: Tally<String> = Tally()) {
        self.tally = tally
        self.programs = programs
        self.now = now
        self.hasPasscode = hasPasscode
    }

    /// Performs a step, and returns nil if it is not one of the four calls.
    mutating func perform(_ step: PlainStep, number: Int) -> Answer? {
        switch step {
        case .clock(let microseconds): now += microseconds
        case .lock(let state): lockState = state
        case .passcode(let isSet):
            hasPasscode = isSet
            if isSet { break }
            tally.count(
                "a passcode is removed with items that need it", when: items.contains { $0.protection == "akpu" })
            items.removeAll { $0.protection == "akpu" }
        case .call(let call, let program):
            let answer = answer(call, groups: programs[program], number: number)
            tally.count("\(call.kind)")
            tally.count("\(call.kind) \(answer.status)")
            tally.count("status \(answer.status)")
            return answer
        }
        return nil
    }

    private mutating func answer(_ call: PlainCall, groups: [String], number: Int) -> Answer {
        do throws(ModelRefusal) {
            return Answer(status: errSecSuccess, result: try result(of: call, groups: groups, number: number))
        } catch {
            return Answer(status: error.status)
        }
    }

    private mutating func result(
        of call: PlainCall, groups: [String], number: Int
    ) throws(ModelRefusal) -> PlainResult {
        var request = try ModelRequest(call.dictionary, of: call.kind)
        if call.kind == .add || call.kind == .copy, !request.returns.isEmpty, !call.takesResult {
            tally.count("a return key without a place for the result")
            request.returns = []
        }
        switch call.kind {
        case .add: return try add(request, groups, number)
        case .copy: return try copy(request, groups)
        case .update:
            let changes = try ModelRequest(changes: call.changes, in: request.classOfReference)
            try update(request, changes, groups)
        case .delete: try delete(request, groups)
        }
        return .nothing
    }

    // MARK: Protection

    /// Whether the class key of `protection` is available.
    func canOpen(_ protection: String) -> Bool {
        switch protection {
        case "dk", "dku": true
        case "ck", "cku": lockState != .beforeFirstUnlock
        default: lockState == .unlocked
        }
    }

    /// Counts ThisDeviceOnly items that are synchronizable.
    func noteCombination(_ item: Item) {
        let staysHere = ["aku", "cku", "dku", "akpu"].contains(item.protection)
        tally.count("synchronizable and ThisDeviceOnly", when: item.isSynchronizable && staysHere)
    }

    /// Refuses an item whose class key is unavailable.
    func checkWritable(_ item: Item) throws(ModelRefusal) {
        if item.protection == "akpu" && !hasPasscode { throw ModelRefusal(errSecAuthFailed) }
        if !canOpen(item.protection) { throw ModelRefusal(errSecInteractionNotAllowed) }
    }

    /// The group that a program writes an item to.
    func writable(_ group: String?, _ groups: [String]) throws(ModelRefusal) -> String {
        guard let chosen = group ?? groups.first(where: { $0 != "*" }) else {
            throw ModelRefusal(errSecMissingEntitlement)
        }
        guard groups.contains(chosen) || groups.contains("*"), chosen != "com.apple.token" else {
            throw ModelRefusal(errSecMissingEntitlement)
        }
        return chosen
    }

    // MARK: Changes

    private mutating func add(
        _ request: ModelRequest, _ groups: [String], _ number: Int
    ) throws(ModelRefusal) -> PlainResult {
        var item = Item(
            step: number, itemClass: request.itemClass ?? "", attributes: request.attributes,
            isSynchronizable: request.isSynchronizable ?? false, secret: request.secret, created: now, modified: now)
        item.attributes["cdat"] = nil
        item.attributes["mdat"] = nil
        if item.attributes["pdmn"] == nil { item.attributes["pdmn"] = .text(item.itemClass == "cert" ? "dk" : "ak") }
        item.attributes["agrp"] = .text(try writable(request.group, groups))
        noteCombination(item)
        try checkWritable(item)
        if let other = items.firstIndex(where: item.hasKey) {
            guard items[other].isTombstone else { throw ModelRefusal(errSecDuplicateItem) }
            item.modified = max(now, items[other].modified + Self.shortestStep)
            tally.count("an addition replaces a tombstone")
            tally.count("a date ahead of the clock", when: item.modified > now)
            items.remove(at: other)
        }
        items.append(item)
        return shown(item, request.returns)
    }

    private mutating func update(
        _ request: ModelRequest, _ changes: ModelRequest, _ groups: [String]
    ) throws(ModelRefusal) {
        if let group = changes.group { _ = try writable(group, groups) }
        // Tombstones cannot be updated.
        let chosen = try matches(request, groups, opening: true).filter { !$0.isTombstone }
        if chosen.isEmpty { throw ModelRefusal(errSecItemNotFound) }
        var changed = items
        tally.count("an update of several items", when: chosen.count > 1)
        for old in chosen {
            var item = old
            for (code, value) in changes.attributes where code != "cdat" && code != "mdat" {
                item.attributes[code] = value
            }
            if let secret = changes.secret { item.secret = secret }
            if let isSynchronizable = changes.isSynchronizable { item.isSynchronizable = isSynchronizable }
            noteCombination(item)
            let isMoved = !item.hasKey(of: old)
            item.modified = max(now, old.modified + Self.shortestStep)
            if let other = changed.firstIndex(where: { $0.step != old.step && item.hasKey(of: $0) }) {
                guard changed[other].isTombstone else { throw ModelRefusal(errSecDuplicateItem) }
                tally.count("an update replaces a tombstone")
                changed.remove(at: other)
            }
            try checkWritable(item)
            if let place = changed.firstIndex(where: { $0.step == old.step }) { changed[place] = item }
            if isMoved && old.isSynchronizable {
                var trace = tombstone(of: old)
                traceCount += 1
                trace.step = -traceCount
                tally.count("an update leaves a tombstone")
                changed.append(trace)
            }
            tally.count("a date ahead of the clock", when: item.modified > now)
            tally.count("another access group", when: item.group != old.group)
            tally.count("another accessibility", when: item.protection != old.protection)
            tally.count("another synchronizability", when: item.isSynchronizable != old.isSynchronizable)
        }
        items = changed
    }

    private mutating func delete(_ request: ModelRequest, _ groups: [String]) throws(ModelRefusal) {
        let chosen = try matches(request, groups, opening: false)
        if chosen.isEmpty { throw ModelRefusal(errSecItemNotFound) }
        for item in chosen {
            let leavesTombstone = request.leavesTombstones ?? item.isSynchronizable
            guard let place = items.firstIndex(where: { $0.step == item.step }) else { continue }
            if leavesTombstone { items[place] = tombstone(of: item) } else { items.remove(at: place) }
            tally.count(
                "\(item.isTombstone ? "a tombstone" : item.isSynchronizable ? "a synchronizable item" : "an item") "
                    + "is deleted, and \(leavesTombstone ? "a tombstone" : "nothing") stays")
        }
    }

    /// The tombstone of a deleted item, with its unique key, protection and dates, but no secret.
    private func tombstone(of item: Item) -> Item {
        var trace = item
        let kept = Set(ModelSchema.uniqueKey(of: item.itemClass) + ["pdmn"])
        trace.attributes = item.attributes.filter { kept.contains($0.key) }
        trace.secret = nil
        trace.isTombstone = true
        trace.modified = max(now, item.modified + Self.shortestStep)
        return trace
    }
}

extension ModelRequest {
    /// The access group in the request, if any.
    var group: String? {
        if case .text(let group) = attributes["agrp"] { group } else { nil }
    }

    /// The class of the query, taken from its reference if it has one.
    var classOfReference: String? { reference?.itemClass ?? itemClass }
}
