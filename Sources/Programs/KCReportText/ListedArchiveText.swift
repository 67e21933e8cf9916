internal import KCBackupArchive
package import KCBackupCatalogue
internal import KCBackupEngine
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel

extension ListedArchive {
    /// The cells of a row, in the order of the columns of `list`.
    package func cells(_ calendar: LocalCalendar) -> [String] {
        [
            name, created.map { calendar.minute($0) } ?? "", entry?.series ?? "",
            items.map(String.init) ?? "?", size.map(byteCount) ?? "", mode?.rawValue ?? "",
            entry == nil ? "not checked" : "this device", verified.map(calendar.day) ?? "never",
            entry?.drilled.map(calendar.day) ?? "never", state.rawValue,
        ]
    }

    /// When it was last found intact; nil if damage was found since.
    private var verified: Timestamp? { entry.flatMap { $0.foundDamaged == nil ? $0.verified : nil } }

    /// The JSON object "backup".
    package var json: JSONValue {
        .members([
            ("file", .text(name)), ("state", .text(state.rawValue)),
            ("created", created.map { .text($0.description) }),
            ("series", entry.map { .text($0.series) }), ("mode", mode.map { .text($0.rawValue) }),
            ("size", size.map { .number(Int($0)) }),
            ("id", (entry?.archiveID ?? outline?.header.archiveID).map { .text(Hexadecimal.encode($0)) }),
            ("device", outline.map { .text($0.header.device.description) }),
            ("counts", entry?.content.map { content in .counts { content.counts[$0] } }),
            ("complete", entry?.isComplete.map { .flag($0) }),
            ("verified", verified.map { .text($0.description) }),
            ("drilled", entry?.drilled.map { .text($0.description) }),
            ("confirmed", entry?.confirmed.map { .text($0.description) }),
            ("trashed", entry?.trashed.map { .text($0.date.description) }),
        ])
    }
}
