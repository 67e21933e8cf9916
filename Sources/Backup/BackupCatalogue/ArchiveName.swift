package import DeviceIdentity
package import KeychainModel

/// The name of an archive in a folder of backups: `login-KC-BXI34FJM-20261121T030000Z.kcb`.
///
/// It has the keychain, the beginning of the device ID and the time in UTC, so that the archives of one keychain sort by
/// their time, and those of several devices can lie in one folder.
package struct ArchiveName: Hashable, Sendable {
    package let series: String
    /// The first ten letters of the device ID.
    package let device: String
    /// The time, to the second.
    package let time: Timestamp
    /// 1, or more where a name was taken.
    package let number: Int

    /// The ending of all archives.
    package static let ending = ".kcb"
    // Bytes of a file name on Linux, less the other parts.
    private static let seriesLimit = 180

    /// Names an archive of now.
    package init(series: String, device: DeviceID, time: Timestamp, number: Int = 1) {
        self.series = series
        self.device = Self.short(device)
        self.time = Timestamp(microseconds: time.seconds * 1_000_000) ?? time
        self.number = number
    }

    /// The name of the file.
    package var fileName: String {
        let stamp = time.description.prefix(19).filter { $0 != "-" && $0 != ":" }
        return "\(series)-\(device)-\(stamp)Z\(number == 1 ? "" : "-\(number)")\(Self.ending)"
    }

    /// Reads a name; nil for any other.
    package init?(_ fileName: String) {
        guard let match = fileName.wholeMatch(of: /(.+)-(KC-[A-Z2-7]{8})-(\d{8}T\d{6})Z(?:-([1-9]\d{0,3}))?\.kcb/),
            Self.series(of: String(match.1)) == match.1
        else { return nil }
        var text = String(match.3)
        for (offset, mark) in [(4, "-"), (7, "-"), (13, ":"), (16, ":")] {
            text.insert(contentsOf: mark, at: text.index(text.startIndex, offsetBy: offset))
        }
        guard let time = Timestamp(text + ".000000Z") else { return nil }
        series = String(match.1)
        device = String(match.2)
        self.time = time
        number = match.4.flatMap { Int($0) } ?? 1
        guard self.fileName == fileName else { return nil }
    }

    /// The series of a keychain or file of this name: what a file name cannot have is replaced.
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

    /// The start of a device ID, as file names have it: `KC-` and eight letters.
    package static func short(_ device: DeviceID) -> String {
        "KC-" + device.description.dropFirst(3).filter { $0 != "-" }.prefix(8)
    }
}
