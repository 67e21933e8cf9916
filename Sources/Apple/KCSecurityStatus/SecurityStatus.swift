/// An `errSec…` code of Apple: the constant, its number, and its message.
///
/// The numbers are those of Apple's `SecBase.h` and never change; functions return them as `OSStatus`.
package struct SecurityStatus: Error, Hashable, Sendable {
    /// Apple's constant, as in `errSecItemNotFound`.
    package let name: String
    /// The number: 0 for success, negative for everything else.
    package let code: Int32
    /// A sentence for the user: Apple's message, if there is one.
    package let message: String

    /// Finds the status with this number; nil if there is none.
    package init?(code: Int32) {
        guard let found = Self.byCode[code] else { return nil }
        self = found
    }

    init(_ name: String, _ code: Int32, _ message: String) {
        self.name = "errSec" + name
        self.code = code
        self.message = message
    }

    /// Returns the message for any number; a number without a status becomes `OSStatus` and the number, as on Apple's
    /// systems.
    package static func message(for code: Int32) -> String {
        byCode[code]?.message ?? "OSStatus \(code)"
    }

    /// The exit status of a process that fails with this status; see `exitStatus(of:)`.
    package var exitStatus: Int32 { Self.exitStatus(of: code) }

    /// Returns the exit status, 0 to 255, of a process that fails with this number: its low eight bits, or 1 if a
    /// failure's low bits are zero.
    package static func exitStatus(of code: Int32) -> Int32 { code == 0 || code & 0xff != 0 ? code & 0xff : 1 }

    private static let byCode = [Int32: SecurityStatus](uniqueKeysWithValues: all.map { ($0.code, $0) })
}
