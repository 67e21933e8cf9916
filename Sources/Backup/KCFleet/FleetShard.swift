package import KCDeviceIdentity

/// A part of the machines of a fleet, of about the same size as the others: `3/16` is the third of sixteen.
///
/// A machine is in one of them, by its ID, so that workers that take one part each read each archive once.
///
/// ```swift
/// let isMine = FleetShard("3/16")?.contains(device)
/// ```
package struct FleetShard: Hashable, Sendable {
    // Of parts; more workers would wait for the same listing.
    private static let countLimit = 1_000

    /// From 1 on.
    package let number: Int
    /// Of parts, at most 1,000.
    package let count: Int

    /// Parses a text such as `3/16`; nil for anything else.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([1-9][0-9]{0,3})\/([1-9][0-9]{0,3})/), let number = Int(match.1),
            let count = Int(match.2), count <= Self.countLimit, number <= count
        else { return nil }
        (self.number, self.count) = (number, count)
    }

    /// True if a machine is in it.
    package func contains(_ device: DeviceID) -> Bool {
        // An ID is a hash, so any part of it is as good as another.
        let digits = device.description.utf8.dropFirst(3).prefix(9)
        let value = digits.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff_ffff }
        return value % count == number - 1
    }
}
