internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources

extension KeePassEntry.Rest {
    /// The time-based one-time password, in any of the forms that programs use.
    mutating func takeOneTimePassword(in database: KDBXDatabase) -> SecretBytes? {
        if let otp = takeValue("otp", in: database) {
            if let address = KeeOTP.address(otp) { return address }
            return otp
        }
        if let seed = takeValue("TOTP Seed", in: database) {
            let settings = take("TOTP Settings").map { text(of: $0, in: database) } ?? ""
            // The period, the number of digits or "S" for Steam, and possibly the address of a clock.
            let parts = settings.exact.split(separator: ";", omittingEmptySubsequences: false)
            let digits = parts.dropFirst().first
            if digits == "S" {
                var steam = SecretBytes(copying: "steam://".utf8)
                seed.withBytes { steam.append($0) }
                return steam
            }
            let clock = parts.dropFirst(2).joined(separator: ";")
            let form = OneTimePasswordForm(period: parts.first, digits: digits, clock: clock)
            return form.address(of: seed)
        }
        guard let seed = takeSeed("TimeOtp-Secret", in: database) else { return nil }
        let period = take("TimeOtp-Period").map { text(of: $0, in: database) }
        let digits = take("TimeOtp-Length").map { text(of: $0, in: database) }
        let algorithm = take("TimeOtp-Algorithm").map { text(of: $0, in: database) }
        return OneTimePasswordForm(period: period, digits: digits, algorithm: algorithm).address(of: seed)
    }

    /// The counter-based one-time password of KeePass.
    mutating func takeCounterPassword(in database: KDBXDatabase) -> SecretBytes? {
        guard let seed = takeSeed("HmacOtp-Secret", in: database) else { return nil }
        let counter = take("HmacOtp-Counter").map { text(of: $0, in: database) }
        return OneTimePasswordForm(counter: counter ?? "0").address(of: seed)
    }

    /// A value; nil if it is empty or missing.
    private mutating func takeValue(_ key: String, in database: KDBXDatabase) -> SecretBytes? {
        guard let element = take(key) else { return nil }
        let value = database.value(element)
        if value.isEmpty { return nil }
        return value
    }

    /// The seed in KeePass's own fields, converted to base32 from any encoding.
    private mutating func takeSeed(_ name: String, in database: KDBXDatabase) -> SecretBytes? {
        if let seed = takeValue(name + "-Base32", in: database) { return seed }
        if let seed = takeValue(name, in: database) { return seed.base32 }
        if let text = takeValue(name + "-Base64", in: database) {
            var bytes = SecretBytes(capacity: text.count)
            let isValid = text.withBytes { Base64.decode($0, into: &bytes) }
            return isValid ? bytes.base32 : text.copy()
        }
        guard let text = takeValue(name + "-Hex", in: database) else { return nil }
        let bytes = text.withBytes { $0.bytes(ofHexadecimal: $0.indices) }
        switch consume bytes {
        case .some(let bytes): return bytes.base32
        case .none: return text
        }
    }
}

/// The parameters of a one-time password, as text from a file.
private struct OneTimePasswordForm {
    var period: String?
    var digits: String?
    var algorithm: String?
    /// The address of a clock that differs from this one; empty if there is none.
    var clock = ""
    /// Nil for a time-based one.
    var counter: String?

    /// An address if any parameter differs from the default; otherwise the seed itself.
    ///
    /// A parameter that is not understood is kept as it is, since another value would give wrong codes.
    func address(of seed: consuming SecretBytes) -> SecretBytes {
        let period = Self.parameter(period, orElse: "30")
        let digits = Self.parameter(digits, orElse: "6")
        let name =
            switch algorithm?.uppercased().exact.replacing("-", with: "") {
            case "HMACSHA1", "SHA1", "", nil: "SHA1"
            case "HMACSHA256", "SHA256": "SHA256"
            case "HMACSHA512", "SHA512": "SHA512"
            case let other?: Self.parameter(other, orElse: "SHA1")
            }
        if counter == nil, period == "30", digits == "6", name == "SHA1", clock.isEmpty { return seed }
        var address = SecretBytes(copying: "otpauth://\(counter == nil ? "totp" : "hotp")/?secret=".utf8)
        seed.withBytes { bytes in
            for index in bytes.indices where ![0x20, UInt8(ascii: "=")].contains(bytes[index]) {
                address.append(bytes[index])
            }
        }
        if let counter {
            address.append(utf8: "&counter=\(Self.parameter(counter, orElse: "0"))&digits=\(digits)")
        } else {
            address.append(utf8: "&period=\(period)&digits=\(digits)")
        }
        address.append(utf8: "&algorithm=\(name)")
        if !clock.isEmpty { address.append(utf8: "&clock=\(Self.parameter(clock, orElse: ""))") }
        return address
    }

    /// A number without leading zeros, or else a text, percent-encoded; `standard` for an empty or missing one.
    private static func parameter(_ text: String?, orElse standard: String) -> String {
        guard let text, !text.isEmpty else { return standard }
        if let number = Int(text), number >= 0 { return String(number) }
        var encoded = ""
        for byte in text.utf8 {
            let character = Character(UnicodeScalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
                encoded.append(character)
            } else {
                encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}

/// A one-time password as KeeOTP writes it: `key=JBSWY3DPEHPK3PXP&step=60&size=8`.
private enum KeeOTP {
    /// The password as an address or a seed; nil for text in another form, or with a parameter that is not known.
    static func address(_ text: borrowing SecretBytes) -> SecretBytes? {
        var form = OneTimePasswordForm()
        var seed: SecretBytes?
        var (isKnown, isCounter, counter) = (true, false, "0")
        text.withBytes { bytes in
            var start = 0
            while start < bytes.count {
                let end = (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "&") } ?? bytes.count
                let equals = (start..<end).first { bytes[$0] == UInt8(ascii: "=") } ?? end
                let name = bytes.extracting(start..<equals).utf8Text ?? ""
                let value = bytes.extracting(min(end, equals + 1)..<end)
                start = end + 1
                if name == "key" {
                    seed = Self.seed(value)
                    continue
                }
                let word = value.utf8Text?.lowercased() ?? ""
                switch name {
                case "step": form.period = word
                case "size": form.digits = word
                case "otpHashMode": form.algorithm = word
                case "counter": counter = word
                case "type":
                    isCounter = word == "hotp"
                    isKnown = isKnown && ["hotp", "totp"].contains(word)
                case "encoding": isKnown = isKnown && word == "base32"
                default: isKnown = false
                }
            }
        }
        guard isKnown, let seed = seed.take() else { return nil }
        if isCounter { form.counter = counter }
        return form.address(of: seed)
    }

    /// A base32 seed, whose padding may be percent-encoded.
    private static func seed(_ bytes: borrowing Span<UInt8>) -> SecretBytes? {
        var seed = SecretBytes(capacity: bytes.count)
        for index in bytes.indices {
            let byte = bytes[index]
            let letter = byte & 0xdf
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) {
                seed.append(letter)
            } else if (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte) {
                seed.append(byte)
            } else if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "=") {
                break
            } else {
                return nil
            }
        }
        if seed.isEmpty { return nil }
        return consume seed
    }
}

extension SecretBytes {
    /// The bytes in base32, without padding.
    fileprivate var base32: SecretBytes { withBytes { Base32.encode($0) } }
}
