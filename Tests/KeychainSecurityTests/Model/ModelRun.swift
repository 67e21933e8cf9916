import Foundation
import KCTestSupport

@testable import KeychainSecurity

/// A step with its number in the original random history, which it keeps when the history is shortened.
typealias NumberedStep = (number: Int, step: PlainStep)

/// Runs the model and the library side by side.
final class ModelRun {
    /// The initial state of a history.
    struct Start: Sendable {
        var programs = [["one", "two"], ["two", "three", "com.apple.token"], ["three", "*"], []]
        var now: Int64 = 794_000_000_123_456
        var hasPasscode: Bool
    }

    private(set) var model: ReferenceModel
    private let world: ModelWorld
    /// The persistent references that calls have returned, by the number of the step that added the item.
    private(set) var references: [Int: [UInt8]] = [:]
    /// The references available to calls, in the order they were returned.
    private(set) var knownReferences: [PlainReference] = []

    /// - Parameter tally: Counts the events of the run.
    init(_ start: Start, tally: Tally<String> = Tally()) throws {
        model = ReferenceModel(
            programs: start.programs, now: start.now, hasPasscode: start.hasPasscode, tally: tally)
        world = try ModelWorld(programs: start.programs, now: start.now, hasPasscode: start.hasPasscode)
    }

    /// Performs a step in both the model and the library.
    ///
    /// - Returns: The model's answer, or nil if the step is not a call, and a description of how the library differs,
    ///   if it does.
    func perform(_ numbered: NumberedStep) throws -> (answer: ReferenceModel.Answer?, difference: String?) {
        let step = withKnownReferences(numbered.step)
        let expected = model.perform(step, number: numbered.number)
        let found = try world.perform(step, bytes)
        guard let expected, let found else { return (nil, nil) }
        var difference: String?
        if expected.status != found.0 {
            difference = "the model says \(expected.status), the library \(found.0)"
        } else {
            difference = compare(expected.result, found.1, at: "result")
        }
        return (expected, difference)
    }

    /// Replaces a reference that no call has returned with one to no item.
    private func withKnownReferences(_ step: PlainStep) -> PlainStep {
        guard case .call(var call, let program) = step,
            case .reference(.addedBy(let number, let itemClass)) = call.dictionary[kSecValuePersistentRef as String],
            references[number] == nil
        else { return step }
        call.dictionary[kSecValuePersistentRef as String] = .reference(.ofNothing(itemClass: itemClass))
        return .call(call, program: program)
    }

    private func bytes(_ reference: PlainReference) -> [UInt8] {
        switch reference {
        case .addedBy(let step, _): references[step] ?? []
        case .ofNothing(let itemClass): Array(itemClass.utf8) + [UInt8](repeating: 0x5a, count: 16)
        case .malformed: [0x67, 0x65, 0x6e]
        }
    }

    // MARK: Comparison

    /// Describes how `found` differs from the expected result, or returns nil if it does not.
    private func compare(_ expected: PlainResult, _ found: Any?, at place: String) -> String? {
        let words = "\(place): the model says \(expected), the library \(Self.words(for: found))"
        switch expected {
        case .nothing: return found == nil ? nil : words
        case .text(let text):
            guard let found = found as? String, found.utf8.elementsEqual(text.utf8) else { return words }
        case .data(let bytes):
            guard let found = found as? Data, found.elementsEqual(bytes) else { return words }
        case .number(let number):
            guard !(found is String), let found = found as? NSNumber, found.int64Value == number else { return words }
        case .date(let microseconds):
            guard let found = found as? Date,
                found.microseconds == microseconds
            else { return words }
        case .control(let protection):
            guard let found = found as? SecAccessControl, found.protection == protection else { return words }
        case .reference(let step, let itemClass):
            guard let found = found as? Data, isReference(Array(found), of: step, itemClass) else { return words }
        case .dictionary(let expected):
            guard let found = found as? [String: Any] else { return words }
            for key in Set(expected.keys).union(found.keys).sorted() {
                if let difference = compare(expected[key] ?? .nothing, found[key], at: "\(place).\(key)") {
                    return difference
                }
            }
        case .list(let expected):
            guard let found = found as? [Any], found.count == expected.count else { return words }
            for (index, pair) in zip(expected, found).enumerated() {
                if let difference = compare(pair.0, pair.1, at: "\(place)[\(index)]") { return difference }
            }
        }
        return nil
    }

    private static func words(for found: Any?) -> String {
        switch found {
        case nil: "nothing"
        case let date as Date: "date \(date.microseconds)"
        case let data as Data: "Data(\(Array(data)))"
        case .some(let other): "\(other)"
        }
    }

    /// Whether `bytes` are the reference of the item: always the same for it, and different from any other item's.
    private func isReference(_ bytes: [UInt8], of step: Int, _ itemClass: String) -> Bool {
        if let known = references[step] { return known == bytes }
        guard bytes.count == 20, bytes.starts(with: itemClass.utf8), !references.values.contains(bytes) else {
            return false
        }
        references[step] = bytes
        // A tombstone left by an update has no step number that would be stable in a shorter history.
        if step >= 0 { knownReferences.append(.addedBy(step: step, itemClass: itemClass)) }
        return true
    }
}

extension Date {
    /// The time since 2001-01-01T00:00:00Z, to the nearest microsecond.
    fileprivate var microseconds: Int64 { Int64((timeIntervalSinceReferenceDate * 1_000_000).rounded()) }
}
