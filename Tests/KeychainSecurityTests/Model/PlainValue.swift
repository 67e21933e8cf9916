import Foundation

@testable import KeychainSecurity

/// A value in the dictionary of a call, plain enough to be written down and made again.
enum PlainValue: Sendable {
    case text(String)
    case data([UInt8])
    case number(Int64)
    /// The same number as an object.
    case boxed(Int64)
    case truth(Bool)
    /// Microseconds since 2001-01-01T00:00:00Z.
    case date(Int64)
    /// An access control with this protection.
    case control(String)
    case reference(PlainReference)
    case list
    case null
}

/// A persistent reference, without its bytes: those are known once a call has returned them.
enum PlainReference: Hashable, Sendable {
    /// The item that a step has added, whether it is still there or not.
    case addedBy(step: Int, itemClass: String)
    /// Well formed, of no item that ever was.
    case ofNothing(itemClass: String)
    /// Of no length that a reference can have.
    case malformed

    /// The class that the reference names.
    var itemClass: String? {
        switch self {
        case .addedBy(_, let itemClass), .ofNothing(let itemClass): itemClass
        case .malformed: nil
        }
    }
}

extension PlainValue {
    /// What the call gets; a reference that nobody has returned yet is taken for one of nothing.
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

/// What a call is to hand out.
indirect enum PlainResult: Sendable {
    case nothing
    case text(String)
    case data([UInt8])
    case number(Int64)
    /// Microseconds since 2001-01-01T00:00:00Z.
    case date(Int64)
    case control(String)
    /// The persistent reference of the item that this step has added.
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

/// One of the four calls.
struct PlainCall: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case add, copy, update, delete
    }

    var kind: Kind
    /// The only dictionary, or the query of an update.
    var dictionary: [String: PlainValue]
    /// What an update changes.
    var changes: [String: PlainValue] = [:]
    /// Whether there is a place for a result.
    var takesResult = true
}

/// Something that happens to a keychain.
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
    /// Sets a passcode, or removes it.
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
