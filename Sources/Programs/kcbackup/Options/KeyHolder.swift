internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCTerminal

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

/// Who counts wrong passcodes, as users name it.
enum CounterName: String, CaseIterable, Sendable, ExpressibleByArgument {
    case file
    case tpm

    /// The counter of this name.
    var counter: PasscodeCounter {
        switch self {
        case .file: .file
        case .tpm: .chip
        }
    }

    /// The message if the TPM is to count, and no passcode was given.
    static let nothingToCount = "without a passcode, there is nothing for the TPM to count"

    /// Checks that there can be such a counter, before a user types a passcode.
    ///
    /// - Parameter holder: who holds the key of the device.
    func require(heldBy holder: KeyHolder, _ device: LocalDevice) throws {
        guard self == .tpm else { return }
        guard holder == .tpm else {
            throw Refusal(
                .refused, "the TPM counts passcodes only where it holds the key of the device",
                hint: "'kcbackup device seal' moves the key to the TPM",
                "with the first keychain, '\(OptionName.heldBy.spelling) tpm' makes it there")
        }
        let facts = try device.provider.chipFacts()
        try failing(as: CryptographyFailure.chip, facts.requireCounting())
    }
}

extension PasscodeCounter {
    /// Who counts, as users name it.
    var name: CounterName {
        switch self {
        case .file: .file
        case .chip: .tpm
        }
    }
}

extension Session {
    /// Says what a user should know whose keychain a TPM counts the passcode of from now on.
    func warnOfCounter(_ keychain: String) {
        warn(
            "the passcode of \(quoted(keychain)) works with the TPM of this machine alone; without it, an encrypted "
                + "archive brings the items back, and a copy of the device key does not")
    }
}
