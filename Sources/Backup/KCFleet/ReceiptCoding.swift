internal import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
internal import KCKeychainModel

/// Why a file is not a receipt.
package enum ReceiptProblem: Error, Hashable, Sendable {
    /// The file is larger than a receipt can be.
    case tooLarge
    /// The file is not a receipt, or a later version of the program made it; `rule` names the violated rule.
    case malformed(rule: String)
    /// The file has no valid signature as a receipt.
    case forged
    /// A device signed a receipt in the name of another one.
    case otherSigner(DeviceID)
    /// The receipt was put under another name than it says.
    case otherName(ReceiptName)
    /// The file is listed, but could not be read.
    case unread
    /// The signature could not be checked.
    case cryptography(CryptographyFailure)
}

// A receipt is one line of canonical JSON. Its last member is the armored signature, in the namespace for receipts, of
// all bytes before that member, so that nothing is parsed that the device has not signed.

extension Receipt {
    private static let signatureStart = ",\"signature\":"

    /// The bytes of its file; archives that do not fit are not listed.
    package func signed(by key: DeviceKey) throws(CryptographyFailure) -> [UInt8] {
        precondition(key.id == device, "a device signs its own receipts")
        var (listed, text) = (archives.count, try signedText(key))
        while text.count > Self.sizeLimit, listed > 0 {
            listed -= 1
            text = try listing(listed).signedText(key)
        }
        return text
    }

    private func signedText(_ key: DeviceKey) throws(CryptographyFailure) -> [UInt8] {
        var text = payload
        let signature = try SSHSignature.sign(message: text, with: key, as: .receipt)
        CanonicalJSON.literal(Self.signatureStart, into: &text)
        CanonicalJSON.string(String(decoding: signature, as: UTF8.self), into: &text)
        CanonicalJSON.literal("}\n", into: &text)
        return text
    }

    /// Checks the signature of a file, and reads it.
    ///
    /// Whether the device is one that is expected, and the name is that of the file, is for the caller.
    package init(verifying bytes: [UInt8]) throws(ReceiptProblem) {
        guard bytes.count <= Self.sizeLimit else { throw .tooLarge }
        // Quotation marks in texts are escaped, so this is the start of a member.
        let mark = Array(Self.signatureStart.utf8)
        let starts = bytes.indices.dropLast(mark.count).reversed()
        guard let end = starts.first(where: { bytes[$0...].starts(with: mark) }) else { throw .forged }
        let message = Array(bytes[..<end])
        let signature: String
        do throws(MalformedLine) {
            var scanner = CanonicalScanner()
            let rest = Array(bytes[(end + mark.count)...])
            signature = try scanner.string(in: rest.span)
            try scanner.literal("}\n", in: rest.span)
            try scanner.end(in: rest.span)
        } catch {
            throw .forged
        }
        let signer: [UInt8]
        do throws(SSHSignatureFailure) {
            signer = try SSHSignature.verify(Array(signature.utf8), message: message, as: .receipt)
        } catch {
            if case .cryptography(let failure) = error { throw .cryptography(failure) }
            throw .forged
        }
        do throws(MalformedLine) {
            try self.init(payload: message.span)
        } catch {
            throw .malformed(rule: error.rule)
        }
        let signing = DeviceID(publicKey: signer)
        guard signing == device else { throw .otherSigner(signing) }
    }

    /// Everything before the signature.
    private var payload: [UInt8] {
        var text: [UInt8] = []
        CanonicalJSON.literal(
            "{\"kcbackup-receipt\":1,\"device\":\"\(device)\",\"sequence\":\(sequence),\"time\":\"\(time)\",\"job\":",
            into: &text)
        CanonicalJSON.string(job, into: &text)
        if !jobs.isEmpty { text += Array(",\"jobs\":".utf8) + Self.list(jobs) }
        CanonicalJSON.literal(",\"result\":\(result)", into: &text)
        if let good { CanonicalJSON.literal(",\"good\":\"\(good)\"", into: &text) }
        CanonicalJSON.literal(",\"keySet\":\"\(keySet.hex)\",\"keys\":[", into: &text)
        CanonicalJSON.literal(keys.map { "\"\($0)\"" }.joined(separator: ","), into: &text)
        CanonicalJSON.literal("],\"items\":", into: &text)
        counts.encode(into: &text)
        CanonicalJSON.literal(",\"count\":\(archiveCount),\"size\":\(size)", into: &text)
        if let verified { CanonicalJSON.literal(",\"verified\":\"\(verified)\"", into: &text) }
        CanonicalJSON.literal(",\"archives\":[", into: &text)
        for (index, archive) in archives.enumerated() {
            CanonicalJSON.literal(index > 0 ? ",{\"name\":" : "{\"name\":", into: &text)
            CanonicalJSON.string(archive.name, into: &text)
            let id = Hexadecimal.encode(archive.archiveID)
            CanonicalJSON.literal(
                ",\"archive\":\"\(id)\",\"size\":\(archive.size),\"sha256\":\"\(archive.digest.hex)\"", into: &text)
            if let verified = archive.verified { CanonicalJSON.literal(",\"verified\":\"\(verified)\"", into: &text) }
            CanonicalJSON.literal("}", into: &text)
        }
        CanonicalJSON.literal("]", into: &text)
        return text
    }

    /// A list of names in JSON.
    static func list(_ names: [String]) -> [UInt8] {
        var text: [UInt8] = []
        for (index, name) in names.enumerated() {
            CanonicalJSON.literal(index > 0 ? "," : "[", into: &text)
            CanonicalJSON.string(name, into: &text)
        }
        CanonicalJSON.literal(names.isEmpty ? "[]" : "]", into: &text)
        return text
    }

    /// The names of all jobs, each once and in order; none if the list is not there.
    private static func jobs(
        _ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> [String] {
        if !scanner.skip(",\"jobs\":", in: bytes) { return [] }
        let jobs = try scanner.list(in: bytes) { scanner, bytes throws(MalformedLine) in
            try scanner.name(in: bytes, limit: jobLimit)
        }
        guard !jobs.isEmpty, zip(jobs, jobs.dropFirst()).allSatisfy({ $0.exact < $1.exact }) else {
            throw MalformedLine("the jobs are not in order", at: scanner.position)
        }
        return jobs
    }

    private init(payload bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        var scanner = CanonicalScanner()
        guard scanner.skip("{\"kcbackup-receipt\":1,", in: bytes) else {
            throw MalformedLine("a receipt of this version is expected", at: 0)
        }
        try scanner.literal("\"device\":", in: bytes)
        let device = try scanner.device(in: bytes)
        try scanner.literal(",\"sequence\":", in: bytes)
        let sequence = try scanner.number(in: bytes, from: 1, to: Int64.max)
        try scanner.literal(",\"time\":", in: bytes)
        let time = try scanner.time(in: bytes)
        guard time.microseconds % 1_000_000 == 0 else { throw MalformedLine("the time is not in seconds", at: 0) }
        try scanner.literal(",\"job\":", in: bytes)
        let job = try scanner.name(in: bytes, limit: Self.jobLimit)
        let jobs = try Self.jobs(&scanner, in: bytes)
        try scanner.literal(",\"result\":", in: bytes)
        let result = Int32(try scanner.number(in: bytes, from: 0, to: 255))
        let good = scanner.skip(",\"good\":", in: bytes) ? try scanner.time(in: bytes) : nil
        try scanner.literal(",\"keySet\":", in: bytes)
        let keySet = try scanner.digest(in: bytes)
        try scanner.literal(",\"keys\":", in: bytes)
        let keys = try scanner.list(in: bytes) { scanner, bytes throws(MalformedLine) in
            let key = try scanner.string(in: bytes)
            guard key.utf8.count == 16, Hexadecimal.decode(key) != nil else {
                throw MalformedLine("8 bytes in hexadecimal are expected", at: scanner.position)
            }
            return key
        }
        try scanner.literal(",\"items\":", in: bytes)
        let counts = try ItemCounts(&scanner, in: bytes)
        try scanner.literal(",\"count\":", in: bytes)
        let count = Int(try scanner.number(in: bytes, from: 0, to: Int64(Self.countLimit)))
        try scanner.literal(",\"size\":", in: bytes)
        let size = UInt64(try scanner.number(in: bytes, from: 0, to: Int64.max))
        let verified = scanner.skip(",\"verified\":", in: bytes) ? try scanner.time(in: bytes) : nil
        try scanner.literal(",\"archives\":", in: bytes)
        let archives = try scanner.list(in: bytes) { scanner, bytes throws(MalformedLine) in
            try Archive(&scanner, in: bytes)
        }
        guard archives.count <= count else {
            throw MalformedLine("there are more archives than there should be", at: 0)
        }
        try scanner.end(in: bytes)
        self.init(
            device: device, sequence: sequence, time: time, job: job, jobs: jobs, result: result, good: good,
            keySet: keySet, keys: keys, counts: counts, archiveCount: count, size: size, verified: verified,
            archives: archives)
    }
}

extension Receipt.Archive {
    // In bytes; the longest that file systems have.
    private static let nameLimit = 255

    fileprivate init(_ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        try scanner.literal("{\"name\":", in: bytes)
        let name = try scanner.name(in: bytes, limit: Self.nameLimit)
        try scanner.literal(",\"archive\":", in: bytes)
        let archiveID = try scanner.digest(in: bytes).bytes
        try scanner.literal(",\"size\":", in: bytes)
        let size = UInt64(try scanner.number(in: bytes, from: 0, to: Int64.max))
        try scanner.literal(",\"sha256\":", in: bytes)
        let digest = try scanner.digest(in: bytes)
        let verified = scanner.skip(",\"verified\":", in: bytes) ? try scanner.time(in: bytes) : nil
        try scanner.literal("}", in: bytes)
        self.init(name: name, archiveID: archiveID, size: size, digest: digest, verified: verified)
    }
}

extension CanonicalScanner {
    fileprivate mutating func number(
        in bytes: borrowing Span<UInt8>, from least: Int64, to most: Int64
    ) throws(MalformedLine) -> Int64 {
        let number = try integer(in: bytes)
        guard least <= number, number <= most else { throw MalformedLine("a number is out of range", at: position) }
        return number
    }

    fileprivate mutating func time(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> Timestamp {
        guard let time = Timestamp(try string(in: bytes)) else {
            throw MalformedLine("the date is not canonical", at: position)
        }
        return time
    }

    fileprivate mutating func device(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> DeviceID {
        let text = try string(in: bytes)
        guard let device = DeviceID(text), device.description.exact == text.exact else {
            throw MalformedLine("the device ID is not canonical", at: position)
        }
        return device
    }

    fileprivate mutating func digest(in bytes: borrowing Span<UInt8>) throws(MalformedLine) -> SHA256Digest {
        let text = try string(in: bytes)
        guard let digest = SHA256Digest(hex: text), digest.hex.exact == text.exact else {
            throw MalformedLine("32 bytes in hexadecimal are expected", at: position)
        }
        return digest
    }

    fileprivate mutating func name(
        in bytes: borrowing Span<UInt8>, limit: Int
    ) throws(MalformedLine) -> String {
        let text = try string(in: bytes)
        guard 1...limit ~= text.utf8.count, !text.exact.hasControlCharacter, !text.exact.contains("/") else {
            throw MalformedLine("a name is empty, too long, or has characters that names do not have", at: position)
        }
        return text
    }

    fileprivate mutating func list<Value>(
        in bytes: borrowing Span<UInt8>,
        _ value: (inout CanonicalScanner, borrowing Span<UInt8>) throws(MalformedLine) -> Value
    ) throws(MalformedLine) -> [Value] {
        try literal("[", in: bytes)
        var values: [Value] = []
        while !skip("]", in: bytes) {
            if !values.isEmpty { try literal(",", in: bytes) }
            values.append(try value(&self, bytes))
        }
        return values
    }
}
