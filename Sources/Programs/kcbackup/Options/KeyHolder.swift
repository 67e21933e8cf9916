internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCDeviceIdentity
internal import KCKeychainModel

/// Who holds the device key, as users name it.
enum KeyHolder: String, CaseIterable, Sendable, ExpressibleByArgument {
    case file
    case tpm

    /// Who is to hold a new key.
    func new(in session: Session) -> NewKeyHolder {
        switch self {
        case .file: .file
        case .tpm: .chip(session.today)
        }
    }
}

extension DeviceKeyHolding {
    /// Who holds the key, as users name it.
    var holder: KeyHolder {
        switch self {
        case .file: .file
        case .chip: .tpm
        }
    }
}

extension Session {
    /// The day on which the run began.
    var today: KeyDay {
        let parts = calendar.parts(now)
        return KeyDay(year: parts.year, month: parts.month, day: parts.day)
    }
}
