internal import ByteStreams
internal import ItemSources
internal import KeychainModel
internal import XMLDocuments

extension KeePassEntry {
    /// A passkey as an object of CXF, with its host and user.
    struct Passkey: ~Copyable {
        let host: String
        let user: String?
        let object: SecretBytes
    }

    /// The parts of an entry that have not become items yet, so that nothing is forgotten or imported twice.
    struct Rest {
        private var strings: [(key: String, value: XMLDocument.Element)]
        private(set) var binaries: [(name: String, reference: String)]

        init(_ entry: KeePassEntry) {
            strings = entry.strings.filter { key, _ in
                !["Title", "UserName", "URL"].contains(key) && !KeePassEntry.isFurtherAddress(key)
            }
            binaries = entry.binaries
        }

        /// True if there is anything besides empty standard strings.
        func hasContent(in database: KDBXDatabase) -> Bool {
            !binaries.isEmpty
                || strings.contains { key, value in
                    !KeePassEntry.standardKeys.contains(key) || !database.value(value).isEmpty
                }
        }

        mutating func take(_ key: String) -> XMLDocument.Element? {
            strings.firstIndex { $0.key == key }.map { strings.remove(at: $0).value }
        }

        mutating func takeAll() -> [(key: String, value: XMLDocument.Element)] {
            defer { strings = [] }
            return strings
        }

        /// The secret of an item that kcbackup's export stored here; nil if there is none.
        mutating func takeSecret(of kind: ExportedRecord.Kind, in database: KDBXDatabase) -> SecretBytes? {
            if let index = binaries.firstIndex(where: { $0.name == KDBXWriter.binaryName }),
                let bytes = database.binary(binaries[index].reference)
            {
                binaries.remove(at: index)
                return bytes
            }
            let key = KDBXWriter.field(of: kind)
            // Other programs add missing strings with empty values.
            return take(key).map { database.value($0) }
        }

        /// The one-time password, in any of the forms that programs use.
        mutating func takeOneTimePassword(in database: KDBXDatabase) throws(ForeignFailure) -> SecretBytes? {
            if let otp = take("otp") { return database.value(otp) }
            if let seed = take("TOTP Seed") {
                let settings = take("TOTP Settings").map { text(of: $0, in: database) } ?? ""
                let parts = settings.split(separator: ";")
                if parts.count == 2, parts[1] == "S" {
                    var steam = SecretBytes(copying: "steam://".utf8)
                    database.value(seed).withBytes { steam.append($0) }
                    return steam
                }
                return address(
                    of: database.value(seed), period: parts.first.map(String.init), digits: parts.last.map(String.init),
                    algorithm: nil)
            }
            guard let seed = takeSeed(in: database) else { return nil }
            let period = take("TimeOtp-Period").map { text(of: $0, in: database) }
            let digits = take("TimeOtp-Length").map { text(of: $0, in: database) }
            let algorithm = take("TimeOtp-Algorithm").map { text(of: $0, in: database) }
            return address(of: seed, period: period, digits: digits, algorithm: algorithm)
        }

        /// The seed in KeePass's own fields, converted to base32 from any encoding.
        private mutating func takeSeed(in database: KDBXDatabase) -> SecretBytes? {
            if let seed = take("TimeOtp-Secret-Base32") { return database.value(seed) }
            if let seed = take("TimeOtp-Secret") { return database.value(seed).base32 }
            if let seed = take("TimeOtp-Secret-Base64") {
                let text = database.value(seed)
                var bytes = SecretBytes(capacity: text.count)
                let isValid = text.withBytes { Base64.decode($0, into: &bytes) }
                return isValid ? bytes.base32 : text.copy()
            }
            guard let seed = take("TimeOtp-Secret-Hex") else { return nil }
            let text = database.value(seed)
            guard let bytes = text.hexadecimal else { return text.copy() }
            return bytes.base32
        }

        /// An address if any parameter differs from the default; otherwise the seed itself.
        private func address(
            of seed: consuming SecretBytes, period: String?, digits: String?, algorithm: String?
        ) -> SecretBytes {
            func number(_ text: String?, _ range: ClosedRange<Int>) -> Int? {
                text.flatMap { Int($0) }.flatMap { range.contains($0) ? $0 : nil }
            }
            let period = number(period, 1...86_400) ?? 30
            let digits = number(digits, 1...10) ?? 6
            let name =
                switch algorithm?.uppercased().replacing("-", with: "") {
                case "HMACSHA256": "SHA256"
                case "HMACSHA512": "SHA512"
                default: "SHA1"
                }
            if period == 30, digits == 6, name == "SHA1" { return seed }
            var address = SecretBytes(copying: "otpauth://totp/?secret=".utf8)
            seed.withBytes { bytes in
                for index in bytes.indices where ![0x20, UInt8(ascii: "=")].contains(bytes[index]) {
                    address.append(bytes[index])
                }
            }
            address.append(utf8: "&period=\(period)&digits=\(digits)&algorithm=\(name)")
            return address
        }

        /// A passkey as stored by KeePassXC, converted to an object of CXF.
        mutating func takePasskey(in database: KDBXDatabase) -> Passkey? {
            let prefix = "KPEX_PASSKEY_"
            func has(_ name: String) -> Bool { strings.contains { $0.key == prefix + name } }
            guard has("CREDENTIAL_ID"), has("PRIVATE_KEY_PEM"), has("RELYING_PARTY"),
                let id = take(prefix + "CREDENTIAL_ID"), let pem = take(prefix + "PRIVATE_KEY_PEM"),
                let party = take(prefix + "RELYING_PARTY")
            else { return nil }
            let host = text(of: party, in: database)
            let user = take(prefix + "USERNAME").map { text(of: $0, in: database) }
            var object = SecretJSON()
            object.add("credentialId", text: database.value(id))
            object.add("rpId", host)
            object.add("username", user)
            object.add("userDisplayName", user)
            if let handle = take(prefix + "USER_HANDLE") { object.add("userHandle", text: database.value(handle)) }
            let key = database.value(pem)
            if let der = key.unarmored { object.add("key", base64URL: der) } else { object.add("key", text: key) }
            return Passkey(host: host, user: user, object: object.finish())
        }

        private func text(of element: XMLDocument.Element, in database: KDBXDatabase) -> String {
            database.value(element).withBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            }
        }
    }
}

extension SecretBytes {
    /// The bytes in base32 (RFC 4648), without padding.
    fileprivate var base32: SecretBytes {
        withBytes { bytes in
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
            var text = SecretBytes(capacity: bytes.count * 8 / 5 + 1)
            var (bits, count): (UInt32, UInt32) = (0, 0)
            for index in bytes.indices {
                bits = bits << 8 | UInt32(bytes[index])
                count += 8
                while count >= 5 {
                    text.append(alphabet[Int(bits >> (count - 5) & 31)])
                    count -= 5
                }
            }
            if count > 0 { text.append(alphabet[Int(bits << (5 - count) & 31)]) }
            return text
        }
    }

    /// Decodes hexadecimal digits; nil for anything else.
    fileprivate var hexadecimal: SecretBytes? {
        var bytes = SecretBytes(capacity: count / 2)
        let isValid = withBytes { text in
            guard text.count.isMultiple(of: 2) else { return false }
            for index in stride(from: 0, to: text.count, by: 2) {
                guard let high = Character(Unicode.Scalar(text[index])).hexDigitValue,
                    let low = Character(Unicode.Scalar(text[index + 1])).hexDigitValue
                else { return false }
                bytes.append(UInt8(high << 4 | low))
            }
            return true
        }
        guard isValid else { return nil }
        return consume bytes
    }

    /// Decodes the base64 between the first and last lines of PEM; nil for anything else.
    fileprivate var unarmored: SecretBytes? {
        var text = SecretBytes(capacity: count)
        withBytes { bytes in
            var isInside = false
            var line = 0..<0
            for index in 0...bytes.count where index == bytes.count || bytes[index] == 0x0a {
                line = line.upperBound..<index
                let isFrame = !line.isEmpty && bytes[line.lowerBound] == UInt8(ascii: "-")
                if isFrame {
                    isInside = !isInside
                } else if isInside {
                    for place in line where ![0x20, 0x0d].contains(bytes[place]) { text.append(bytes[place]) }
                }
                line = min(index + 1, bytes.count)..<min(index + 1, bytes.count)
            }
        }
        var der = SecretBytes(capacity: text.count)
        guard !text.isEmpty, text.withBytes({ Base64.decode($0, into: &der) }) else { return nil }
        return consume der
    }
}
