internal import KCByteStreams
internal import KCCryptography

/// The contents of a device key file: the key, or what a chip has made of it.
enum DeviceKeyContents: ~Copyable {
    /// The key itself.
    case plain(DeviceKeyText)
    /// A key that only the chip opens.
    case sealed(SealedKeyText)

    /// Parses the text of a file.
    ///
    /// - Throws: `DeviceKeyText.Malformed` with the violated rule.
    init(parsing text: borrowing SecretBytes) throws(DeviceKeyText.Malformed) {
        if SealedKeyText.describes(text) {
            self = .sealed(try SealedKeyText(parsing: text))
        } else {
            self = .plain(try DeviceKeyText(parsing: text))
        }
    }

    /// The machine on which the key was created or adopted.
    var machine: MachineIdentity {
        switch self {
        case .plain(let text): text.machine
        case .sealed(let text): text.machine
        }
    }

    /// Who holds the key.
    var holding: DeviceKeyHolding {
        switch self {
        case .plain: .file
        case .sealed(let text): .chip(text.history)
        }
    }

    /// Returns the device; a chip is first needed when a key is derived.
    func device(_ chip: DeviceChip) throws(CryptographyFailure) -> DeviceKey {
        switch self {
        case .plain(let text): try DeviceKey(secret: text.secret, chip: chip)
        case .sealed(let text):
            DeviceKey(signingPublicKey: text.signer, secrets: SealedSecrets(text, on: chip), chip: chip)
        }
    }

    /// Returns the same key on another machine; a chip must open its key for that.
    func on(_ machine: MachineIdentity, _ chip: DeviceChip) throws(CryptographyFailure) -> DeviceKeyContents {
        switch self {
        case .plain(let text): .plain(DeviceKeyText(secret: text.secret.copy(), machine: machine))
        case .sealed(let text):
            .sealed(
                try SealedKeyText(
                    sealed: text.sealed, history: text.history, machine: machine, by: chip.open(text)))
        }
    }

    /// The text of a file.
    func encode(_ device: DeviceID) -> SecretBytes {
        switch self {
        case .plain(let text): text.encode(device: device)
        case .sealed(let text): SecretBytes(copying: text.encoded)
        }
    }

    /// True if both are the same key in the same form.
    func isSameKey(as other: borrowing DeviceKeyContents) -> Bool {
        switch self {
        case .plain(let text):
            switch other {
            case .plain(let other): constantTimeEqual(text.secret, other.secret)
            case .sealed: false
            }
        case .sealed(let text):
            switch other {
            case .plain: false
            case .sealed(let other): text.sealed == other.sealed
            }
        }
    }
}
