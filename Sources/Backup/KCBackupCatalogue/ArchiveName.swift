package import KCBackupArchive
internal import KCByteStreams
package import KCDeviceIdentity
package import KCKeychainModel

/// The file name of an archive in a backup folder: `login-KC-BXI34FJM-20261121T030000Z.kcb`.
///
/// The name consists of the series, the start of the device ID and the time in UTC. The archives of one keychain
/// therefore sort by time, and archives from several devices can share a folder.
package struct ArchiveName: Hashable, Sendable {
    package let series: String
    /// The start of the device ID: `KC-` and eight characters.
    package let device: String
    /// The time, to the second.
    package let time: Timestamp
    /// 1, or a higher number if the name without it was taken.
    package let number: Int

    /// The file name extension of all archives.
    package static let ending = ".kcb"
    // In bytes: the maximum length of a file name on Linux, less the other parts.
    private static let seriesLimit = 180

    /// Creates the name for an archive made at `time`.
    package init(series: String, device: DeviceID, time: Timestamp, number: Int = 1) {
        self.series = series
        self.device = Self.short(device)
        self.time = Timestamp(microseconds: time.seconds * 1_000_000) ?? time
        self.number = number
    }

    /// True if the name says the device and the time of an archive.
    package func isName(of header: ArchiveHeader) -> Bool {
        device == Self.short(header.device) && time.seconds == header.created.seconds
    }

    // In microseconds. Clocks and time zones that are wrong by less do no harm for longer than that.
    private static let tolerance: Int64 = 86_400_000_000

    /// True if the time is more than a day to come: some clock was fast.
    package func isLater(than now: Timestamp) -> Bool { time > now.advanced(byMicroseconds: Self.tolerance) }

    /// True if the archive counts as older than another one; one whose time is to come counts as the oldest.
    package func precedes(_ other: ArchiveName, now: Timestamp) -> Bool {
        let (isLater, isOtherLater) = (isLater(than: now), other.isLater(than: now))
        if isLater != isOtherLater { return isLater }
        return (time, number) < (other.time, other.number)
    }

    /// The file name.
    package var fileName: String {
        "\(series)-\(device)-\(time.compactSeconds)\(number == 1 ? "" : "-\(number)")\(Self.ending)"
    }

    /// Parses a file name; nil if it is not an archive name.
    package init?(_ fileName: String) {
        guard
            let match = fileName.wholeMatch(
                of: /(.+)-(KC-[A-Z2-7]{8})-(\d{8}T\d{6}Z)(?:-([1-9]\d{0,3}))?\.kcb/.matchingSemantics(.unicodeScalar)
                    .asciiOnlyDigits()),
            Self.series(of: String(match.1)).exact == match.1.exact, let time = Timestamp(compact: match.3)
        else { return nil }
        series = String(match.1)
        device = String(match.2)
        self.time = time
        number = match.4.flatMap { Int($0) } ?? 1
        guard self.fileName.exact == fileName.exact else { return nil }
    }

    /// Returns the series for a keychain or file with this name: unsuitable characters are replaced.
    package static func series(of name: String) -> String {
        var series = ""
        for scalar in name.unicodeScalars {
            let isPlain = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            let kept = isPlain || (series.isEmpty ? "_" : "._- ").unicodeScalars.contains(scalar)
            let next = kept ? String(scalar) : "_"
            if series.utf8.count + next.utf8.count > seriesLimit { break }
            series += next
        }
        return series.isEmpty ? "_" : series
    }

    /// True if archives of this source have its series.
    package func isSeries(of source: ArchiveSource) -> Bool { Self.isSeries(series, of: source) }

    /// True if archives of this source have this series.
    package static func isSeries(_ series: String, of source: ArchiveSource) -> Bool {
        let labelled = source.kind + (source.name.isEmpty ? "" : "-" + source.name)
        return [source.name, stem(ofFile: source.name), labelled].contains { self.series(of: $0).exact == series.exact }
    }

    /// Returns the name of a file without the ending that says what is in it.
    package static func stem(ofFile name: String) -> String {
        let endings = [
            ".keychain", ".jsonl", ".csv", ".json", ".kdbx", ".keychain-db", ".keyring", ".kwl", ".1pux", ".zip",
        ]
        return endings.lazy.compactMap { name.exact.removingSuffix($0) }.first { !$0.isEmpty } ?? name
    }

    /// Returns the start of a device ID as used in file names: `KC-` and eight characters.
    package static func short(_ device: DeviceID) -> String {
        "KC-" + device.description.dropFirst(3).filter { $0 != "-" }.prefix(8)
    }
}
