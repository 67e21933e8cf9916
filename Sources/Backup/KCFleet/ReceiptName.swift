internal import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel

/// A day in UTC, the folder of its receipts.
package struct ReceiptDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    private static let length: Int64 = 86_400_000_000
    // Days since 1970-01-01, of a time that exists.
    private let number: Int64

    /// The day of a time.
    package init(_ time: Timestamp) {
        let rest = time.microseconds % Self.length
        number = time.microseconds / Self.length - (rest < 0 ? 1 : 0)
    }

    /// As `2026-11-24`.
    package var description: String { String(start.description.prefix(10)) }

    /// Its first microsecond.
    package var start: Timestamp { Timestamp.reference.advanced(byMicroseconds: microsecondsFromReference) }

    /// The day after it.
    package var next: ReceiptDay { ReceiptDay(start.advanced(byMicroseconds: Self.length)) }

    package static func < (left: ReceiptDay, right: ReceiptDay) -> Bool { left.number < right.number }

    /// The days from one to another, both included; none if that is before the first.
    package static func days(from first: ReceiptDay, through last: ReceiptDay) -> [ReceiptDay] {
        var days: [ReceiptDay] = []
        var day = first
        while day <= last {
            days.append(day)
            if day.next == day { break }
            day = day.next
        }
        return days
    }

    private var microsecondsFromReference: Int64 { number * Self.length - Timestamp.reference.microseconds }
}

/// The name of a receipt: `KC-ABCD-EFGH-IJKL-MNOP-QRST-031502Z-142.json`, in the folder `AB` of its day.
///
/// The sequence number makes it one that the device never used before, so nothing is ever replaced.
package struct ReceiptName: Hashable, Sendable, CustomStringConvertible {
    /// The file name extension of all receipts.
    package static let ending = ".json"
    private static let idLength = 27

    /// The machine.
    package let device: DeviceID
    /// When it was made, in whole seconds.
    package let time: Timestamp
    /// See `Receipt.sequence`.
    package let sequence: Int64

    /// Names a receipt.
    init(device: DeviceID, time: Timestamp, sequence: Int64) {
        self.device = device
        self.time = time
        self.sequence = sequence
    }

    /// Parses the name of a file in the folder of a day; nil if it is not that of a receipt.
    package init?(_ file: String, on day: ReceiptDay) {
        guard let stem = file.exact.removingSuffix(Self.ending) else { return nil }
        let id = String(decoding: Array(stem.utf8.prefix(Self.idLength)), as: UTF8.self)
        guard let device = DeviceID(id) else { return nil }
        let words = stem.exact.removingPrefix(id)?.exact.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard words.count == 3, let sequence = Int64(words[2]), sequence > 0,
            let time = Timestamp(compact: "\(day.description.exact.replacing("-", with: ""))T\(words[1])")
        else { return nil }
        self.init(device: device, time: time, sequence: sequence)
        // Each name has one spelling.
        guard description.exact == file.exact else { return nil }
    }

    /// Parses the path of a file below the folder of a day; nil if it is not that of a receipt.
    package init?(path: [UInt8], on day: ReceiptDay) {
        guard let text = String(validating: path, as: UTF8.self), let name = text.exact.split(separator: "/").last
        else {
            return nil
        }
        self.init(name, on: day)
        guard self.path.exact == text.exact else { return nil }
    }

    /// The folder of its day that it is in, of 1,024: the first two characters of the ID after `KC-`.
    package var shard: String { String(decoding: Array(device.description.utf8)[3..<5], as: UTF8.self) }

    /// Its path below the folder of its day.
    package var path: String { "\(shard)/\(self)" }

    /// The day that it is filed under.
    package var day: ReceiptDay { ReceiptDay(time) }

    /// The name of the file.
    package var description: String {
        "\(device)-\(time.compactSeconds.exact.split(separator: "T").last ?? "")-\(sequence)\(Self.ending)"
    }
}
