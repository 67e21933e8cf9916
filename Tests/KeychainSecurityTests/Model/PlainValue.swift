import Foundation

@testable import KeychainSecurity

/// A value in the dictionary of a call, simple enough to be printed and recreated.
enum PlainValue: Sendable {
    case text(String)
    case data([UInt8])
    case number(Int64)
    /// A number passed as an `NSNumber`.
    case boxed(Int64)
    case truth(Bool)
    /// Microseconds since 2001-01-01T00:00:00Z.
    case date(Int64)
    /// An access control with the given protection.
    case control(String)
    case reference(PlainReference)
    case list
    case null
}

/// A persistent reference without its bytes, which are known only after a call has returned them.
enum PlainReference: Hashable, Sendable {
    /// The item added by a step, whether or not it still exists.
    case addedBy(step: Int, itemClass: String)
    /// Well-formed, but to an item that never existed.
    case ofNothing(itemClass: String)
    /// A reference of an invalid length.
    case malformed

    /// The class in the reference.
    var itemClass: String? {
        switch self {
        case .addedBy(_, let itemClass), .ofNothing(let itemClass): itemClass
        case .malformed: nil
        }
    }
}

extension PlainValue {
    /// The object passed to the call.
    func object(_ bytes: (PlainReference) -> [UInt8]) -> Any {
        switch self {
        case .text(let text): text
        case .data(let bytes): Data(bytes)
        case .number(let number): Int(number)
        case .boxed(let number): NSNumber(value: number)
        case .truth(let truth): truth
        case .date(let microseconds): Date(timeIntervalSinceReferenceDate: Double(microseconds) / 1_000_000)
        case .control(let protection): SecAccessControl(protection: protection)
        case .reference(let reference): Data(bytes(reference))
        case .list: [Any]()
        case .null: NSNull()
        }
    }
}

extension PlainValue: CustomStringConvertible {
    var description: String {
        switch self {
        case .text(let text):
            "\"" + text.unicodeScalars.map { $0.isASCII ? String($0) : $0.escaped(asASCII: true) }.joined() + "\""
        case .data(let bytes): "Data(\(bytes))"
        case .number(let number): "\(number)"
        case .boxed(let number): "NSNumber(\(number))"
        case .truth(let truth): "\(truth)"
        case .date(let microseconds): "date \(microseconds)"
        case .control(let protection): "control \(protection)"
        case .reference(let reference): "\(reference)"
        case .list: "[]"
        case .null: "null"
        }
    }
}

/// The expected result of a call.
indirect enum PlainResult: Sendable {
    case nothing
    case text(String)
    case data([UInt8])
    case number(Int64)
    /// Microseconds since 2001-01-01T00:00:00Z.
    case date(Int64)
    case control(String)
    /// The persistent reference of the item added by this step.
    case reference(step: Int, itemClass: String)
    case dictionary([String: PlainResult])
    case list([PlainResult])
}

extension PlainResult: CustomStringConvertible {
    var description: String {
        switch self {
        case .nothing: "nothing"
        case .text(let text): "\(PlainValue.text(text))"
        case .data(let bytes): "\(PlainValue.data(bytes))"
        case .number(let number): "\(number)"
        case .date(let microseconds): "\(PlainValue.date(microseconds))"
        case .control(let protection): "\(PlainValue.control(protection))"
        case .reference(let step, _): "the reference of the item added by step \(step)"
        case .dictionary(let entries):
            "[" + entries.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
        case .list(let results): "\(results)"
        }
    }
}

/// A call of one of the four kinds.
struct PlainCall: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case add, copy, update, delete
    }

    var kind: Kind
    /// The only dictionary, or the query of an update.
    var dictionary: [String: PlainValue]
    /// The changes of an update.
    var changes: [String: PlainValue] = [:]
    /// Whether a result pointer is passed.
    var takesResult = true
}

/// An event in the history of a keychain.
enum PlainStep: Sendable {
    enum LockState: Sendable, CaseIterable {
        case unlocked
        case locked
        case beforeFirstUnlock
    }

    case call(PlainCall, program: Int)
    /// Moves the clock, possibly backwards.
    case clock(microseconds: Int64)
    case lock(LockState)
    /// Sets or removes the passcode.
    case passcode(Bool)
}

extension PlainStep: CustomStringConvertible {
    var description: String {
        func words(_ dictionary: [String: PlainValue]) -> String {
            "[" + dictionary.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
        }
        switch self {
        case .call(let call, let program):
            return "program \(program): \(call.kind) \(words(call.dictionary))"
                + (call.kind == .update ? " to \(words(call.changes))" : "")
                + (call.takesResult ? "" : ", no place for a result")
        case .clock(let microseconds): return "clock \(microseconds) µs"
        case .lock(let state): return "\(state)"
        case .passcode(let isSet): return isSet ? "set a passcode" : "remove the passcode"
        }
    }
}
